/**
 * What stands in the builder: the list of cards, the button that adds one, the foot with undo and redo, what is
 * announced.
 */

import { button, element } from "../browser/elements.ts";
import { cardKeyHints } from "./card_keys.ts";
import type { Locale } from "../words/sentences.ts";

/** `tools` is the place of the buttons of a card. */
export function createBuilderElements(
  host: HTMLElement,
  say: Locale["say"],
  actions: { add: () => void; undo: () => void; redo: () => void },
): { list: HTMLElement; addButton: HTMLElement; tools: HTMLElement; status: HTMLElement } {
  const list = element("ol", "card-list");
  list.setAttribute("aria-label", say("cards"));
  const addButton = button("card-add", say("card_add_end"), actions.add, { key: "/" });
  const status = element("p", "card-told");
  status.setAttribute("role", "status");
  const toolsHost = element("div", "card-tools-at");
  const foot = element("div", "cards-foot");
  foot.append(
    button("quiet card-undo", "↶", actions.undo, { label: say("card_undo") }),
    button("quiet card-redo", "↷", actions.redo, { label: say("card_redo") }),
    toolsHost,
    cardKeyHints(say),
  );
  host.replaceChildren(list, addButton, foot, status);
  return { list, addButton, tools: toolsHost, status };
}
