/** The rows of the loom as the run makes them, before they have places. */

import type { Cell, Handle } from "../../trace/entities.ts";
import type { NodeFacts } from "../../trace/trace_index.ts";

export interface CellChange {
  was: Cell;
  now: Cell;
}

/** cells by `dtype:index` */
export interface StorageWrite {
  storage: string;
  by: string | null;
  silent: boolean;
  cells: Map<string, CellChange>;
  step: number;
  /** dtype, first and last element, where the elements are too many to list */
  span: [string, number, number] | null;
}

/** a handle where it was made, moved or given one more name */
export interface StorageReader {
  uid: string;
  key: string;
  entity: Handle;
  title: string;
  alias: boolean;
  grad: boolean;
  named: boolean;
  /** why no gradient comes back */
  cut: string | null;
  step: number;
}

export interface LoomRow {
  /** first, last: its steps */
  first: number;
  last: number;
  line: number;
  kind: string;
  code: string[];
  /** how deep it stands in blocks and calls */
  inset: number;
  turn: string;
  skipped: number;
  visits: number[];
  readers: StorageReader[];
  writes: Map<string, StorageWrite>;
  bumps: Map<string, [number, number]>;
  nodes: string[];
  /** storages made and freed within the row */
  freed: number;
}

export interface StorageLifetime {
  uid: string;
  /** birth, death: rows */
  birth: number;
  death: number;
  freed: boolean;
  /** the most under each dtype */
  cells: Map<string, number>;
  summary: boolean;
  nbytes: number;
  /** the storage of whose tensor it is the .grad */
  owner: string | null;
  /** the row in which it first has a name */
  named: number;
  counters: string[];
}

/** a saved slot */
export interface LoomPin {
  key: string;
  node: string;
  slot: string;
  storage: string;
  counter: string | null;
  expected: number | null;
  tensor: string | null;
  /** birth, death, broken, silent: rows */
  birth: number;
  death: number;
  broken: number | null;
  silent: number | null;
  released: boolean;
  /** when each came to be so, Infinity where it never did */
  steps: { broken: number; silent: number; released: number };
}

export interface LoomRows {
  rows: LoomRow[];
  /** the row of each step */
  rowOfStep: number[];
  storages: Map<string, StorageLifetime>;
  nodes: Map<string, NodeFacts>;
  pins: Map<string, LoomPin>;
  /** the steps at which each node ran */
  visits: Map<string, number[]>;
  /** by the step of a visit, how wide its gradient is written */
  gradWidths: Map<number, number>;
  /** the first name of a tensor on each storage */
  storageNames: Map<string, string>;
}
