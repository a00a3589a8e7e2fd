/** The memory pane at a step: which rows are open, which closed, which folded, and where everything stands. */

import { frameChips } from "./heading_chips.ts";
import { homesOf } from "./homes.ts";
import { memoryAnchors, memoryFocus } from "./memory_anchors.ts";
import { memoryColumns, type Columns } from "./memory_columns.ts";
import { HEIGHT, placeItems } from "./memory_placed.ts";
import { MemoryStep, type MemoryModel } from "./memory_step.ts";
import { findStill, stillPlaces, stillWithin } from "./memory_still.ts";
import { namelessPlaces } from "./nameless_places.ts";
import { PLAIN, type Pane, type PaneOptions, type Room } from "./pane.ts";
import { placePins } from "./row_pins.ts";
import { touchHistory } from "./touched.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { PlacedItem, Chip } from "./memory_parts.ts";

export type MemoryPane = Pane & {
  columns: Columns;
  /** from top to bottom */
  placed: PlacedItem[];
  /** the plain values of the module, main its frame */
  values: Chip[];
  main: string | null;
  step: MemoryStep;
};

/** @param nodeNames what the graph calls its nodes, where that is more than the operation */
export function memoryModel(opened: OpenTrace, nodeNames: ReadonlyMap<string, string> = new Map()): MemoryModel {
  const kept = new Set([...opened.index.pins.values()].map((pin) => pin.storage));
  const modelBase = { opened, homes: homesOf(opened), history: touchHistory(opened) };
  return {
    ...modelBase,
    nodeNames,
    kept,
    nameless: namelessPlaces(modelBase),
    stills: new Map(),
    leastHeights: new Map(),
    plainSteps: new Map(),
    causes: new Map(),
  };
}

export function memoryPane(model: MemoryModel, i: number, paneSize: Room, options: PaneOptions = PLAIN): MemoryPane {
  const memoryStep = new MemoryStep(model, i, options);
  const columns = memoryColumns(model.homes, paneSize.w);
  const places = Number.isFinite(paneSize.h) ? stillWithin(model, paneSize.w, paneSize.h) : null;
  let placed = placeItems(memoryStep, columns, places ? Infinity : paneSize.h);
  let height = places ? stillPlaces(places, placed, i) : null;
  if (places && height === null) placed = placeItems(memoryStep, columns, paneSize.h);
  height ??= placeBelowEachOther(placed);
  for (const place of placed)
    if (place.item.kind === "row" && place.layout)
      place.pins = placePins(memoryStep, place.item.block, place.layout, columns);
  const moduleFrame =
    [...memoryStep.entities].find(([, entity]) => entity.kind === "frame" && !entity.caller)?.[0] ?? null;
  const values = moduleFrame ? frameChips(memoryStep, moduleFrame) : [];
  const anchors = memoryAnchors(placed, columns);
  const focus = memoryFocus(placed, columns);
  return {
    height,
    ...anchors,
    focus,
    still: places !== null,
    columns,
    placed,
    values,
    main: moduleFrame,
    step: memoryStep,
  };
}

/** The height at which every row of the run is open at a place of its own; Infinity where there is none. */
export function stillHeight(model: MemoryModel, w: number) {
  return findStill(model, w)?.h ?? Infinity;
}

/** Whether every row of the run has room at a place of its own. */
export function fitsStill(model: MemoryModel, w: number, h: number) {
  return stillWithin(model, w, h) !== null;
}

/** One below the other. @returns the height of all */
function placeBelowEachOther(placed: PlacedItem[]): number {
  let y = HEIGHT.top;
  for (const item of placed) {
    item.y = y;
    y += item.h;
  }
  return y + HEIGHT.top;
}
