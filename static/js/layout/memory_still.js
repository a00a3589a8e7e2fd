/** Places at which nothing in the memory pane ever moves: one for every row of the run, where there is height for that. */

import { addToList } from "../trace/multimap.js";
import { memoryItems } from "./memory_items.js";
import { memoryColumns } from "./memory_columns.js";
import { MemoryStep } from "./memory_step.js";
import { HEIGHT, placeItems } from "./memory_placed.js";
import { PLAIN } from "./pane.js";

/** @typedef {import("./memory_step.js").MemoryModel} MemoryModel */
/** @typedef {import("./memory_placed.js").PlacedItem} PlacedItem */
/**
 * @typedef {{h: number, slots: Map<string, number>, y: Map<string, number>, heights: Map<string, number>,
 *   foot: Map<string, import("./nameless_places.js").PlaceStay[]>}} Still
 *   slots: by place and what is drawn, which of the places of the same names it has; y and heights: by place. foot: by
 *   storage, the places of what has no name
 */

/** No window is higher: of a run that needs more, no places are sought. */
const MAX_HEIGHT = 1600;

/** Of a longer run the first steps are looked at and as many of the others; one that needs more height is laid out anew. */
const MAX_STEPS_MEASURED = 60;

/** @param {MemoryModel} model @param {number} w @returns {Still | null} */
export function findStill(model, w) {
  const cached = model.stills.get(w);
  if (cached !== undefined) return cached;
  const still = new StillMeasurement(model, w).measureAll();
  model.stills.set(w, still);
  return still;
}

/** The places, where they are no higher than that. Mostly a step or two say that they are: they are looked at first.
 * @param {MemoryModel} model @param {number} w @param {number} h @returns {Still | null} */
export function stillWithin(model, w, h) {
  if (!model.stills.has(w) && minHeight(model, w) > h) return null;
  const still = findStill(model, w);
  return still && still.h <= h ? still : null;
}

/** A height that all steps together need at least: the most that one of a few needs. @param {MemoryModel} model @param {number} w */
function minHeight(model, w) {
  const cached = model.leastHeights.get(w);
  if (cached !== undefined) return cached;
  const steps = stepsToMeasure(model.opened.count);
  const sampleSteps = [1, 0.75, 0.5].map((part) => steps[Math.ceil(steps.length * part) - 1]);
  const totals = [...new Set(sampleSteps)]
    .filter((i) => i !== undefined)
    .map((i) => {
      const measurement = new StillMeasurement(model, w);
      measurement.measure(i);
      return measurement.totalHeight;
    });
  const height = 2 * HEIGHT.top + Math.max(0, ...totals);
  model.leastHeights.set(w, height);
  return height;
}

/** @param {number} count @returns {number[]} */
function stepsToMeasure(count) {
  const stride = Math.max(1, Math.ceil((count - MAX_STEPS_MEASURED) / MAX_STEPS_MEASURED));
  return Array.from({ length: count }, (_, i) => i).filter(
    (i) => i < MAX_STEPS_MEASURED || (i - MAX_STEPS_MEASURED) % stride === 0,
  );
}

/** Walks over all steps with everything open, and keeps how high each place gets. */
class StillMeasurement {
  /** @param {MemoryModel} model @param {number} w */
  constructor(model, w) {
    this.model = model;
    this.columns = memoryColumns(model.homes, w);
    /** @type {Map<string, number>} by what is drawn, its place among those of the same names */
    this.slots = new Map();
    /** @type {Map<string, number>} heights by place */
    this.heights = new Map();
    this.footStays = model.nameless;
    this.totalHeight = 0;
  }

  /** @returns {Still | null} */
  measureAll() {
    for (const i of stepsToMeasure(this.model.opened.count)) {
      this.measure(i);
      if (this.totalHeight > MAX_HEIGHT) return null;
    }
    const y = /** @type {Map<string, number>} */ (new Map());
    let nextY = HEIGHT.top;
    for (const place of [...this.heights.keys()].sort(comparePlaces)) {
      y.set(place, nextY);
      nextY += this.heights.get(place) ?? 0;
    }
    return { h: nextY + HEIGHT.top, slots: this.slots, y, heights: this.heights, foot: this.footStays };
  }

  /** @param {number} i */
  measure(i) {
    const { plainSteps } = this.model;
    let plainStep = plainSteps.get(i);
    if (!plainStep) {
      const memoryStep = new MemoryStep(this.model, i, PLAIN);
      plainStep = { step: memoryStep, items: memoryItems(memoryStep) };
      plainSteps.set(i, plainStep);
    }
    this.addPlaced(placeItems(plainStep.step, this.columns, Infinity, plainStep.items), i);
  }

  /** @param {PlacedItem[]} placed @param {number} i */
  addPlaced(placed, i) {
    const groups = /** @type {Map<string, PlacedItem[]>} */ (new Map());
    for (const item of placed) {
      const place = orderOf(item);
      if (place) addToList(groups, place, item);
      else {
        const foot = placeBelowNamed(item, this.footStays, i);
        if (foot) this.growPlace(foot, item.h);
        else addToList(groups, FORMER_NAMES_PLACE, item);
      }
    }
    for (const [place, items] of groups) this.giveSlots(items, place);
  }

  /** Gives each its slot, for good. @param {PlacedItem[]} items @param {string} place */
  giveSlots(items, place) {
    const { slots } = this;
    const keyedItems = items.map(({ item, h }) => ({ key: `${place}/${item.key}`, h }));
    const takenSlots = new Set(keyedItems.map(({ key }) => slots.get(key)));
    for (const { key, h } of keyedItems) {
      let slot = slots.get(key);
      if (slot === undefined) {
        slot = 0;
        while (takenSlots.has(slot)) slot += 1;
        slots.set(key, slot);
        takenSlots.add(slot);
      }
      this.growPlace(`${place}/${slot}`, h);
    }
  }

  /** @param {string} place @param {number} h */
  growPlace(place, h) {
    const before = this.heights.get(place) ?? 0;
    if (h <= before) return;
    this.heights.set(place, h);
    this.totalHeight += h - before;
  }
}

/** The place of what has no name any more. */
const FORMER_NAMES_PLACE = "foot:1.5";

/** @param {PlacedItem} placed */
function orderOf({ item }) {
  return "place" in item ? item.place : undefined;
}

/** The place of what stands below the named rows. @param {PlacedItem} placed @param {Still["foot"]} foot @param {number} i
 * @returns {string | null} */
function placeBelowNamed({ item }, foot, i) {
  if (item.kind === "rule") return "foot:0/0";
  if (item.kind === "ghosts") return "foot:9/0";
  if (item.kind === "allocator") return `foot:10/${item.uid.slice(1)}`;
  if (item.kind === "fold") return `foot:${2 + ["flight", "kept", "unnamed"].indexOf(item.foldKind)}/0`;
  const stay = foot.get(item.key)?.find(({ from, to }) => from <= i && i <= to);
  return stay ? `foot:1/${stay.place}` : null;
}

/** Places are told apart as `rank:inner/slot`. @param {string} a @param {string} b */
function comparePlaces(a, b) {
  const [numbersA, numbersB] = [placeNumbers(a), placeNumbers(b)];
  for (let k = 0; k < 3; k++) if (numbersA[k] !== numbersB[k]) return numbersA[k] < numbersB[k] ? -1 : 1;
  return 0;
}

/** @param {string} place */
function placeNumbers(place) {
  return place.split(/[:/]/).map((part) => (part === "foot" ? Infinity : Number(part)));
}

/** Puts what is drawn at a step where it stands for the whole run. @param {Still} still @param {PlacedItem[]} placed
 * @param {number} i @returns {number | null} the height of all; null where something needs more room than it has */
export function stillPlaces(still, placed, i) {
  for (const item of placed) {
    const order = orderOf(item);
    const group = order ?? FORMER_NAMES_PLACE;
    const place =
      (order ? null : placeBelowNamed(item, still.foot, i)) ??
      `${group}/${still.slots.get(`${group}/${item.item.key}`)}`;
    const y = still.y.get(place);
    if (y === undefined || item.h > (still.heights.get(place) ?? 0)) return null;
    item.y = y;
  }
  return still.h;
}
