/** The loom's pins: from a node's slot to the rail whose version it expects, and down until backward lets go. */

import { MAX_PINS_PER_RAIL, PIN_SPACING } from "./loom_sizes.ts";
import { IntervalPacker } from "../packing.ts";
import type { StorageColumn } from "./loom_columns.ts";
import type { LoomPin } from "./run_row.ts";
import type { LoomPlan, PinLine } from "./loom_plan.ts";

export function layoutLoomPins(plan: LoomPlan) {
  const lanes = new Map<string, IntervalPacker>();
  for (const pin of plan.run.pins.values()) {
    const y = plan.dots.get(pin.node)?.slots.get(pin.slot);
    const columns = plan.columns
      .columnsOfStorage(pin.storage)
      .filter((column) => plan.columns.isColumnInRows(column, pin.birth, pin.death));
    if (!columns.length || y === undefined) continue;
    const key = `${pin.storage}|${pin.counter ?? ""}`;
    const lane = lanes.get(key) ?? new IntervalPacker();
    lanes.set(key, lane);
    const pinOffset = Math.min(lane.allocate(pin.birth, pin.death, 1), MAX_PINS_PER_RAIL - 1) * PIN_SPACING;
    plan.pinLines.push(layoutPinLine(plan, pin, columns, y, pinOffset));
  }
  joinSilentWriteWarnings(plan.pinLines);
}

/** One write that changed the bytes of several saved values without a word has one warning, between their pins. */
function joinSilentWriteWarnings(lines: PinLine[]) {
  const firstByKey = new Map<string, { x: number; y: number }>();
  for (const line of lines) {
    const { pin, hit: warning } = line;
    if (!warning || pin.broken !== null || pin.silent === null) continue;
    const key = `${pin.storage} ${pin.counter ?? ""} ${pin.silent}`;
    const first = firstByKey.get(key);
    if (first) first.x = (first.x + warning.x) / 2;
    else firstByKey.set(key, warning);
    if (first) line.hit = null;
  }
}

/**
 * `columns` are those in which its storage stands while it is kept. `y` is that of the slot, and `pinOffset` how far
 * right of the rail the pin is.
 */
function layoutPinLine(plan: LoomPlan, pin: LoomPin, columns: StorageColumn[], y: number, pinOffset: number): PinLine {
  const [first] = columns;
  const rail = pinRail(first, pin);
  const isBelowTop = plan.shelves[first.from].y <= y;
  const brokenRow = pin.broken ?? pin.silent;
  const write =
    brokenRow === null ? undefined : plan.writes[brokenRow].find((box) => box.write.storage === pin.storage);
  const struckColumn =
    write?.column ??
    (brokenRow === null
      ? undefined
      : columns.find((column) => plan.columns.isColumnInRows(column, brokenRow, brokenRow)));
  return {
    pin,
    rail,
    x: rail + pinOffset,
    y,
    slotX: plan.graph.names,
    headed: isBelowTop,
    holds: columns.map((column, k) => {
      const top = k || !isBelowTop ? plan.shelves[column.from].y : y;
      return { x: pinRail(column, pin) + pinOffset, from: top, to: Math.max(top, pinHoldEnd(plan, pin, column, y)) };
    }),
    hit: struckColumn
      ? { x: pinRail(struckColumn, pin) + pinOffset, y: write?.cy ?? plan.rows[brokenRow ?? 0].cy }
      : null,
  };
}

function pinRail(column: StorageColumn, pin: LoomPin) {
  return column.rails.get(pin.counter ?? "") ?? [...column.rails.values()][0];
}

function pinHoldEnd(plan: LoomPlan, pin: LoomPin, column: StorageColumn, y: number) {
  const shelf = plan.shelves[column.to];
  const row = plan.rows[pin.death];
  const isReleasedHere = pin.released && plan.columns.isColumnInRows(column, pin.death, pin.death);
  if (!isReleasedHere) return shelf.y + shelf.h;
  return Math.min(shelf.y + shelf.h, pin.death > pin.birth ? row.y + row.h / 2 : y + 7);
}
