/** Sizes of the loom's picture, in unscaled pixels. */

/** Lines under the code of a row; the one that names the node which backward visits. */
export const ROW_FOOT_HEIGHT = 16;
export const ROW_VISIT_FOOT_HEIGHT = 22;

/** A row in which nothing happened. */
export const EVENTLESS_ROW_HEIGHT = 20;
/** The same where rows are tapped. */
export const EVENTLESS_ROW_HEIGHT_STACKED = 32;

/** Nodes of one row with lines for their slots, lines for nodes at all, and handles on one storage. */
export const MAX_NODES_WITH_SLOT_LINES = 8;
export const MAX_NODE_LINES_PER_ROW = 16;
export const MAX_HANDLES_PER_STORAGE = 6;

/** Shelves of one row; what needs more is hidden. */
export const MAX_SHELVES_PER_ROW = 6;

/** A picture somewhat wider than its room is drawn smaller, but not smaller than this. */
export const MIN_LOOM_SCALE = 0.8;

export const LOOM_HEADER_HEIGHT = 92;

export const READ_LINE_HEIGHT = 26;

export const HANDLE_TITLE_HEIGHT = 19;

export const CODE_LINE_HEIGHT = 18;

export const WRITE_TITLE_HEIGHT = 19;

/** How much wider the page's bold face is than the monospaced one. */
export const BOLD_WIDTH_FACTOR = 1.17;

export const LOOM_SLOT_HEIGHT = 16;

export const SKIPPED_ITERATIONS_HEIGHT = 24;

export const LOOM_NODE_HEIGHT = 24;

export const LOOM_ROW_PADDING = 9;

/** From the cells to the first rail, and from the last to the next column. */
export const COUNTER_RAIL_MARGINS = { before: 20, after: 26 };
export const NARROW_COUNTER_RAIL_MARGINS = { before: 16, after: 18 };

/** From one rail to the next. */
export const COUNTER_RAIL_SPACING = 30;

export const PIN_SPACING = 8;

export const MAX_READ_LINES = 8;

/** Widths of a cell, and the most elements of a storage that is drawn cell by cell; more are a strip of colours. */
export const CELL_SCALES = [
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

export const CELL_SIZES_WITH_CODE_ABOVE = [
  [40, 24],
  [34, 24],
  [28, 8],
  [24, 4],
];

/** Pins beside each other on one rail; more stand on the last. */
export const MAX_PINS_PER_RAIL = 4;

/** Width of the column of what never had a name. */
export const UNNAMED_COLUMN_WIDTH = 62;
export const UNNAMED_COLUMN_WIDTH_STACKED = 38;

/** Cells of a column are no narrower where names have to be cut. */
export const MIN_NARROW_COLUMN_WIDTH = 40;

/** Of the room the graph takes no more, where not everything fits. */
export const MAX_GRAPH_WIDTH_SHARE = 0.31;

/** Of the room the program takes no more: where all fits, and where not. */
export const MAX_CODE_WIDTH_SHARE = { roomy: 0.26, slim: 0.23 };

/** Lanes are no narrower, and all of them together no wider. */
export const MIN_LANE_SPACING = 6;
export const MAX_LANES_WIDTH = 180;
export const MAX_LANES_WIDTH_STACKED = 60;
