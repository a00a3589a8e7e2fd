/** Sizes of the loom's picture, in unscaled pixels. */

/** Lines under the code of a row; the one that names the node which backward visits. */
export const FOOT_HEIGHT = 16;
export const VISIT_FOOT_HEIGHT = 22;

/** A row in which nothing happened. */
export const QUIET_ROW = 20;
/** The same where rows are tapped. */
export const QUIET_ROW_STACKED = 32;

/** Nodes of one row with lines for their slots, lines for nodes at all, and handles on one storage. */
export const MAX_OPEN = 8;
export const MAX_NODES = 16;
export const MAX_HANDLES = 6;

/** Shelves of one row; what needs more is hidden. */
export const MAX_SHELVES = 6;

/** A picture somewhat wider than its room is drawn smaller, but not smaller than this. */
export const SMALLEST_SCALE = 0.8;

export const HEADER_HEIGHT = 92;

export const LINE_HEIGHT = 26;

export const TITLE_HEIGHT = 19;

export const CODE_LINE_HEIGHT = 18;

export const WRITE_TITLE_HEIGHT = 19;

/** How much wider the page's bold face is than the monospaced one. */
export const BOLD = 1.17;

export const SLOT_HEIGHT = 16;

export const FOLD_HEIGHT = 24;

export const NODE_HEIGHT = 24;

export const PAD = 9;

/** From the cells to the first rail, and from the last to the next column. */
export const RAIL = { before: 20, after: 26 };
export const SLIM_RAIL = { before: 16, after: 18 };

/** From one rail to the next. */
export const RAIL_PITCH = 30;

export const PIN_PITCH = 8;

export const MAX_LINES = 8;

/** Widths of a cell, and the most elements of a storage that is drawn cell by cell; more are a strip of colours. */
export const ROOMY_CELLS = [
  [56, 24],
  [48, 24],
  [42, 24],
  [36, 24],
  [32, 24],
  [28, 24],
  [28, 8],
  [24, 4],
  [20, 2],
];

export const STACKED_CELLS = [
  [40, 24],
  [34, 24],
  [28, 8],
  [24, 4],
];

/** Pins beside each other on one rail; more stand on the last. */
export const MAX_PINS = 4;

/** Width of the column of what never had a name. */
export const UNNAMED_WIDTH = 62;
export const UNNAMED_STACKED_WIDTH = 38;

/** Cells of a column are no narrower where names have to be cut. */
export const MIN_SLIM_BAND = 40;

/** Of the room the graph takes no more, where not everything fits. */
export const GRAPH_SHARE = 0.31;

/** Of the room the program takes no more: where all fits, and where not. */
export const CODE_SHARE = { roomy: 0.26, slim: 0.23 };

/** Lanes are no narrower, and all of them together no wider. */
export const LANE = 6;
export const LANES = 180;
export const LANES_STACKED = 60;
