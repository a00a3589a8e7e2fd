/** What stands in the builder: the list of cards, the button that adds one, the foot with undo and redo, what is announced. */

import { button, element } from "../browser/elements.js";
import { keyHints } from "./card_keys.js";

/**
 * @param {HTMLElement} host
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{add: () => void, undo: () => void, redo: () => void}} actions what its buttons do
 * @returns {{list: HTMLElement, addButton: HTMLElement, tools: HTMLElement, status: HTMLElement}} tools: the place of those of a card
 */
export function createBuilderElements(host, say, actions) {
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
    keyHints(say),
  );
  host.replaceChildren(list, addButton, foot, status);
  return { list, addButton, tools: toolsHost, status };
}
