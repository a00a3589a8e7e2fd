/** Keys and double clicks on the cards. */

import { CARD_MOVES_BY_KEY, cardCommandOfKey } from "./card_keys.ts";
import type { createCardList } from "./card_list.ts";
import type { ProgramItem } from "./statements.ts";

interface CardEventHandlers {
  command: (name: string) => void;
  /** a card is to be added below all others */
  addAtEnd: () => void;
  /** the reader goes to another card; null where there is none */
  moveTo: (item: ProgramItem | null) => void;
  edit: (item: ProgramItem) => void;
}

export function startCardEvents(
  host: HTMLElement,
  list: HTMLElement,
  cards: ReturnType<typeof createCardList>,
  { command, addAtEnd, moveTo, edit }: CardEventHandlers,
) {
  list.addEventListener("keydown", (event) => {
    if (!(event.target instanceof HTMLElement) || !event.target.matches(".statement-card")) return;
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    const name = cardCommandOfKey(event);
    if (isPlain && event.key in CARD_MOVES_BY_KEY) moveTo(cards.step(CARD_MOVES_BY_KEY[event.key]));
    else if (name) command(name);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  host.addEventListener("keydown", (event) => {
    const name = cardCommandOfKey(event);
    const target = event.target instanceof HTMLElement ? event.target : null;
    const isTyped = target?.matches("input, textarea, select");
    if (event.defaultPrevented || isTyped) return;
    if (name === "add" && target?.matches(".card-add"))
      addAtEnd(); // the button shows the key
    else if (name === "add" || name === "undo" || name === "redo")
      command(name); // also where no card is left to be at
    else if (event.key === "ArrowUp" && target?.matches(".card-add")) moveTo(cards.cards().at(-1) ?? null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener("dblclick", (event) => {
    const card = event.target instanceof Element ? event.target.closest(".statement-card:not(.editing)") : null;
    const item = card && cards.currentItem();
    if (item && cards.cardOf(item) === card) edit(item);
  });
}
