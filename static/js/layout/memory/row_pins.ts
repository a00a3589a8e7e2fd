/** The pins of a row: which saved values are told above its strip, which at its end, and what broke them. */

import { findEntity, isSameValue } from "../../trace/entities.ts";
import { operationNameOfNode } from "../../trace/format.ts";
import { FONT_SIZES, textWidth } from "../text/metrics.ts";
import { cellExtentOfHandle } from "../../trace/reads.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Slot } from "../../trace/wire.ts";
import type { MemoryColumns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { PinTextLength, StoragePin, RowLayout, RowBlock, PlacedPins, BreakingWrite } from "./memory_parts.ts";

const MAX_PIN_DOTS = 3;
/** Of a pin with words. */
const PIN_HEIGHT = 17;
/** What a pin says besides the node and the versions, in characters: as much as in most languages. */
const PIN_WORDS = { kept: "kept by  · v", stale: "expects v, is v now", changed: "kept v, numbers changed" };
const MORE_PINS_WIDTH = 26;
const PIN_DOT_WIDTH = 12;

export function placeRowPins(
  memoryStep: MemoryStep,
  block: RowBlock,
  layout: RowLayout,
  columns: MemoryColumns,
): PlacedPins | null {
  const list = [...block.pins].sort((a, b) => Number(b.broken) - Number(a.broken));
  if (!list.length) return null;
  const broken = list.find((pin) => pin.broken);
  const cause = broken ? breakingWriteOfPin(memoryStep, broken) : null;
  return layout.top > 0
    ? pinsAboveStrip(memoryStep, list, layout, columns, cause)
    : pinsAtStripEnd(list, layout, columns, cause);
}

function pinsAboveStrip(
  memoryStep: MemoryStep,
  list: StoragePin[],
  layout: RowLayout,
  columns: MemoryColumns,
  cause: BreakingWrite | null,
): PlacedPins {
  const flow: PlacedPins = { pins: [], more: [], moreX: 0, end: columns.strip, cause };
  const y = layout.top - PIN_HEIGHT - 2;
  const right = columns.w - 8;
  const widths = list.map((pin) => ({
    long: rowPinWidth(memoryStep, pin, list, "long"),
    short: rowPinWidth(memoryStep, pin, list, "short"),
    tiny: rowPinWidth(memoryStep, pin, list, "tiny"),
  }));
  const leastOf = (pin: StoragePin) => (pin.broken ? PIN_DOT_WIDTH : 0);
  list.forEach((pin, k) => {
    const rest = list.slice(k + 1);
    const hidesMore = rest.some(({ broken }) => !broken) || flow.more.length > 0;
    const least = rest.reduce((sum, other) => sum + leastOf(other), 0) + (hidesMore ? MORE_PINS_WIDTH : 0);
    const room = right - flow.end - least;
    const all = widths.slice(k + 1).reduce((sum, { tiny }) => sum + tiny + 4, 0);
    const inOrder = pin.broken && !k ? (["long", "short"] as const) : (["long", "short", "tiny"] as const);
    const words =
      inOrder.find((some) => widths[k][some] + all <= right - flow.end) ??
      (["short", "tiny"] as const).find((some) => widths[k][some] <= room);
    if (words || !k) {
      const w = Math.min(widths[k][words ?? "tiny"], Math.max(room, 40));
      flow.pins.push({
        pin,
        slot: slotInWords(pin, list),
        textLength: words ?? "tiny",
        x: flow.end,
        y,
        w,
        h: PIN_HEIGHT,
        dot: false,
      });
      flow.end += w + 4;
    } else if (pin.broken) {
      flow.pins.push({ pin, slot: "", textLength: "tiny", x: flow.end, y: y + 4, w: 9, h: 9, dot: true });
      flow.end += PIN_DOT_WIDTH;
    } else flow.more.push(pin);
  });
  flow.moreX = flow.end;
  if (flow.more.length) flow.end += MORE_PINS_WIDTH;
  return flow;
}

/** At the end of a closed row's strip. */
function pinsAtStripEnd(
  list: StoragePin[],
  layout: RowLayout,
  columns: MemoryColumns,
  cause: BreakingWrite | null,
): PlacedPins {
  const end = columns.gradW ? columns.grad - 24 : columns.w - 4;
  let x = columns.strip + layout.strip.w + 4;
  const flow: PlacedPins = { pins: [], more: [], moreX: 0, end: x, cause };
  for (const pin of list) {
    const isLast = pin === list[list.length - 1];
    if (flow.pins.length && (flow.pins.length >= MAX_PIN_DOTS || x + 9 + (isLast ? 0 : MORE_PINS_WIDTH) > end)) {
      flow.more.push(pin);
      continue;
    }
    flow.pins.push({ pin, slot: "", textLength: "tiny", x, y: layout.top + 3, w: 9, h: 9, dot: true });
    x += 11;
  }
  flow.moreX = x;
  flow.end = x + (flow.more.length ? MORE_PINS_WIDTH : 0);
  return flow;
}

function rowPinWidth(memoryStep: MemoryStep, pin: StoragePin, list: StoragePin[], words: PinTextLength) {
  const { node, broken, saved } = pin;
  const name =
    memoryStep.model.nodeNames.get(node) ??
    operationNameOfNode(findEntity(memoryStep.entities, node, "node")?.name ?? node);
  const version = `${saved.expected ?? "?"}`;
  const now = `${findEntity(memoryStep.entities, saved.counter, "counter")?.value ?? version}`;
  const state = version === now ? PIN_WORDS.changed : PIN_WORDS.stale + now;
  const said = {
    long: broken ? `${name}${slotInWords(pin, list)} ${state}` : `${PIN_WORDS.kept}${name}${slotInWords(pin, list)}`,
    short: broken ? state : `${name} v`,
    tiny: `${name} v`,
  };
  return Math.ceil(textWidth(said[words] + version, FONT_SIZES.small)) + 14;
}

/** Torch's name of a slot, where its node has several of this memory: they would be told apart by nothing else. */
function slotInWords({ node, slot }: StoragePin, list: StoragePin[]) {
  return list.some((other) => other.node === node && other.slot !== slot) ? ` (${slot})` : "";
}

/** What broke a saved value. */
function breakingWriteOfPin(memoryStep: MemoryStep, { node, slot, saved }: StoragePin): BreakingWrite | null {
  const { opened, causes } = memoryStep.model;
  const key = `${node}:${slot}`;
  const cached = causes.get(key);
  if (cached !== undefined) return cached;
  const entry = opened.index.slots.get(key);
  const causeStep = Math.min(entry?.stale ?? Infinity, entry?.changed ?? Infinity);
  // not before the recording
  const isSeen = Number.isFinite(causeStep) && opened.trace.steps[causeStep].kind !== "begin";
  const cause = isSeen ? breakingWriteAt(opened, causeStep, saved) : null;
  causes.set(key, cause);
  return cause;
}

function breakingWriteAt({ trace, state }: OpenTrace, causeStep: number, saved: Slot): BreakingWrite | null {
  const { line } = trace.steps[causeStep];
  const text = (trace.program.source.split("\n")[line - 1] ?? "").trim();
  const before = findEntity(state(causeStep - 1), saved.storage, "storage");
  const after = findEntity(state(causeStep), saved.storage, "storage");
  const span = cellExtentOfHandle({ kind: "tensor", ...saved });
  for (const [dtype, cells] of Object.entries(before?.cells ?? {})) {
    const cellsAfter = after?.cells?.[dtype] ?? [];
    const cell = cells.findIndex(
      (value, k) => span && k >= span[0] && k <= span[1] && !isSameValue(value, cellsAfter[k]),
    );
    if (cell >= 0) return { line, text, was: cells[cell], cell };
  }
  return { line, text, was: undefined, cell: -1 };
}
