/**
 * What stands in the builder: the list of cards, the button that adds one, the foot with undo and redo, what is
 * announced.
 */

import { createButton, createElement } from "../browser/elements.ts";
import { cardKeyHints } from "./card_keys.ts";
import type { Locale } from "../words/sentences.ts";

/** `tools` is the place of the buttons of a card. */
export function createBuilderElements(
  host: HTMLElement,
  say: Locale["say"],
  actions: { add: () => void; undo: () => void; redo: () => void },
): { list: HTMLElement; addButton: HTMLElement; tools: HTMLElement; status: HTMLElement } {
  const list = createElement("ol", "card-list");
  list.setAttribute("aria-label", say("cards"));
  const addButton = createButton("card-add", say("card_add_end"), actions.add, { key: "/" });
  const status = createElement("p", "card-told");
  status.setAttribute("role", "status");
  const toolsHost = createElement("div", "card-tools-at");
  const foot = createElement("div", "cards-foot");
  foot.append(
    createButton("quiet card-undo", "↶", actions.undo, { label: say("card_undo") }),
    createButton("quiet card-redo", "↷", actions.redo, { label: say("card_redo") }),
    toolsHost,
    cardKeyHints(say),
  );
  host.replaceChildren(list, addButton, foot, status);
  return { list, addButton, tools: toolsHost, status };
}
