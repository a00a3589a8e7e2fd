/** The end of what was printed: of very much, as much as a page lays out at once. No document here. */

/** @typedef {{step: number, text: string, stream: string}} Piece */

/** Characters that are shown unless the reader asks for all. */
const SHOWN = 20_000;

/** The last pieces, the first of them cut where need be, and how many characters stand before them.
 * @param {Piece[]} pieces @param {number} [most] @returns {{before: number, pieces: Piece[]}} */
export function tail(pieces, most = SHOWN) {
  let room = most;
  let at = pieces.length;
  while (at > 0 && room > 0) room -= pieces[--at].text.length;
  const shown = pieces.slice(at);
  if (room < 0) shown[0] = { ...shown[0], text: shown[0].text.slice(-room) };
  const before = pieces.slice(0, at).reduce((sum, piece) => sum + piece.text.length, Math.max(0, -room));
  return { before, pieces: shown };
}
