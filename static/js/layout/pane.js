/** What the two panes of the stage, memory and graph, have in common: their room, and what they tell of themselves. */

/**
 * @typedef {{x: number, y: number, w: number, h: number}} Rect   from the pane's corner, in units: pixels at 100 %
 * @typedef {{w: number, h: number}} Room   units in sight, without the pane's heading; h is Infinity where nothing has to
 *   close, as in a picture that is saved
 * @typedef {{selected: string | null, toggled: ReadonlySet<string>, compact?: boolean}} PaneOptions
 *   selected: the uid of what the reader keeps highlighted. toggled: the keys of the folds that the reader opened or
 *   closed against what the pane does by itself. compact: no room is kept for what other steps show
 * @typedef {{height: number, anchors: Map<string, Rect>, folds: Map<string, string>, focus: Rect[],
 *   still: boolean}} Pane
 *   height: of all of it; more than the room where the pane has to be scrolled. anchors: where each entity is drawn, by
 *   uid, and parts of them: `above t3` the way to it between two lines, `n5:self` a saved slot's chip, `pin n5:self` its pin, `grad t3` the place of t3's gradient,
 *   `dock n2` a leaf docked to the node that reads it. folds: by uid, the key of the closed fold that it is in. focus:
 *   what the step touched and is drawn, what matters most first. still: whether everything is open at a place of its own
 *   for the whole run
 */

/** @type {PaneOptions} */
export const PLAIN = { selected: null, toggled: new Set() };

/** The uid that a selection like `handle:t3` or `slot:n5:self` is of. @param {string | null} key @returns {string | null} */
export function selectedUid(key) {
  return key?.match(/^[a-z-]+:(?:.*\/)?([a-z]\d+)/)?.[1] ?? null;
}
