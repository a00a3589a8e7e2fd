/** The programs of a series in the making, in their order: chosen by a click, moved by buttons, keys or dragging. */

import { button, element } from "../elements.js";

/** @typedef {import("./draft.js").DraftItem} DraftItem */
/** @typedef {{onChoose: (k: number) => void, onMove: (from: number, to: number) => void, onRemove: (k: number) => void}} Handlers */

/**
 * @param {HTMLElement} host @param {import("../locale.js").Locale["say"]} say @param {Handlers} handlers
 * @returns {{show: (items: DraftItem[], chosen: number) => void, focus: (k: number, action?: string) => void}}
 */
export function createOrderList(host, say, { onChoose, onMove, onRemove }) {
  /** @type {number | null} the item that is dragged */
  let dragged = null;

  /** @param {string} action @param {string} text @param {number} k @param {string} title @param {boolean} enabled */
  function actionButton(action, text, k, title, enabled) {
    const node = button("quiet", text, undefined, { label: say(`series_${action}`, { n: k + 1, title }) });
    node.dataset.action = action;
    node.setAttribute("aria-disabled", String(!enabled));
    return node;
  }

  /** @param {DraftItem} item @param {number} k @param {number} count @param {boolean} isChosen */
  function itemRow(item, k, count, isChosen) {
    const node = element("li", "series-item");
    node.draggable = true;
    node.dataset.k = String(k);
    const title = item.title || item.program;
    const choose = /** @type {HTMLButtonElement} */ (element("button", "series-choose"));
    choose.type = "button";
    choose.dataset.action = "choose";
    if (isChosen) choose.setAttribute("aria-current", "true");
    const name = element("span", "series-name", title);
    const where = item.step === null ? "" : say("series_at", { n: item.step + 1 });
    const about = item.note.trim()
      ? [where, item.note.trim().split("\n")[0]].filter(Boolean).join(": ")
      : say("series_no_note");
    choose.append(element("span", "series-number", String(k + 1)), name, element("span", "series-about", about));
    node.append(
      choose,
      actionButton("up", "↑", k, title, k > 0),
      actionButton("down", "↓", k, title, k < count - 1),
      actionButton("remove", "✕", k, title, true),
    );
    return node;
  }

  /** @param {Event} event @returns {number | null} the item that an event is about */
  function itemOf({ target }) {
    const item = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-k]")) : null;
    return item ? Number(item.dataset.k) : null;
  }

  host.addEventListener("click", (event) => {
    const k = itemOf(event);
    const pressed =
      event.target instanceof Element
        ? /** @type {HTMLElement | null} */ (event.target.closest("[data-action]"))
        : null;
    if (k === null || !pressed) return;
    const { action } = pressed.dataset;
    if (action === "choose") onChoose(k);
    if (action === "remove") onRemove(k);
    if (action === "up" || action === "down") onMove(k, k + (action === "up" ? -1 : 1));
  });
  host.addEventListener("keydown", (event) => {
    const k = itemOf(event);
    if (k === null || !event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    onMove(k, k + (event.key === "ArrowUp" ? -1 : 1));
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
      host.replaceChildren(...items.map((item, k) => itemRow(item, k, items.length, k === chosen)));
    },
    focus(k, action = "choose") {
      /** @type {HTMLElement | null} */ (host.querySelector(`[data-k="${k}"] [data-action="${action}"]`))?.focus();
    },
  };
}
