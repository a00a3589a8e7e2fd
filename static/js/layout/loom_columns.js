/** The loom's columns: places across for the cells of storages, each with a rail for each of its counters. */

import { addToList } from "../trace/multimap.js";
import { MAX_PINS, PIN_PITCH, RAIL, RAIL_PITCH, MIN_SLIM_BAND, SLIM_RAIL } from "./loom_sizes.js";
import { textWidth } from "./metrics.js";
import { Packer } from "./packing.js";
import { itemsize } from "./reads.js";

/** @typedef {import("./run_rows.js").RunRows} RunRows */
/** @typedef {import("./run_rows.js").StorageLife} StorageLife */
/**
 * @typedef {{w: number, cell: number, least: number, heat: boolean}} Shape   cell: the width of one element of the
 *   smallest dtype, of `least` bytes
 * @typedef {Shape & {uid: string, from: number, to: number, x: number, rails: Map<string, number>, right: number}} Column
 *   from, to: its shelves; right: where the next may begin
 * @typedef {{pins: Map<string, number>, bumps: Map<string, number>}} Margins   the room that pins and ticks need
 * @typedef {{cell: number, most: number, widest?: number, slim?: boolean}} Scale   widths of a cell, and the most elements
 *   of a storage that is drawn cell by cell; widest: of a column's cells; slim: rails stand close
 */

/**
 * All columns of a loom: where a storage stands in a row, if it stands there at all. A row has one shelf, or several below
 * each other where it touches more than fits beside each other.
 */
export class Columns {
  /** @param {number} left where the first may begin @param {number} rows how many there are */
  constructor(left, rows) {
    /** @type {Column[]} */
    this.all = [];
    /** @type {Map<string, Column[]>} */
    this.byStorage = new Map();
    /** @type {Map<string, Column[]>} */
    this.byCounter = new Map();
    /** @type {Map<number, string[]>} by row, storages that it touched for which there was no room */
    this.hidden = new Map();
    /** The first shelf of each row, and where that of one more row would be. */
    this.firstShelfOfRow = Array.from({ length: rows + 1 }, (_, r) => r);
    this.left = left;
    this.right = left;
  }

  /** How many shelves a row has. @param {number} row */
  shelfCount(row) {
    return this.firstShelfOfRow[row + 1] - this.firstShelfOfRow[row];
  }

  /** How often a row has not enough room: shelves below the first, and what is hidden, for each row. */
  missingRoom() {
    const rows = this.firstShelfOfRow.length - 1;
    let hidden = 0;
    for (const list of this.hidden.values()) hidden += list.length;
    return rows ? (this.firstShelfOfRow[rows] - rows + hidden) / rows : 0;
  }

  /** On which shelf of a row a column stands there first, counted from 0. @param {Column} column @param {number} row */
  shelfIn(column, row) {
    return Math.max(0, column.from - this.firstShelfOfRow[row]);
  }

  /** Whether a column stands in some of these rows. @param {Column} column @param {number} from @param {number} to */
  isInRows(column, from, to) {
    return column.from < this.firstShelfOfRow[to + 1] && column.to >= this.firstShelfOfRow[from];
  }

  /** @param {Column} column */
  add(column) {
    this.all.push(column);
    addToList(this.byStorage, column.uid, column);
    for (const counterUid of column.rails.keys()) addToList(this.byCounter, counterUid, column);
    this.right = Math.max(this.right, column.right);
  }

  /** Where a storage stands in a row. @param {string | null | undefined} uid @param {number} row */
  columnAt(uid, row) {
    return this.byStorage.get(uid ?? "")?.find((column) => this.isInRows(column, row, row));
  }

  /** Where a storage stands, from row to row. @param {string} uid */
  columnsOfStorage(uid) {
    return this.byStorage.get(uid) ?? [];
  }

  /** Where a storage stands first. @param {string | null | undefined} uid */
  get(uid) {
    return this.byStorage.get(uid ?? "")?.[0];
  }

  /** @param {string | null | undefined} uid */
  has(uid) {
    return this.byStorage.has(uid ?? "");
  }

  /** Columns of what wears a counter, in a row. @param {string} counterUid @param {number} row */
  columnsOfCounter(counterUid, row) {
    return (this.byCounter.get(counterUid) ?? []).filter((column) => this.isInRows(column, row, row));
  }
}

/** The room that pins and ticks of counters need beside their rails. @param {RunRows} runRows @returns {Margins} */
export function marginsOf(runRows) {
  return { pins: mostPinsByRail(runRows), bumps: tickWidths(runRows) };
}

/** How many pins hold a rail at once. @param {RunRows} runRows @returns {Map<string, number>} */
function mostPinsByRail(runRows) {
  /** @type {Map<string, number>} */
  const mostPins = new Map();
  /** @type {Map<string, Packer>} */
  const slots = new Map();
  for (const pin of runRows.pins.values()) {
    const key = `${pin.storage}|${pin.counter ?? ""}`;
    const packer = slots.get(key) ?? new Packer();
    slots.set(key, packer);
    if (packer.height < MAX_PINS) packer.allocate(pin.birth, pin.death, 1);
    mostPins.set(key, packer.height);
  }
  return mostPins;
}

/** How wide the ticks of a counter are written. @param {RunRows} runRows @returns {Map<string, number>} */
function tickWidths(runRows) {
  /** @type {Map<string, number>} */
  const widths = new Map();
  for (const { bumps } of runRows.rows)
    for (const [counter, bump] of bumps)
      widths.set(counter, Math.max(widths.get(counter) ?? 0, textWidth(bump.join("→"), 10.5) + 10));
  return widths;
}

/** The storages that outlive the row that made them. @param {RunRows} runRows @returns {StorageLife[]} */
export function storagesOutlivingRow(runRows) {
  return [...runRows.storages.values()].filter((life) => life.death > life.birth || !life.freed);
}

/** A column for every one of these storages, which nothing else ever has. @param {RunRows} runRows @param {StorageLife[]} lives
 * @param {Margins} margins @param {number} left @param {Scale} scale @returns {Columns} */
export function separateColumns(runRows, lives, margins, left, scale) {
  const columns = new Columns(left, runRows.rows.length);
  for (const life of ownersFirst(lives)) columns.add(columnOfLife(life, margins, scale, columns.right));
  return columns;
}

/** By birth, with a .grad right of its owner. @param {StorageLife[]} lives */
function ownersFirst(lives) {
  const uids = new Set(lives.map((life) => life.uid));
  /** @type {Map<string, StorageLife[]>} */
  const gradsOf = new Map();
  for (const life of lives)
    if (life.owner && life.owner !== life.uid) gradsOf.set(life.owner, [...(gradsOf.get(life.owner) ?? []), life]);
  /** @type {Set<StorageLife>} */
  const ordered = new Set();
  const addWithGradients = (/** @type {StorageLife} */ life) => {
    if (ordered.has(life)) return;
    ordered.add(life);
    gradsOf.get(life.uid)?.forEach(addWithGradients);
  };
  for (const life of lives) if (!life.owner || !uids.has(life.owner)) addWithGradients(life);
  lives.forEach(addWithGradients);
  return [...ordered];
}

/** A storage's column for all its life. @param {StorageLife} life @param {Margins} margins @param {Scale} scale
 * @param {number} x @returns {Column} */
export function columnOfLife(life, margins, scale, x) {
  const shape = columnShape(life, scale);
  const { before, after } = scale.slim ? SLIM_RAIL : RAIL;
  let railX = before;
  /** @type {[string, number][]} */
  const rails = [];
  for (const counterUid of life.counters.length ? life.counters : [""]) {
    rails.push([counterUid, x + shape.w + railX]);
    railX +=
      RAIL_PITCH +
      Math.max(
        0,
        ((margins.pins.get(`${life.uid}|${counterUid}`) ?? 0) - 1) * PIN_PITCH,
        (margins.bumps.get(counterUid) ?? 0) - 38,
      );
  }
  const right = x + Math.ceil(shape.w + railX - RAIL_PITCH + after);
  return { uid: life.uid, from: life.birth, to: life.death, x, ...shape, rails: new Map(rails), right };
}

/** @param {StorageLife} life @param {Scale} scale @returns {Shape} */
function columnShape(life, { cell, most, widest = Infinity, slim = false }) {
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
  const cellWidth = slim ? Math.max(usualWidth, MIN_SLIM_BAND / n) : usualWidth;
  return { w: n * cellWidth, cell: cellWidth, least: smallestItemSize, heat: true };
}

/** Where element i of a dtype lies. @param {Column} column @param {string} dtype @param {number} i */
export function elementBox(column, dtype, i) {
  const w = column.cell * (itemsize(dtype) / column.least);
  return { x: column.x + i * w, w };
}
