/** Places at which nothing in the memory pane ever moves: one for every row of the run, where there is height for that. */

import { memoryColumns } from "./memory_columns.js";
import { MemoryStep } from "./memory_step.js";
import { HEIGHT, placeItems } from "./memory_placed.js";
import { PLAIN } from "./pane.js";

/** @typedef {import("./memory_step.js").MemoryModel} MemoryModel */
/** @typedef {import("./memory_placed.js").PlacedItem} PlacedItem */
/**
 * @typedef {{h: number, slots: Map<string, number>, y: Map<string, number>, foot: Map<string, number>[]}} Still
 *   slots: by the key of what is drawn, which of the places of its names it has; y: by place. foot: by step, the places of
 *   what has no name
 */

/** No window is higher: of a run that needs more, no places are sought. */
const HIGHEST = 1600;

/** @param {MemoryModel} model @param {number} w @returns {Still | null} */
export function findStill(model, w) {
  const known = model.stills.get(w);
  if (known !== undefined) return known;
  const still = new Search(model, w).run();
  model.stills.set(w, still);
  return still;
}

/** Walks over all steps with everything open, and keeps how high each place gets. */
class Search {
  /** @param {MemoryModel} model @param {number} w */
  constructor(model, w) {
    this.model = model;
    this.columns = memoryColumns(model.homes, w);
    /** @type {Map<string, number>} by what is drawn, its place among those of the same names */
    this.slots = new Map();
    /** @type {Map<string, number>} heights by place */
    this.heights = new Map();
    /** @type {Map<string, number>[]} */
    this.foot = [];
    this.total = 0;
  }

  /** @returns {Still | null} */
  run() {
    for (let i = 0; i < this.model.opened.count; i++) {
      this.add(placeItems(new MemoryStep(this.model, i, PLAIN), this.columns, Infinity), i);
      if (this.total > HIGHEST) return null;
    }
    const y = /** @type {Map<string, number>} */ (new Map());
    let at = HEIGHT.top;
    for (const place of [...this.heights.keys()].sort(byOrder)) {
      y.set(place, at);
      at += this.heights.get(place) ?? 0;
    }
    return { h: at + HEIGHT.top, slots: this.slots, y, foot: this.foot };
  }

  /** @param {PlacedItem[]} placed @param {number} i */
  add(placed, i) {
    const groups = /** @type {Map<string, PlacedItem[]>} */ (new Map());
    const foot = /** @type {PlacedItem[]} */ ([]);
    for (const item of placed) {
      const place = orderOf(item);
      if (place) groups.set(place, [...(groups.get(place) ?? []), item]);
      else if (item.item.kind === "row") foot.push(item);
      else this.grow(footPlace(item), item.h);
    }
    for (const [place, items] of groups) this.settle(items, this.slots, place);
    const last = this.foot[i - 1] ?? new Map();
    const now = /** @type {Map<string, number>} */ (new Map());
    for (const { item } of foot) if (last.has(item.key)) now.set(item.key, last.get(item.key) ?? 0);
    this.settle(foot, now, FOOT);
    this.foot.push(now);
  }

  /** Gives each its slot, for as long as the map of slots keeps it. @param {PlacedItem[]} items
   * @param {Map<string, number>} slots @param {string} place */
  settle(items, slots, place) {
    const taken = new Set(items.map(({ item }) => slots.get(item.key)));
    for (const { item, h } of items) {
      let slot = slots.get(item.key);
      if (slot === undefined) {
        slot = 0;
        while (taken.has(slot)) slot += 1;
        slots.set(item.key, slot);
        taken.add(slot);
      }
      this.grow(`${place}/${slot}`, h);
    }
  }

  /** @param {string} place @param {number} h */
  grow(place, h) {
    const before = this.heights.get(place) ?? 0;
    if (h <= before) return;
    this.heights.set(place, h);
    this.total += h - before;
  }
}

const FOOT = "foot:1";

/** @param {PlacedItem} placed */
function orderOf({ item }) {
  return item.kind === "row" || item.kind === "heading" ? item.place : undefined;
}

/** @param {PlacedItem} placed */
function footPlace({ item }) {
  if (item.kind === "rule") return "foot:0/0";
  if (item.kind === "ghosts") return "foot:9/0";
  const what = item.kind === "fold" ? item.what : "";
  return `foot:${2 + ["flight", "kept", "temporary"].indexOf(what)}/0`;
}

/** Places are told apart as `rank:inner/slot`. @param {string} a @param {string} b */
function byOrder(a, b) {
  const [one, other] = [numbers(a), numbers(b)];
  for (let k = 0; k < 3; k++) if (one[k] !== other[k]) return one[k] < other[k] ? -1 : 1;
  return 0;
}

/** @param {string} place */
function numbers(place) {
  return place.split(/[:/]/).map((part) => (part === "foot" ? Infinity : Number(part)));
}

/** Puts what is drawn at a step where it stands for the whole run. @param {Still} still @param {PlacedItem[]} placed
 * @param {number} i @returns {number} the height of all */
export function stillPlaces(still, placed, i) {
  let beyond = still.h;
  for (const item of placed) {
    const { key } = item.item;
    const order = orderOf(item);
    const row = item.item.kind === "row";
    const slot = order ? still.slots.get(key) : row ? still.foot[i].get(key) : 0;
    const place = order ? `${order}/${slot}` : row ? `${FOOT}/${slot}` : footPlace(item);
    const y = still.y.get(place);
    item.y = y ?? beyond;
    if (y === undefined) beyond += item.h;
  }
  return beyond;
}
