/** Sizes of the loom's picture, in unscaled pixels. */

/** A picture somewhat wider than its room is drawn smaller, but not smaller than this. */
export const SMALLEST_SCALE = 0.8;

export const HEAD = 92;

export const LINE = 26;

export const TITLE = 19;

export const CODE = 18;

export const WRITE = 19;

/** How much wider the page's bold face is than the monospaced one. */
export const BOLD = 1.17;

export const SLOT = 16;

export const FOLD = 24;

export const NODE = 24;

export const PAD = 9;

export const RAIL = 26;

export const PIN_PITCH = 8;

export const MOST_LINES = 8;

/** Widths of a cell, and the most elements of a storage that is drawn cell by cell; more are a strip of colours. */
export const ROOMY = [
  [56, 24],
  [48, 24],
  [42, 24],
  [36, 24],
  [32, 24],
  [28, 24],
  [28, 8],
  [24, 4],
];

export const DENSEST = [20, 2];

export const STACKED = [
  [40, 24],
  [34, 24],
  [28, 8],
  [24, 4],
];

/** With more storages than this, the columns of a freed one are let again. */
export const MOST_KEPT = 12;
