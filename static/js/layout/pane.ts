/** What the two panes of the stage, memory and graph, have in common: their room, and what they tell of themselves. */

import type { RowCells } from "./cells/row_strip.ts";

/** from the pane's corner, in units: pixels at 100 % */
export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** units in sight, without the pane's heading; h is Infinity where nothing has to close, as in a picture that is
 * saved */
export interface PaneRoom {
  w: number;
  h: number;
  /** how large the cells of rows are that have a place of their own for the whole run */
  cells?: RowCells;
  /** what has a place of its own for the whole run keeps it where not all places fit: the pane scrolls */
  scrolls?: boolean;
}

export interface PaneOptions {
  /** the uid of what the reader keeps highlighted */
  selected: string | null;
  /** the keys of the folds that the reader opened or closed against what the pane does by itself */
  toggled: ReadonlySet<string>;
  /** no room is kept for what other steps show */
  compact?: boolean;
}

export interface Pane {
  /** of all of it; more than the room where the pane has to be scrolled */
  height: number;
  /**
   * where each entity is drawn, by uid, and parts of them: `above t3` the way to it between two lines, `n5:self` a
   * saved slot's chip, `pin n5:self` its pin, `grad t3` the place of t3's gradient, `dock n2` a leaf docked to the node
   * that reads it
   */
  anchors: Map<string, Rect>;
  /** what the step touched and is drawn, what matters most first */
  focus: Rect[];
  /** whether everything is open at a place of its own for the whole run */
  still: boolean;
}

export const DEFAULT_PANE_OPTIONS: PaneOptions = { selected: null, toggled: new Set() };

/** The uid that a selection like `handle:t3` or `slot:n5:self` is of. */
export function uidOfSelection(key: string | null): string | null {
  return key?.match(/^[a-z-]+:(?:.*\/)?([a-z]\d+)/)?.[1] ?? null;
}
