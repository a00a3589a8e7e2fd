/** The text of a version counter's badge. */

import { textWidth } from "../layout/metrics.ts";

/** The size of letter under which a version is told with fewer of them. */
const MIN_VERSION_FONT_SIZE = 7;

/**
 * What of a version fits into its window: the step it made, else the version, else its last digits.
 * @param maxWidth pixels
 */
export function versionTextThatFits(
  before: number | undefined,
  value: number | string,
  bumped: boolean,
  maxWidth: number,
): { text: string; size: number } {
  const texts = [...(bumped ? [`${before}→${value}`] : []), `v${value}`, `${value}`, `…${String(value).slice(-4)}`];
  const sizeOf = (text: string) => Math.min(text.length > 4 ? 9.5 : 12, maxWidth / textWidth(text, 1));
  const text = texts.find((text) => sizeOf(text) >= MIN_VERSION_FONT_SIZE) ?? texts[texts.length - 1];
  return { text, size: Math.floor(sizeOf(text) * 10) / 10 };
}
