/**
 * Places at which nothing in the memory pane ever moves: one for every row of the run, where there is height for that.
 */

import { addToList } from "../../trace/multimap.ts";
import { memoryItems } from "./memory_items.ts";
import { layoutMemoryColumns, type MemoryColumns } from "./memory_columns.ts";
import { MemoryStep, type MemoryModel } from "./memory_step.ts";
import { MEMORY_ITEM_HEIGHTS, placeMemoryItems } from "./memory_placed.ts";
import { DEFAULT_PANE_OPTIONS } from "../pane.ts";
import { USUAL_ROW_CELLS, type RowCells } from "../cells/row_strip.ts";
import type { PlaceInterval, PlacedItem, FixedMemoryPlaces } from "./memory_parts.ts";

/** Of a run that needs more height, no places are sought. */
export const MAX_FIXED_PLACES_HEIGHT = 8000;

/**
 * Of a longer run the first steps are looked at and as many of the others; one that needs more height is laid out anew.
 */
const MAX_STEPS_MEASURED = 60;

export function findFixedPlaces(
  model: MemoryModel,
  w: number,
  cells: RowCells = USUAL_ROW_CELLS,
): FixedMemoryPlaces | null {
  const key = keyOfPlaces(w, cells);
  const cached = model.stills.get(key);
  if (cached !== undefined) return cached;
  const still = new FixedPlacesMeasurement(model, w, cells).measureAllSteps();
  model.stills.set(key, still);
  return still;
}

/** The places, where they are no higher than that. Mostly a step or two say that they are: they are looked at first. */
export function fixedPlacesWithin(
  model: MemoryModel,
  w: number,
  h: number,
  cells: RowCells = USUAL_ROW_CELLS,
): FixedMemoryPlaces | null {
  if (!model.stills.has(keyOfPlaces(w, cells)) && minFixedPlacesHeight(model, w, cells) > h) return null;
  const still = findFixedPlaces(model, w, cells);
  return still && still.h <= h ? still : null;
}

function keyOfPlaces(w: number, cells: RowCells) {
  return `${w} ${cells.w} ${cells.h} ${cells.columns}`;
}

/** A height that all steps together need at least: the most that one of a few needs. */
function minFixedPlacesHeight(model: MemoryModel, w: number, cells: RowCells) {
  const key = keyOfPlaces(w, cells);
  const cached = model.leastHeights.get(key);
  if (cached !== undefined) return cached;
  const steps = stepsToMeasure(model.opened.count);
  const sampleSteps = [1, 0.75, 0.5].map((part) => steps[Math.ceil(steps.length * part) - 1]);
  const totals = [...new Set(sampleSteps)]
    .filter((i) => i !== undefined)
    .map((i) => {
      const measurement = new FixedPlacesMeasurement(model, w, cells);
      measurement.measureStep(i);
      return measurement.totalHeight;
    });
  const height = 2 * MEMORY_ITEM_HEIGHTS.top + Math.max(0, ...totals);
  model.leastHeights.set(key, height);
  return height;
}

function stepsToMeasure(count: number): number[] {
  const stride = Math.max(1, Math.ceil((count - MAX_STEPS_MEASURED) / MAX_STEPS_MEASURED));
  return Array.from({ length: count }, (_, i) => i).filter(
    (i) => i < MAX_STEPS_MEASURED || (i - MAX_STEPS_MEASURED) % stride === 0,
  );
}

/** Walks over all steps with everything open, and keeps how high each place gets. */
class FixedPlacesMeasurement {
  model: MemoryModel;
  columns: MemoryColumns;
  /** by what is drawn, its place among those of the same names */
  slots = new Map<string, number>();
  /** heights by place */
  heights = new Map<string, number>();
  footStays: Map<string, PlaceInterval[]>;
  totalHeight = 0;
  coloursOnly = false;

  constructor(model: MemoryModel, w: number, cells: RowCells) {
    this.model = model;
    this.columns = layoutMemoryColumns(model.firstNames, w, cells);
    this.footStays = model.nameless;
  }

  measureAllSteps(): FixedMemoryPlaces | null {
    for (const i of stepsToMeasure(this.model.opened.count)) {
      this.measureStep(i);
      if (this.totalHeight > MAX_FIXED_PLACES_HEIGHT) return null;
    }
    const y = new Map<string, number>();
    let nextY = MEMORY_ITEM_HEIGHTS.top;
    for (const place of [...this.heights.keys()].sort(comparePlaces)) {
      y.set(place, nextY);
      nextY += this.heights.get(place) ?? 0;
    }
    const { coloursOnly } = this;
    return {
      h: nextY + MEMORY_ITEM_HEIGHTS.top,
      coloursOnly,
      slots: this.slots,
      y,
      heights: this.heights,
      foot: this.footStays,
    };
  }

  measureStep(i: number) {
    const { plainSteps } = this.model;
    let plainStep = plainSteps.get(i);
    if (!plainStep) {
      const memoryStep = new MemoryStep(this.model, i, DEFAULT_PANE_OPTIONS);
      plainStep = { step: memoryStep, items: memoryItems(memoryStep, undefined, true) };
      plainSteps.set(i, plainStep);
    }
    this.recordPlacedItems(placeMemoryItems(plainStep.step, this.columns, Infinity, plainStep.items), i);
  }

  recordPlacedItems(placed: PlacedItem[], i: number) {
    const groups = new Map<string, PlacedItem[]>();
    for (const item of placed) {
      this.coloursOnly ||= hasFewCellsAsColours(item);
      const place = placeOfItem(item);
      if (place) addToList(groups, place, item);
      else {
        const foot = placeOfFootItem(item, this.footStays, i);
        if (foot) this.growPlaceHeight(foot, item.h);
        else addToList(groups, FORMER_NAMES_PLACE, item);
      }
    }
    for (const [place, items] of groups) this.assignSlots(items, place);
  }

  /** Gives each its slot, for good. */
  assignSlots(items: PlacedItem[], place: string) {
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
      this.growPlaceHeight(`${place}/${slot}`, h);
    }
  }

  growPlaceHeight(place: string, h: number) {
    const before = this.heights.get(place) ?? 0;
    if (h <= before) return;
    this.heights.set(place, h);
    this.totalHeight += h - before;
  }
}

/** So few cells have numbers, unless they are too narrow for them. */
const MAX_CELLS_WITH_NUMBERS = 16;

function hasFewCellsAsColours({ layout }: PlacedItem) {
  if (!layout || layout.level === "slim" || layout.low) return false;
  const strips = [layout.strip, ...layout.lines.flatMap(({ grad }) => (grad?.strip ? [grad.strip] : []))];
  return strips.some(({ bands }) => bands.some(({ mode, n }) => mode === "heat" && n <= MAX_CELLS_WITH_NUMBERS));
}

/** The place of what has no name any more. */
const FORMER_NAMES_PLACE = "foot:1.5";

function placeOfItem({ item }: PlacedItem) {
  return "place" in item ? item.place : undefined;
}

/** The place of what stands below the named rows. */
function placeOfFootItem({ item }: PlacedItem, foot: FixedMemoryPlaces["foot"], i: number): string | null {
  if (item.kind === "rule") return "foot:0/0";
  if (item.kind === "allocator") return `foot:10/${item.uid.slice(1)}`;
  if (item.kind === "fold") return `foot:${2 + ["flight", "kept", "unnamed"].indexOf(item.foldKind)}/0`;
  const stay = foot.get(item.key)?.find(({ from, to }) => from <= i && i <= to);
  return stay ? `foot:1/${stay.place}` : null;
}

/** Places are told apart as `rank:inner/slot`. */
function comparePlaces(a: string, b: string) {
  const [numbersA, numbersB] = [parsePlace(a), parsePlace(b)];
  for (let k = 0; k < 3; k++) if (numbersA[k] !== numbersB[k]) return numbersA[k] < numbersB[k] ? -1 : 1;
  return 0;
}

function parsePlace(place: string) {
  return place.split(/[:/]/).map((part) => (part === "foot" ? Infinity : Number(part)));
}

/** So much is added at most above a row where there is height to spare. */
const MAX_ADDED_GAP = 130;
/** Of what is added above a row, the part above the first, above all that has no name, and below the last. */
const GAP_SHARES = { first: 0.6, nameless: 0.5, below: 0.4 };

/** Heights that are added above each place, so that the rows of a run fill the height that they have. */
export function gapsBetweenPlaces({ y, h }: FixedMemoryPlaces, height: number): Map<string, number> {
  const places = [...y.keys()];
  const foot = places.findIndex((place) => place.startsWith("foot"));
  const named = foot < 0 ? places.length : foot;
  const shares = places.map((_, k) => {
    if (k >= named) return k === named ? GAP_SHARES.nameless : 0;
    return k ? 1 : GAP_SHARES.first;
  });
  const all = shares.reduce((sum, share) => sum + share, GAP_SHARES.below);
  const each = Math.max(0, Math.min(MAX_ADDED_GAP, (height - h) / all));
  let added = 0;
  return new Map(places.map((place, k) => [place, Math.floor((added += shares[k] * each))]));
}

/**
 * Puts what is drawn at a step where it stands for the whole run; `gaps` are added above each place. Returns the height
 * of all, null where something needs more room than it has.
 */
export function moveToFixedPlaces(
  still: FixedMemoryPlaces,
  placed: PlacedItem[],
  i: number,
  gaps: ReadonlyMap<string, number>,
): number | null {
  for (const item of placed) {
    const order = placeOfItem(item);
    const group = order ?? FORMER_NAMES_PLACE;
    const place =
      (order ? null : placeOfFootItem(item, still.foot, i)) ??
      `${group}/${still.slots.get(`${group}/${item.item.key}`)}`;
    const y = still.y.get(place);
    if (y === undefined || item.h > (still.heights.get(place) ?? 0)) return null;
    item.y = y + (gaps.get(place) ?? 0);
  }
  return still.h + Math.max(0, ...gaps.values());
}
