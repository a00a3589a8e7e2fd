/** What stands in the memory pane: rows, names, pins and what is between them, each with its place. */

import type { NameTag } from "../../trace/names.ts";
import type { Block as DeviceBlock, Slot, Value } from "../../trace/wire.ts";
import type { RowReading } from "../cells/row_reading.ts";
import type { CellStrip } from "../cells/row_strip.ts";
import type { Cell } from "../../trace/entities.ts";

/** what one row shows: a storage with the handles that have names, the others, and all their uids, counters too. */
export interface RowBlock {
  storage: string | null;
  key: string;
  handles: string[];
  others: string[];
  uids: string[];
  names: Map<string, ShownName[]>;
  /** by handle, the gradient beside it */
  grads: Map<string, RowBlock>;
  /** by handle, the storage of a gradient that the step took away */
  lost: Map<string, string>;
  pins: StoragePin[];
  /** the step touched it */
  hot: boolean;
  /** how much */
  heat: number;
  broken: boolean;
  /** whether a node ever saves it */
  kept: boolean;
  label: string;
  purpose: UnnamedStoragePurpose | null;
  /** of a leaf that lost its name and still gets gradients: where its first name stood */
  former: { rank: number; section: string } | null;
  state: NameTag | null;
}

export interface UnnamedStoragePurpose {
  foldKind: "flight" | "kept" | "unnamed";
  /** what is said of `name`; null where that says it alone */
  labelKey: "gradientFor" | "oldName" | "gradientOfName" | "keptBy" | "madeBy" | "gradient" | null;
  name: string;
  /** the handle that has the gradient's shape */
  gradient?: string;
}

export interface ShownName {
  tag: NameTag;
  text: string;
  /** the function's name, where the heading does not say it */
  scope: string;
  /** without what the heading says */
  short: boolean;
  /** the step gave the name */
  moved: boolean;
}

export type PlacedName = ShownName & { x: number; line: number; w: number; font: number };

export interface RowItem {
  kind: "row";
  key: string;
  block: RowBlock;
  indent: number;
  section: string;
  /** without cards, its numbers alone */
  small: boolean;
  /** by the names' order, of all but the foot */
  place?: string;
}

export interface HeadingItem {
  kind: "heading";
  key: string;
  section: string;
  uid: string;
  /** inner for an object under another's heading */
  type: "frame" | "object" | "optimizer" | "inner";
  names: ShownName[];
  /** of an optimizer, the storages that only it keeps */
  state: RowBlock[];
  /** whether the reader wants them drawn */
  open: boolean;
  indent: number;
  hot: boolean;
  place?: string;
}

interface RuleItem {
  kind: "rule";
  key: string;
}

export interface FoldItem {
  kind: "fold";
  key: string;
  blocks: RowBlock[];
  foldKind: "flight" | "kept" | "unnamed" | "rows" | "calls";
  /** of what is folded, where that is not the storages */
  count?: number;
  place?: string;
}

/** items with their place in the order */
export interface RankedItems {
  rank: number;
  inner: number;
  number: number;
  items: MemoryItem[];
}

export type MemoryItem = RowItem | HeadingItem | RuleItem | FoldItem | AllocatorItem;

/** waiting: freed, while a stream may still use it */
export type SegmentPartState = "allocated" | "waiting" | "free" | "several";

/** of a segment: a block, or neighbours that have no room of their own */
export interface SegmentPart {
  blocks: DeviceBlock[];
  state: SegmentPartState;
  size: number;
  requested: number;
  name: string;
  storage: string | null;
  gradient: boolean;
  touched: boolean;
  x: number;
  w: number;
}

interface SegmentFacts {
  size: number;
  pool: string;
  /** 0 is the default one. */
  stream: number;
  /** it belongs to a graph or to a pool of the program's own */
  isPrivate: boolean;
  allocated: number;
}

export type Segment = SegmentFacts & { blocks: DeviceBlock[] };

export type PlacedSegment = SegmentFacts & { key: string; lines: SegmentPart[][]; y: number; h: number };

export interface AllocatorItem {
  kind: "allocator";
  key: string;
  uid: string;
  segments: Segment[];
}

export interface AllocatorLayout {
  open: boolean;
  /** x, w: of the segments' bars */
  x: number;
  w: number;
  /** of all of it */
  h: number;
  segments: PlacedSegment[];
}

/** tight: full, with the beads of each handle stacked in one line */
export type RowLevel = "slim" | "tight" | "full";

export interface HandleLine {
  uid: string;
  y: number;
  h: number;
  names: PlacedName[];
  /** names that there is no room for */
  hidden: number;
  reading: RowReading;
  first: boolean;
  /** its place, block null where there is no gradient to draw in it, path what the program calls it */
  grad: { block: RowBlock | null; strip: CellStrip | null; x: number; y: number; path: string } | null;
}

interface CounterGroup {
  counter: string | null;
  y: number;
  h: number;
  uids: string[];
}

export interface RowLayout {
  level: RowLevel;
  /** without cards */
  low: boolean;
  /** of the strip */
  top: number;
  strip: CellStrip;
  lines: HandleLine[];
  /** handles without a name, in a line of their own */
  quiet: { uids: string[]; y: number }[];
  groups: CounterGroup[];
  h: number;
}

/** tiny: the node and the version alone */
export type PinTextLength = "long" | "short" | "tiny";

/** from the row's corner */
export interface PlacedPin {
  pin: StoragePin;
  /** torch's name of what the node keeps, where it keeps this memory more than once */
  slot: string;
  /** how many of its words there is room for */
  textLength: PinTextLength;
  x: number;
  y: number;
  w: number;
  h: number;
  dot: boolean;
}

export interface PlacedPins {
  pins: PlacedPin[];
  /** those that there is no room for */
  more: StoragePin[];
  moreX: number;
  /** from where on the line is free */
  end: number;
  /** of a broken one */
  cause: BreakingWrite | null;
}

/** the statement that wrote, and the value that a cell had before */
export interface BreakingWrite {
  line: number;
  text: string;
  was: Cell | undefined;
  cell: number;
}

/** here: what it leads to has its place below; tensor, object: it has a name of its own */
export interface ValueChip {
  key: string;
  label: string;
  text: string;
  value: Value;
  kind: "value" | "here" | "tensor" | "object" | "note";
  changed: boolean;
}

export type PlacedValueChip = ValueChip & { x: number; line: number; w: number };

export interface WrappedValueChips {
  chips: PlacedValueChip[];
  /** before, after: how many there is no room for */
  before: number;
  after: number;
  beforeX: number;
  afterX: number;
  afterLine: number;
  /** how wide their number is with what is free beside it */
  more: number;
  lines: number;
}

export interface PlacedItem {
  item: MemoryItem;
  y: number;
  h: number;
  /** of a row that is drawn */
  layout: RowLayout | null;
  /** it is in a fold */
  hidden: boolean;
  /** of a heading, from chipX on */
  chips: WrappedValueChips | null;
  chipX: number;
  /** of a heading and of the last line, the rows that it hides */
  folded: PlacedItem[];
  pins: PlacedPins | null;
  allocator?: AllocatorLayout;
}

export interface FixedMemoryPlaces {
  h: number;
  /** whether few cells are drawn as colours alone, for want of width */
  coloursOnly: boolean;
  /** by place and what is drawn, which of the places of the same names it has; y and heights: by place */
  slots: Map<string, number>;
  y: Map<string, number>;
  heights: Map<string, number>;
  /** by storage, the places of what has no name */
  foot: Map<string, PlaceInterval[]>;
}

/** steps, both included */
export interface PlaceInterval {
  from: number;
  to: number;
  place: number;
}

export interface StoragePin {
  node: string;
  slot: string;
  saved: Slot;
  broken: boolean;
}
