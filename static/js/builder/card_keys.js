/** The keys of the cards, and what they do. */

import { element } from "../browser/elements.js";

/** @type {Record<string, number>} cards further, by key */
export const CARD_MOVES = {
  ArrowUp: -1,
  ArrowDown: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
  PageUp: -8,
  PageDown: 8,
};

/** What can be done with a card, with its keys. @type {[string, string][]} */
const COMMANDS = [
  ["add", "/"],
  ["edit", "⏎"],
  ["duplicate", "⌃D"],
  ["off", "⌃/"],
  ["up", "⌥↑"],
  ["down", "⌥↓"],
  ["delete", "⌫"],
  ["undo", "⌃Z"],
  ["redo", "⌃⇧Z"],
];

/** The commands that can be done now. @param {{canUndo: () => boolean, canRedo: () => boolean}} editor @param {boolean} hasCard whether
 * the reader is at a card @param {import("../words/locale.js").Locale["say"]} say @param {(name: string) => void} run
 * @returns {import("./builder.js").Command[]} */
export function availableCommands(editor, hasCard, say, run) {
  /** @type {Record<string, () => boolean>} */
  const availability = { add: () => true, undo: editor.canUndo, redo: editor.canRedo };
  return COMMANDS.filter(([id]) => availability[id]?.() ?? hasCard).map(([id, keys]) => ({
    id: `card_${id}`,
    label: say(`card_${id}`),
    keys,
    run: () => run(id),
  }));
}

/** @param {KeyboardEvent} event @returns {string | null} */
export function commandOfKey({ key, altKey, ctrlKey, metaKey, shiftKey }) {
  if (altKey) return key === "ArrowUp" ? "up" : key === "ArrowDown" ? "down" : null;
  if (ctrlKey || metaKey) {
    const lowerKey = key.toLowerCase();
    if (lowerKey === "z") return shiftKey ? "redo" : "undo";
    return { d: "duplicate", "/": "off", y: "redo" }[lowerKey] ?? null;
  }
  return { Enter: "edit", "/": "add", Backspace: "delete", Delete: "delete", s: "siblings", F2: "edit" }[key] ?? null;
}

/** @param {import("../words/locale.js").Locale["say"]} say */
export function keyHints(say) {
  const hints = element("p", "card-keys");
  for (const [keys, label] of [
    ["↑ ↓", "cards_key"],
    ["⏎", "edit_key"],
    ["/", "add_key"],
    ["⌥↑", "move_key"],
    ["⌃/", "off_key"],
  ]) {
    hints.append(element("kbd", "", keys), ` ${say(`card_${label}`)} `);
  }
  return hints;
}
