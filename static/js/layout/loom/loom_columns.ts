/** The loom's columns: places across for the cells of storages, each with a rail for each of its counters. */

import { addToList } from "../../trace/multimap.ts";
import {
  MAX_PINS_PER_RAIL,
  PIN_SPACING,
  COUNTER_RAIL_MARGINS,
  COUNTER_RAIL_SPACING,
  MIN_NARROW_COLUMN_WIDTH,
  NARROW_COUNTER_RAIL_MARGINS,
} from "./loom_sizes.ts";
import { textWidth } from "../text/metrics.ts";
import { IntervalPacker } from "../packing.ts";
import { itemsize } from "../../trace/reads.ts";
import type { LoomRows, StorageLifetime } from "./run_row.ts";

interface Shape {
  w: number;
  /** the width of one element of the smallest dtype, of `least` bytes */
  cell: number;
  least: number;
  heat: boolean;
}

export type StorageColumn = Shape & {
  uid: string;
  /** from, to: its shelves */
  from: number;
  to: number;
  x: number;
  rails: Map<string, number>;
  /** where the next may begin */
  right: number;
};

/** the room that pins and ticks need */
export interface RailMargins {
  pins: Map<string, number>;
  bumps: Map<string, number>;
}

/** widths of a cell, and the most elements of a storage that is drawn cell by cell */
export interface CellScale {
  cell: number;
  most: number;
  /** of a column's cells */
  widest?: number;
  /** rails stand close */
  slim?: boolean;
}

/**
 * All columns of a loom: where a storage stands in a row, if it stands there at all. A row has one shelf, or several
 * below each other where it touches more than fits beside each other.
 */
export class StorageColumns {
  allColumns: StorageColumn[] = [];
  byStorage = new Map<string, StorageColumn[]>();
  byCounter = new Map<string, StorageColumn[]>();
  /** by row, storages that it touched for which there was no room */
  hidden = new Map<number, string[]>();
  /** The first shelf of each row, and where that of one more row would be. */
  firstShelfOfRow: number[];
  right: number;

  /** The first column may begin at `left`; `rows` is their number. */
  constructor(left: number, rows: number) {
    this.firstShelfOfRow = Array.from({ length: rows + 1 }, (_, r) => r);
    this.right = left;
  }

  /** How many shelves a row has. */
  shelfCount(row: number) {
    return this.firstShelfOfRow[row + 1] - this.firstShelfOfRow[row];
  }

  /** How often a row has not enough room: shelves below the first, and what is hidden, for each row. */
  missingRoomPerRow() {
    const rows = this.firstShelfOfRow.length - 1;
    let hidden = 0;
    for (const list of this.hidden.values()) hidden += list.length;
    return rows ? (this.firstShelfOfRow[rows] - rows + hidden) / rows : 0;
  }

  /** On which shelf of a row a column stands there first, counted from 0. */
  firstShelfIn(column: StorageColumn, row: number) {
    return Math.max(0, column.from - this.firstShelfOfRow[row]);
  }

  /** Whether a column stands in some of these rows. */
  isColumnInRows(column: StorageColumn, from: number, to: number) {
    return column.from < this.firstShelfOfRow[to + 1] && column.to >= this.firstShelfOfRow[from];
  }

  addColumn(column: StorageColumn) {
    this.allColumns.push(column);
    addToList(this.byStorage, column.uid, column);
    for (const counterUid of column.rails.keys()) addToList(this.byCounter, counterUid, column);
    this.right = Math.max(this.right, column.right);
  }

  /** Where a storage stands in a row. */
  columnAt(uid: string | null | undefined, row: number) {
    return this.byStorage.get(uid ?? "")?.find((column) => this.isColumnInRows(column, row, row));
  }

  /** Where a storage stands, from row to row. */
  columnsOfStorage(uid: string) {
    return this.byStorage.get(uid) ?? [];
  }

  /** Columns of what wears a counter, in a row. */
  columnsOfCounter(counterUid: string, row: number) {
    return (this.byCounter.get(counterUid) ?? []).filter((column) => this.isColumnInRows(column, row, row));
  }
}

/** A name that is cut to less says nothing. */
const MIN_NAME_ROOM = 60;
/** How far a name goes on beside the cells where there is no rail, or no room before it. */
const NAME_OVERHANG = 34;

/** The room of a name over a column's cells: until the first rail, and where that is too little, over it. */
export function nameRoom({ x, w, rails }: Pick<StorageColumn, "x" | "w" | "rails">): {
  room: number;
  isOverRail: boolean;
} {
  const first = Math.min(...[...rails].flatMap(([counter, railX]) => (counter ? [railX] : [])));
  const before = first - x - 5;
  const isOverRail = before < MIN_NAME_ROOM;
  return { room: isOverRail || !Number.isFinite(first) ? w + NAME_OVERHANG : before, isOverRail };
}

/** The room that pins and ticks of counters need beside their rails. */
export function railMargins(runRows: LoomRows): RailMargins {
  return { pins: maxPinsByRail(runRows), bumps: versionTickWidths(runRows) };
}

/** How many pins hold a rail at once. */
function maxPinsByRail(runRows: LoomRows): Map<string, number> {
  const mostPins = new Map<string, number>();
  const slots = new Map<string, IntervalPacker>();
  for (const pin of runRows.pins.values()) {
    const key = `${pin.storage}|${pin.counter ?? ""}`;
    const packer = slots.get(key) ?? new IntervalPacker();
    slots.set(key, packer);
    if (packer.height < MAX_PINS_PER_RAIL) packer.allocate(pin.birth, pin.death, 1);
    mostPins.set(key, packer.height);
  }
  return mostPins;
}

/** How wide the ticks of a counter are written. */
function versionTickWidths(runRows: LoomRows): Map<string, number> {
  const widths = new Map<string, number>();
  for (const { bumps } of runRows.rows)
    for (const [counter, bump] of bumps)
      widths.set(counter, Math.max(widths.get(counter) ?? 0, textWidth(bump.join("→"), 10.5) + 10));
  return widths;
}

/** The storages that outlive the row that made them. */
export function storagesOutlivingRow(runRows: LoomRows): StorageLifetime[] {
  return [...runRows.storages.values()].filter((life) => life.death > life.birth || !life.freed);
}

/** A column for every one of these storages, which nothing else ever has. */
export function oneColumnPerStorage(
  runRows: LoomRows,
  lives: StorageLifetime[],
  margins: RailMargins,
  left: number,
  scale: CellScale,
): StorageColumns {
  const columns = new StorageColumns(left, runRows.rows.length);
  for (const life of sortOwnersBeforeGradients(lives))
    columns.addColumn(storageColumn(life, margins, scale, columns.right));
  return columns;
}

/** By birth, with a .grad right of its owner. */
function sortOwnersBeforeGradients(lives: StorageLifetime[]) {
  const uids = new Set(lives.map((life) => life.uid));
  const gradsOf = new Map<string, StorageLifetime[]>();
  for (const life of lives)
    if (life.owner && life.owner !== life.uid) gradsOf.set(life.owner, [...(gradsOf.get(life.owner) ?? []), life]);
  const ordered = new Set<StorageLifetime>();
  const addWithGradients = (life: StorageLifetime) => {
    if (ordered.has(life)) return;
    ordered.add(life);
    gradsOf.get(life.uid)?.forEach(addWithGradients);
  };
  for (const life of lives) if (!life.owner || !uids.has(life.owner)) addWithGradients(life);
  lives.forEach(addWithGradients);
  return [...ordered];
}

/** A storage's column for all its life. */
export function storageColumn(life: StorageLifetime, margins: RailMargins, scale: CellScale, x: number): StorageColumn {
  const shape = storageColumnShape(life, scale);
  const { before, after } = scale.slim ? NARROW_COUNTER_RAIL_MARGINS : COUNTER_RAIL_MARGINS;
  let railX = before;
  const rails: [string, number][] = [];
  for (const counterUid of life.counters.length ? life.counters : [""]) {
    rails.push([counterUid, x + shape.w + railX]);
    railX +=
      COUNTER_RAIL_SPACING +
      Math.max(
        0,
        ((margins.pins.get(`${life.uid}|${counterUid}`) ?? 0) - 1) * PIN_SPACING,
        (margins.bumps.get(counterUid) ?? 0) - 38,
      );
  }
  const right = x + Math.ceil(shape.w + railX - COUNTER_RAIL_SPACING + after);
  return { uid: life.uid, from: life.birth, to: life.death, x, ...shape, rails: new Map(rails), right };
}

function storageColumnShape(life: StorageLifetime, { cell, most, widest = Infinity, slim = false }: CellScale): Shape {
  if (life.summary) {
    const w = Math.min(150, widest);
    return { w, cell: w / Math.max(1, life.nbytes), least: 1, heat: true };
  }
  if (!life.cells.size) return { w: 56, cell: 0, least: 1, heat: false };
  const sizes = [...life.cells].map(([dtype, n]) => ({ n, size: itemsize(dtype) }));
  const smallestItemSize = Math.min(...sizes.map((s) => s.size));
  const n = Math.max(1, ...sizes.map((s) => Math.ceil((s.n * s.size) / smallestItemSize)));
  if (n <= most && n * cell <= widest)
    return {
      w: Math.max(n * cell, 26),
      cell: n === 1 ? Math.max(cell, 26) : cell,
      least: smallestItemSize,
      heat: false,
    };
  const usualWidth = Math.min(
    most < 24 ? 7 : 10,
    Math.max(0.3, Math.min(most < 24 ? 200 : 300, widest) / n),
    widest / n,
  );
  const cellWidth = slim ? Math.max(usualWidth, MIN_NARROW_COLUMN_WIDTH / n) : usualWidth;
  return { w: n * cellWidth, cell: cellWidth, least: smallestItemSize, heat: true };
}

/** Where element i of a dtype lies. */
export function elementSpan(column: StorageColumn, dtype: string, i: number) {
  const w = column.cell * (itemsize(dtype) / column.least);
  return { x: column.x + i * w, w };
}
