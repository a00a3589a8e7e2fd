/** The strip above a program that is one of several in an order, as of a lesson or a series: what it belongs to, where the
 * reader is, the ways back and on, and what its author notes. */

import { element } from "./elements.js";

/**
 * @typedef {{title: string, url: string, done?: boolean, note?: string | (string | Node)[]}} Item
 *   url: where it is opened; done: the reader has been through it; note: shown while the reader is at it, line breaks kept
 * @typedef {{title: string, url: string | null, items: Item[], at: number}} Order
 *   title: of the whole; url: of its own page, null where it has none; at: the item that is shown, from 0
 * @typedef {{title: string, url: string, isCurrent: boolean, isDone: boolean}} Place
 * @typedef {{previous: Item | null, next: Item | null, n: number, of: number, places: Place[], note: (string | Node)[]}} StripView
 */

/** What the strip of an order shows. @param {Order} order @returns {StripView} */
export function stripView({ items, at }) {
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

/** The way of a key, where a strip has keys: `[` back, `]` on. @param {string} key @returns {"previous" | "next" | null} */
export const directionOfKey = (key) => (key === "[" ? "previous" : key === "]" ? "next" : null);

/**
 * Fills an element with the strip, and listens to its keys. `show` may be called again, with an item that is done or with
 * another note; what has the focus keeps it.
 * @param {HTMLElement} host
 * @param {import("../words/locale.js").Locale["say"]} say
 * @returns {{show: (order: Order) => void, announce: (text: string) => void}} announce: says something aloud, and beside the place
 */
export function createOrderStrip(host, say) {
  const bar = element("div", "order-bar");
  const note = element("p", "order-note");
  const status = element("p", "order-status");
  status.setAttribute("role", "status");
  host.classList.add("order-strip");
  host.replaceChildren(bar, note, status);

  /** @param {"previous" | "next"} direction @param {Item | null} item */
  function neighbourLink(direction, item) {
    const label = say(`order_${direction}`);
    if (!item) {
      const end = element("span", "order-way", label);
      end.setAttribute("aria-disabled", "true");
      return end;
    }
    const link = linkTo(item.url, "order-way", label);
    link.rel = direction === "previous" ? "prev" : "next";
    link.title = `${item.title} (${direction === "previous" ? "[" : "]"})`;
    return link;
  }

  /** @param {StripView} view */
  function placeList({ places }) {
    const list = element("ol", "order-places");
    for (const [k, { title, url, isCurrent, isDone }] of places.entries()) {
      const link = linkTo(url, isDone ? "order-place done" : "order-place", String(k + 1));
      link.title = link.ariaLabel = `${k + 1}. ${title}${isDone ? ` (${say("order_done")})` : ""}`;
      if (isCurrent) link.setAttribute("aria-current", "step");
      const item = element("li", "");
      item.append(link);
      list.append(item);
    }
    return list;
  }

  document.addEventListener("keydown", (event) => {
    const direction = directionOfKey(event.key);
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (!direction || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (target?.closest("dialog, input:not([type=radio], [type=range]), textarea, select, [contenteditable=true]"))
      return;
    const link = host.querySelector(`a[rel=${direction === "previous" ? "prev" : "next"}]`);
    if (link instanceof HTMLElement) link.click();
  });

  return {
    show(order) {
      const view = stripView(order);
      const focusedIndex = [...bar.querySelectorAll("a")].indexOf(/** @type {any} */ (document.activeElement));
      const positionElement = element("span", "order-where", say("order_where", { n: view.n, of: view.of }));
      const titleElement = order.url
        ? linkTo(order.url, "order-title", order.title)
        : element("span", "order-title", order.title);
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

/** @param {string} url @param {string} className @param {string} text */
function linkTo(url, className, text) {
  const link = /** @type {HTMLAnchorElement} */ (element("a", className, text));
  link.href = url;
  return link;
}
