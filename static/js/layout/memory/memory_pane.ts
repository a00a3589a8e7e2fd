/** The memory pane at a step: which rows are open, which closed, which folded, and where everything stands. */

import { frameValueChips } from "./heading_chips.ts";
import { findFirstNames } from "./first_names.ts";
import { memoryAnchorRects, touchedMemoryRects } from "./memory_anchors.ts";
import { layoutMemoryColumns, type MemoryColumns } from "./memory_columns.ts";
import { memoryItems } from "./memory_items.ts";
import { MEMORY_ITEM_HEIGHTS, placeMemoryItems } from "./memory_placed.ts";
import { MemoryStep, type MemoryModel } from "./memory_step.ts";
import {
  MAX_FIXED_PLACES_HEIGHT,
  findFixedPlaces,
  moveToFixedPlaces,
  fixedPlacesWithin,
  gapsBetweenPlaces,
} from "./fixed_memory_places.ts";
import { DEFAULT_PANE_OPTIONS, type Pane, type PaneOptions, type PaneRoom } from "../pane.ts";
import { placeRowPins } from "./row_pins.ts";
import { cachedTouchHistory } from "../touched.ts";
import { addToList } from "../../trace/multimap.ts";
import { LaneAllocator } from "../packing.ts";
import type { RowCells } from "../cells/row_strip.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { PlacedItem, ValueChip, PlaceInterval } from "./memory_parts.ts";

export type MemoryPane = Pane & {
  columns: MemoryColumns;
  /** from top to bottom */
  placed: PlacedItem[];
  /** the plain values of the module, main its frame */
  values: ValueChip[];
  main: string | null;
  step: MemoryStep;
};

/** `nodeNames` are what the graph calls its nodes, where that is more than the operation. */
export function buildMemoryModel(opened: OpenTrace, nodeNames: ReadonlyMap<string, string> = new Map()): MemoryModel {
  const kept = new Set([...opened.index.pins.values()].map((pin) => pin.storage));
  const modelBase = { opened, firstNames: findFirstNames(opened), history: cachedTouchHistory(opened) };
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

export function layoutMemoryPane(
  model: MemoryModel,
  i: number,
  paneSize: PaneRoom,
  options: PaneOptions = DEFAULT_PANE_OPTIONS,
): MemoryPane {
  const memoryStep = new MemoryStep(model, i, options);
  const columns = layoutMemoryColumns(model.firstNames, paneSize.w, paneSize.cells);
  const places = placesInRoom(model, paneSize);
  const items = memoryItems(memoryStep, undefined, places !== null);
  let placed = placeMemoryItems(memoryStep, columns, places ? Infinity : paneSize.h, items);
  let height = places ? moveToFixedPlaces(places, placed, i, gapsBetweenPlaces(places, paneSize.h)) : null;
  if (places && height === null) placed = placeMemoryItems(memoryStep, columns, paneSize.h, items);
  height ??= stackItems(placed);
  for (const placedItem of placed)
    if (placedItem.item.kind === "row" && placedItem.layout)
      placedItem.pins = placeRowPins(memoryStep, placedItem.item.block, placedItem.layout, columns);
  const moduleFrame =
    [...memoryStep.entities].find(([, entity]) => entity.kind === "frame" && !entity.caller)?.[0] ?? null;
  const values = moduleFrame ? frameValueChips(memoryStep, moduleFrame) : [];
  const anchors = memoryAnchorRects(placed, columns);
  const focus = touchedMemoryRects(placed, columns);
  return {
    height,
    anchors,
    focus,
    still: places !== null,
    columns,
    placed,
    values,
    main: moduleFrame,
    step: memoryStep,
  };
}

/** Places for the whole run, where what is drawn keeps them. */
function placesInRoom(model: MemoryModel, { w, h, cells, scrolls }: PaneRoom) {
  if (!Number.isFinite(h)) return null;
  return fixedPlacesWithin(model, w, scrolls ? MAX_FIXED_PLACES_HEIGHT : h, cells);
}

/** The height at which every row of the run is open at a place of its own; Infinity where there is none. */
export function memoryHeightForFixedPlaces(model: MemoryModel, w: number) {
  return findFixedPlaces(model, w)?.h ?? Infinity;
}

/**
 * Whether every row of the run has room at a place of its own; with `numbers`, whether few cells all have numbers
 * there, too.
 */
export function hasRoomForFixedPlaces(model: MemoryModel, w: number, h: number, cells: RowCells, numbers: boolean) {
  const places = fixedPlacesWithin(model, w, h, cells);
  return places !== null && !(numbers && places.coloursOnly);
}

/** Places items one below the other. Returns the height of all. */
function stackItems(placed: PlacedItem[]): number {
  let y = MEMORY_ITEM_HEIGHTS.top;
  for (const item of placed) {
    item.y = y;
    y += item.h;
  }
  return y + MEMORY_ITEM_HEIGHTS.top;
}

/**
 * Places by storage for those without a name, among the lines below the named ones: each keeps its own while steps
 * touch it.
 */
function namelessPlaces({
  opened,
  firstNames,
  history,
}: Pick<MemoryModel, "opened" | "firstNames" | "history">): Map<string, PlaceInterval[]> {
  const { index } = opened;
  const relatedUids = new Map<string, string[]>();
  for (const { uid, storage, counter } of index.placements.values()) {
    const key = storage ?? `none ${uid}`;
    addToList(relatedUids, key, uid);
    if (counter) addToList(relatedUids, key, counter);
  }
  const stays = [] as (PlaceInterval & { storage: string })[];
  for (const [uid, { kind }] of index.lifetimes)
    if (kind === "storage" && !relatedUids.has(uid)) relatedUids.set(uid, []);
  for (const [storage, uids] of relatedUids) {
    if (firstNames.handlesOfStorage.has(storage)) continue;
    const steps = new Set([storage, ...uids].flatMap((uid) => history.stepsByUid.get(uid) ?? []));
    const death = index.lifetimes.get(storage)?.death ?? index.lastStep;
    for (const stretch of consecutiveStretches([...steps].filter((step) => step <= death)))
      stays.push({ ...stretch, storage, place: 0 });
  }
  const places = new LaneAllocator();
  const out = new Map<string, PlaceInterval[]>();
  for (const { from, to, storage } of stays.sort((a, b) => a.from - b.from))
    addToList(out, storage, { from, to, place: places.allocateLane(from, to) });
  return out;
}

/** Steps one after the other as stretches. */
function consecutiveStretches(steps: number[]): { from: number; to: number }[] {
  const out = [] as { from: number; to: number }[];
  for (const step of steps.sort((a, b) => a - b)) {
    const last = out[out.length - 1];
    if (last && last.to === step - 1) last.to = step;
    else out.push({ from: step, to: step });
  }
  return out;
}
