/** Keys and double clicks on the cards. */

import { CARD_MOVES, commandOfKey } from "./card_keys.js";

/** @typedef {import("./statements.js").Item} Item */

/**
 * @param {HTMLElement} host of the builder
 * @param {HTMLElement} list of the cards
 * @param {ReturnType<typeof import("./card_list.js").createCardList>} cards
 * @param {{command: (name: string) => void, moveTo: (item: Item | null) => void, edit: (item: Item) => void}} on
 *   moveTo: the reader goes to another card; null where there is none
 */
export function startCardEvents(host, list, cards, { command, moveTo, edit }) {
  list.addEventListener("keydown", (event) => {
    if (!(event.target instanceof HTMLElement) || !event.target.matches(".statement-card")) return;
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    const name = commandOfKey(event);
    if (isPlain && event.key in CARD_MOVES) moveTo(cards.step(CARD_MOVES[event.key]));
    else if (name) command(name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  host.addEventListener("keydown", (event) => {
    const name = commandOfKey(event);
    const isTyped = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (isTyped || (name !== "undo" && name !== "redo")) return;
    command(name); // also where no card is left to be at
    event.preventDefault();
  });
  list.addEventListener("dblclick", (event) => {
    const card = event.target instanceof Element ? event.target.closest(".statement-card:not(.editing)") : null;
    const item = card && cards.currentItem();
    if (item && cards.cardOf(item) === card) edit(item);
  });
}
