/** How wide texts are in the pictures' monospaced face. */

/**
 * The three sizes of type of the stage, at 100 %: what a step says; names and numbers; second words. Nothing is
 * smaller.
 */
export const FONT_SIZES = { headline: 20, usual: 14, small: 12 };

/** Width of one character of the monospaced face, in em. */
export const CHARACTER_WIDTH_EM = 0.603;

/** East Asian characters are two columns wide in a monospaced face. */
const WIDE_CHARACTERS = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/;
/** Characters of one column and one code unit: nearly every text has no others. */
const NARROW_TEXT_PATTERN = /^[\0-\u10ff]*$/;

export function textWidth(text: string, size: number) {
  let columns = text.length;
  if (!NARROW_TEXT_PATTERN.test(text)) {
    columns = 0;
    for (const c of text) columns += WIDE_CHARACTERS.test(c) ? 2 : 1;
  }
  return columns * CHARACTER_WIDTH_EM * size;
}
