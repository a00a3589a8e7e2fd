/**
 * The strip above a program that is one of several in an order, as of a lesson or a series: what it belongs to, where
 * the reader is, the ways back and on, and what its author notes.
 */

import { createElement } from "./elements.ts";
import type { Locale } from "../words/sentences.ts";

interface PageInOrder {
  title: string;
  /** where it is opened */
  url: string;
  /** the reader has been through it */
  done?: boolean;
  /** shown while the reader is at it, line breaks kept */
  note?: string | (string | Node)[];
}

export interface OrderedPages {
  /** of the whole */
  title: string;
  /** of its own page, null where it has none */
  url: string | null;
  items: PageInOrder[];
  /** the item that is shown, from 0 */
  at: number;
}

interface OrderStripItem {
  title: string;
  url: string;
  isCurrent: boolean;
  isDone: boolean;
}

interface StripView {
  previous: PageInOrder | null;
  next: PageInOrder | null;
  n: number;
  of: number;
  places: OrderStripItem[];
  note: (string | Node)[];
}

/** What the strip of an order shows. */
export function orderStripView({ items, at }: OrderedPages): StripView {
  const { note = [] } = items[at] ?? {};
  return {
    previous: items[at - 1] ?? null,
    next: items[at + 1] ?? null,
    n: at + 1,
    of: items.length,
    places: items.map(({ title, url, done = false }, k) => ({ title, url, isCurrent: k === at, isDone: done })),
    note: typeof note === "string" ? [note] : note,
  };
}

/** The way of a key, where a strip has keys: `[` back, `]` on. */
export const stripDirectionOfKey = (key: string): "previous" | "next" | null =>
  key === "[" ? "previous" : key === "]" ? "next" : null;

/**
 * Fills an element with the strip, and listens to its keys. `show` may be called again, with an item that is done or
 * with another note; what has the focus keeps it. `announce` says something aloud, and beside the place.
 */
export function createOrderStrip(
  host: HTMLElement,
  say: Locale["say"],
): { show: (order: OrderedPages) => void; announce: (text: string) => void } {
  const bar = createElement("div", "order-bar");
  const note = createElement("p", "order-note");
  const status = createElement("p", "order-status");
  status.setAttribute("role", "status");
  host.classList.add("order-strip");
  host.replaceChildren(bar, note, status);

  function neighbourLink(direction: "previous" | "next", item: PageInOrder | null) {
    const label = say(`order_${direction}`);
    if (!item) {
      const end = createElement("span", "order-way", label);
      end.setAttribute("aria-disabled", "true");
      return end;
    }
    const link = createLink(item.url, "order-way", label);
    link.rel = direction === "previous" ? "prev" : "next";
    link.title = `${item.title} (${direction === "previous" ? "[" : "]"})`;
    return link;
  }

  function placeList({ places }: StripView) {
    const list = createElement("ol", "order-places");
    for (const [k, { title, url, isCurrent, isDone }] of places.entries()) {
      const link = createLink(url, isDone ? "order-place done" : "order-place", String(k + 1));
      link.title = link.ariaLabel = `${k + 1}. ${title}${isDone ? ` (${say("order_done")})` : ""}`;
      if (isCurrent) link.setAttribute("aria-current", "step");
      const item = createElement("li", "");
      item.append(link);
      list.append(item);
    }
    return list;
  }

  document.addEventListener("keydown", (event) => {
    const direction = stripDirectionOfKey(event.key);
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (!direction || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (target?.closest("dialog, input:not([type=radio], [type=range]), textarea, select, [contenteditable=true]"))
      return;
    const link = host.querySelector(`a[rel=${direction === "previous" ? "prev" : "next"}]`);
    if (link instanceof HTMLElement) link.click();
  });

  return {
    show(order) {
      const view = orderStripView(order);
      const focusedIndex = [...bar.querySelectorAll("a")].indexOf(document.activeElement as HTMLAnchorElement);
      const positionElement = createElement("span", "order-where", say("order_where", { n: view.n, of: view.of }));
      const titleElement = order.url
        ? createLink(order.url, "order-title", order.title)
        : createElement("span", "order-title", order.title);
      host.setAttribute("aria-label", order.title);
      bar.replaceChildren(
        neighbourLink("previous", view.previous),
        titleElement,
        positionElement,
        placeList(view),
        neighbourLink("next", view.next),
      );
      note.replaceChildren(...view.note);
      note.hidden = !view.note.length;
      if (focusedIndex >= 0) bar.querySelectorAll("a")[focusedIndex]?.focus();
    },
    announce(text) {
      status.textContent = text;
    },
  };
}

function createLink(url: string, className: string, text: string) {
  const link = createElement("a", className, text) as HTMLAnchorElement;
  link.href = url;
  return link;
}
