/** What stands in the builder: the list of cards, the button that adds one, the foot with undo and redo, what is announced. */

import { button, element } from "../elements.js";
import { keyHints } from "./card_keys.js";

/**
 * @param {HTMLElement} host
 * @param {import("../locale.js").Locale["say"]} say
 * @param {{add: () => void, undo: () => void, redo: () => void}} on what its buttons do
 * @returns {{list: HTMLElement, addButton: HTMLElement, tools: HTMLElement, status: HTMLElement}} tools: the place of those of a card
 */
export function createBuilderElements(host, say, on) {
  const list = element("ol", "card-list");
  list.setAttribute("aria-label", say("cards"));
  const addButton = button("card-add", say("card_add_end"), on.add, { key: "/" });
  const status = element("p", "card-told");
  status.setAttribute("role", "status");
  const tools = element("div", "card-tools-at");
  const foot = element("div", "cards-foot");
  foot.append(
    button("quiet card-undo", "↶", on.undo, { label: say("card_undo") }),
    button("quiet card-redo", "↷", on.redo, { label: say("card_redo") }),
    tools,
    keyHints(say),
  );
  host.replaceChildren(list, addButton, foot, status);
  return { list, addButton, tools, status };
}
