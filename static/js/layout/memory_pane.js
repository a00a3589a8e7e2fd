/** The memory pane at a step: which rows are open, which closed, which folded, and where everything stands. */

import { frameChips } from "./heading_chips.js";
import { homesOf } from "./homes.js";
import { memoryAnchors, memoryFocus } from "./memory_anchors.js";
import { memoryColumns } from "./memory_columns.js";
import { HEIGHT, placeItems } from "./memory_placed.js";
import { MemoryStep } from "./memory_step.js";
import { findStill, stillPlaces, stillWithin } from "./memory_still.js";
import { namelessPlaces } from "./nameless_places.js";
import { PLAIN } from "./pane.js";
import { placePins } from "./row_pins.js";
import { touchHistory } from "./touched.js";

/** @typedef {import("./memory_step.js").MemoryModel} MemoryModel */
/** @typedef {import("./memory_placed.js").PlacedItem} PlacedItem */
/** @typedef {import("./memory_columns.js").Columns} Columns */
/**
 * @typedef {import("./pane.js").Pane & {columns: Columns, placed: PlacedItem[], values: import("./heading_chips.js").Chip[],
 *   main: string | null, step: MemoryStep}} MemoryPane
 *   placed: from top to bottom. values: the plain values of the module, main its frame
 */

/** @param {import("../trace/state.js").OpenTrace} opened @param {ReadonlyMap<string, string>} [nodeNames] what the graph calls its
 * nodes, where that is more than the operation @returns {MemoryModel} */
export function memoryModel(opened, nodeNames = new Map()) {
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

/** @param {MemoryModel} model @param {number} i @param {import("./pane.js").Room} paneSize
 * @param {import("./pane.js").PaneOptions} [options] @returns {MemoryPane} */
export function memoryPane(model, i, paneSize, options = PLAIN) {
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

/** The height at which every row of the run is open at a place of its own; Infinity where there is none.
 * @param {MemoryModel} model @param {number} w */
export function stillHeight(model, w) {
  return findStill(model, w)?.h ?? Infinity;
}

/** Whether every row of the run has room at a place of its own. @param {MemoryModel} model @param {number} w @param {number} h */
export function fitsStill(model, w, h) {
  return stillWithin(model, w, h) !== null;
}

/** One below the other. @param {PlacedItem[]} placed @returns {number} the height of all */
function placeBelowEachOther(placed) {
  let y = HEIGHT.top;
  for (const item of placed) {
    item.y = y;
    y += item.h;
  }
  return y + HEIGHT.top;
}
