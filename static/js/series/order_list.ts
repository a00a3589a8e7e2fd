/** The programs of a series in the making, in their order: chosen by a click, moved by buttons, keys or dragging. */

import { createButton, createElement } from "../browser/elements.ts";
import type { Locale } from "../words/sentences.ts";
import type { SeriesDraftItem } from "./series_draft.ts";

interface OrderListHandlers {
  onChoose: (k: number) => void;
  onMove: (from: number, to: number) => void;
  onRemove: (k: number) => void;
}

export function createOrderList(
  host: HTMLElement,
  say: Locale["say"],
  { onChoose, onMove, onRemove }: OrderListHandlers,
): { show: (items: SeriesDraftItem[], chosen: number) => void; focus: (k: number, action?: string) => void } {
  /** the item that is dragged */
  let dragged: number | null = null;

  function actionButton(action: string, text: string, itemIndex: number, title: string, enabled: boolean) {
    const node = createButton("quiet", text, undefined, {
      label: say(`series_${action}`, { n: itemIndex + 1, title }),
    });
    node.dataset.action = action;
    node.setAttribute("aria-disabled", String(!enabled));
    return node;
  }

  function itemRow(item: SeriesDraftItem, itemIndex: number, count: number, isChosen: boolean) {
    const node = createElement("li", "series-item");
    node.draggable = true;
    node.dataset.k = String(itemIndex);
    const title = item.title || item.program;
    const chooseButton = createElement("button", "series-choose") as HTMLButtonElement;
    chooseButton.type = "button";
    chooseButton.dataset.action = "choose";
    if (isChosen) chooseButton.setAttribute("aria-current", "true");
    const name = createElement("span", "series-name", title);
    const positionText = item.step === null ? "" : say("series_at", { n: item.step + 1 });
    const noteSummary = item.note.trim()
      ? [positionText, item.note.trim().split("\n")[0]].filter(Boolean).join(": ")
      : say("series_no_note");
    chooseButton.append(
      createElement("span", "series-number", String(itemIndex + 1)),
      name,
      createElement("span", "series-about", noteSummary),
    );
    node.append(
      chooseButton,
      actionButton("up", "↑", itemIndex, title, itemIndex > 0),
      actionButton("down", "↓", itemIndex, title, itemIndex < count - 1),
      actionButton("remove", "✕", itemIndex, title, true),
    );
    return node;
  }

  /** The item that an event is about. */
  function itemOf({ target }: Event): number | null {
    const item = target instanceof Element ? (target.closest("[data-k]") as HTMLElement | null) : null;
    return item ? Number(item.dataset.k) : null;
  }

  host.addEventListener("click", (event) => {
    const itemIndex = itemOf(event);
    const pressedButton =
      event.target instanceof Element ? (event.target.closest("[data-action]") as HTMLElement | null) : null;
    if (itemIndex === null || !pressedButton) return;
    const { action } = pressedButton.dataset;
    if (action === "choose") onChoose(itemIndex);
    if (action === "remove") onRemove(itemIndex);
    if (action === "up" || action === "down") onMove(itemIndex, itemIndex + (action === "up" ? -1 : 1));
  });
  host.addEventListener("keydown", (event) => {
    const itemIndex = itemOf(event);
    if (itemIndex === null || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    onMove(itemIndex, itemIndex + (event.key === "ArrowUp" ? -1 : 1));
  });
  host.addEventListener("dragstart", (event) => {
    dragged = itemOf(event);
  });
  host.addEventListener("dragover", (event) => {
    if (dragged !== null && itemOf(event) !== null) event.preventDefault();
  });
  host.addEventListener("drop", (event) => {
    const to = itemOf(event);
    if (dragged === null || to === null) return;
    event.preventDefault();
    onMove(dragged, to);
  });
  host.addEventListener("dragend", () => {
    dragged = null;
  });

  return {
    show(items, chosen) {
      host.replaceChildren(
        ...items.map((item, itemIndex) => itemRow(item, itemIndex, items.length, itemIndex === chosen)),
      );
    },
    focus(itemIndex, action = "choose") {
      (host.querySelector(`[data-k="${itemIndex}"] [data-action="${action}"]`) as HTMLElement | null)?.focus();
    },
  };
}
