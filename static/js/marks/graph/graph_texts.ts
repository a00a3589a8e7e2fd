/** Texts of the graph pane that fit their room. */

import { maxLeafNameLength } from "../../layout/graph/attached_leaves.ts";
import { CHARACTER_WIDTH_EM } from "../../layout/text/metrics.ts";
import { shortenPath } from "../../layout/text/node_labels.ts";

/** A text cut at its end; `size` is that of the font. */
export function textThatFits(text: string, width: number, size: number) {
  const chars = Array.from(text);
  const maxChars = Math.max(1, Math.floor(width / (CHARACTER_WIDTH_EM * size)));
  return chars.length <= maxChars ? text : `${chars.slice(0, Math.max(0, maxChars - 1)).join("")}…`;
}

/** The width of a letter of the page's face, and of a Chinese character, in em: a little more than most have. */
const LETTER_WIDTH_EM = 0.55;
const WIDE_LETTER_WIDTH_EM = 1;

/** Words in the page's proportional face, cut at their end; `size` is that of the font. */
export function proseThatFits(text: string, width: number, size: number) {
  const chars = Array.from(text);
  const widthOf = (char: string) => size * (char > "\u2e80" ? WIDE_LETTER_WIDTH_EM : LETTER_WIDTH_EM);
  let room = width;
  const cut = chars.findIndex((char) => (room -= widthOf(char)) < 0);
  return cut < 0 ? text : `${chars.slice(0, Math.max(0, cut - 1)).join("")}…`;
}

/**
 * A leaf's label, like `net.0.weight.grad`, without the modules and lists that its name goes through, as far as there
 * is no room for them. Lengths are in characters.
 */
export function leafLabelThatFits(label: string, maxLength: number, maxNameLength: number) {
  const name = label.replace(/\.grad$/, "");
  const nameLength = maxLeafNameLength(maxLength);
  const ending = nameLength < maxLength ? label.slice(name.length) : "";
  return shortenPath(name, Math.min(nameLength, maxNameLength)) + ending;
}
