/** The keys of the cards, and what they do. */

import { createElement } from "../browser/elements.ts";
import type { Locale } from "../words/sentences.ts";

/** cards further, by key */
export const CARD_MOVES_BY_KEY: Record<string, number> = {
  ArrowUp: -1,
  ArrowDown: 1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
  PageUp: -8,
  PageDown: 8,
};

/** What can be done with a card, with its keys. */
const CARD_COMMAND_KEYS: [string, string][] = [
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

/** The commands that can be done now. `hasCard` says whether the reader is at a card. */
export function availableCardCommands(
  editor: { canUndo: () => boolean; canRedo: () => boolean },
  hasCard: boolean,
  say: Locale["say"],
  run: (name: string) => void,
): CardCommand[] {
  const availability: Record<string, () => boolean> = { add: () => true, undo: editor.canUndo, redo: editor.canRedo };
  return CARD_COMMAND_KEYS.filter(([id]) => availability[id]?.() ?? hasCard).map(([id, keys]) => ({
    id: `card_${id}`,
    label: say(`card_${id}`),
    keys,
    run: () => run(id),
  }));
}

export function cardCommandOfKey({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string | null {
  if (altKey) return key === "ArrowUp" ? "up" : key === "ArrowDown" ? "down" : null;
  if (ctrlKey || metaKey) {
    const lowerKey = key.toLowerCase();
    if (lowerKey === "z") return shiftKey ? "redo" : "undo";
    return { d: "duplicate", "/": "off", y: "redo" }[lowerKey] ?? null;
  }
  return { Enter: "edit", "/": "add", Backspace: "delete", Delete: "delete", s: "siblings", F2: "edit" }[key] ?? null;
}

export function cardKeyHints(say: Locale["say"]) {
  const hints = createElement("p", "card-keys");
  for (const [keys, label] of [
    ["↑ ↓", "cards_key"],
    ["⏎", "edit_key"],
    ["/", "add_key"],
    ["⌥↑", "move_key"],
    ["⌃/", "off_key"],
  ]) {
    hints.append(createElement("kbd", "", keys), ` ${say(`card_${label}`)} `);
  }
  return hints;
}

/** what can be done with the card that the reader is at */
export interface CardCommand {
  id: string;
  label: string;
  keys: string;
  run: () => void;
}
