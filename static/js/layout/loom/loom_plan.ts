/** What stands in the loom, each with its place. */

import type { StorageReader, StorageWrite, LoomPin, LoomRows } from "./run_row.ts";
import type { StorageColumn, StorageColumns } from "./loom_columns.ts";
import type { UnnamedColumn } from "./loom_unnamed.ts";

export interface ReadLine {
  cells: { subscript: string; x: number; w: number; cell: number }[];
  more: number;
  y: number;
}

export interface HandleBox {
  reader: StorageReader;
  column: StorageColumn;
  y: number;
  cy: number;
  lines: ReadLine[];
  bar: [number, number] | null;
}

export interface WriteBox {
  write: StorageWrite;
  column: StorageColumn;
  y: number;
  cy: number;
}

interface RowBox {
  y: number;
  h: number;
  cy: number;
  codeY: number;
  codeH: number;
  code: string[];
  foldY: number;
  /** nothing happened */
  thin: boolean;
  /** names of what it touched for which there is no room */
  hidden: string[];
}

export interface NodeDot {
  uid: string;
  name: string;
  leaf: boolean;
  /** nodes of the same one are one dot */
  group: string;
  x: number;
  y: number;
  slots: Map<string, number>;
  row: number;
  label: string;
  /** its slots have no lines of their own */
  inline: boolean;
  /** the nodes that share its line, if several do */
  fold: string[];
}

interface Edge {
  key: string;
  from: string;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface PinLine {
  pin: LoomPin;
  x: number;
  /** where the counter stands */
  rail: number;
  y: number;
  slotX: number;
  /** whether it stands in the row of its node */
  headed: boolean;
  /** a stretch for every column of its storage */
  holds: { x: number; from: number; to: number }[];
  /** where it broke or its bytes changed */
  hit: { x: number; y: number } | null;
}

export interface LoomPlan {
  run: LoomRows;
  rows: RowBox[];
  shelves: { y: number; h: number }[];
  ends: Set<number>;
  columns: StorageColumns;
  unnamed: UnnamedColumn | null;
  handles: HandleBox[][];
  writes: WriteBox[][];
  handleRows: Map<string, { row: number; cy: number; name: string }>;
  dots: Map<string, NodeDot>;
  rowDots: NodeDot[][];
  edges: Edge[];
  trunks: { x: number; y0: number; y1: number }[];
  pinLines: PinLine[];
  code: number;
  graph: { x: number; w: number; names: number; short: boolean; chars: number };
  stacked: boolean;
  width: number;
  height: number;
}

export interface LoomArrangement {
  columns: StorageColumns;
  unnamed: UnnamedColumn | null;
  code: number;
  room: number;
  stacked: boolean;
  /** no wider than the room, names cut where they must be */
  bounded: boolean;
}
