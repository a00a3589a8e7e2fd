/** The pins of a row: which saved values are told above its strip, which at its end, and what broke them. */

import { findEntity, isSameValue } from "../trace/entities.ts";
import { operationNameOfNode } from "./format.ts";
import { textWidth } from "./metrics.ts";
import { cellExtentOfHandle } from "./reads.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Slot } from "../trace/wire.ts";
import { columnsOfRow, type MemoryColumns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { StoragePin, RowLayout, RowBlock, PlacedPins, BreakingWrite } from "./memory_parts.ts";

const ROW_PIN_FONT_SIZE = 9.5;
const MAX_PIN_DOTS = 3;
export const CAUSE_FONT_SIZE = 9;
/** So much of what broke a saved value has room before the slots of further pins. */
const CAUSE_LENGTH = 28;

export function placeRowPins(
  memoryStep: MemoryStep,
  block: RowBlock,
  layout: RowLayout,
  paneColumns: MemoryColumns,
): PlacedPins | null {
  const columns = columnsOfRow(paneColumns, layout);
  const list = [...block.pins].sort((a, b) => Number(b.broken) - Number(a.broken));
  if (!list.length) return null;
  const broken = list.find((pin) => pin.broken);
  const cause = broken ? breakingWriteOfPin(memoryStep, broken) : null;
  return layout.top > layout.head
    ? pinsAboveStrip(memoryStep, list, layout, columns, cause)
    : pinsAtStripEnd(memoryStep, list, layout, columns, cause);
}

function pinsAboveStrip(
  memoryStep: MemoryStep,
  list: StoragePin[],
  layout: RowLayout,
  columns: MemoryColumns,
  cause: BreakingWrite | null,
): PlacedPins {
  const flow: PlacedPins = { pins: [], more: [], moreX: 0, end: columns.strip, cause };
  const y = layout.top - 14;
  const right = columns.w - 30;
  let isShort = false;
  const allWidth = list.reduce((sum, pin) => sum + rowPinWidth(pinText(memoryStep, pin, false)) + 4, 0);
  if (columns.strip + allWidth > right) isShort = true;
  const causeWidth = cause
    ? textWidth(`line ${cause.line}: ${cause.text}`.slice(0, CAUSE_LENGTH), CAUSE_FONT_SIZE) + 10
    : 0;
  const isTight = causeWidth > 0 && columns.strip + allWidth + causeWidth > columns.w;
  for (const pin of list) {
    const text = pinText(memoryStep, pin, !pin.broken && (isShort || isTight));
    const w = rowPinWidth(text);
    if (flow.end + w > right) {
      flow.more.push(pin);
      continue;
    }
    flow.pins.push({ pin, text, x: flow.end, y, w, h: 13, dot: false });
    flow.end += w + 4;
  }
  flow.moreX = flow.end;
  if (flow.more.length) flow.end += 22;
  return flow;
}

/** At the end of a closed row's strip. */
function pinsAtStripEnd(
  memoryStep: MemoryStep,
  list: StoragePin[],
  layout: RowLayout,
  columns: MemoryColumns,
  cause: BreakingWrite | null,
): PlacedPins {
  const end = columns.gradW ? columns.grad - 24 : columns.w - 4;
  let x = columns.strip + layout.strip.w + 4;
  const flow: PlacedPins = { pins: [], more: [], moreX: 0, end: x, cause };
  for (const pin of list) {
    if (flow.pins.length && (flow.pins.length >= MAX_PIN_DOTS || x + 9 > end)) {
      flow.more.push(pin);
      continue;
    }
    flow.pins.push({ pin, text: pinText(memoryStep, pin, true), x, y: layout.top + 3, w: 9, h: 9, dot: true });
    x += 11;
  }
  flow.moreX = x;
  flow.end = x + (flow.more.length ? 18 : 0);
  return flow;
}

function rowPinWidth(text: string) {
  return Math.ceil(textWidth(text, ROW_PIN_FONT_SIZE)) + 10;
}

/** `v0 Addmm · mat1`: the version that a node expects, the node and its slot. @param isShort without the slot */
function pinText(memoryStep: MemoryStep, { node, slot, saved }: StoragePin, isShort: boolean) {
  const version = saved.expected === null || saved.expected === undefined ? "v?" : `v${saved.expected}`;
  const name =
    memoryStep.model.nodeNames.get(node) ??
    operationNameOfNode(findEntity(memoryStep.entities, node, "node")?.name ?? node);
  return `${version}${saved.state === "changed" ? " ≠" : ""} ${name}${isShort ? "" : ` · ${slot}`}`;
}

/** What broke a saved value. */
function breakingWriteOfPin(memoryStep: MemoryStep, { node, slot, saved }: StoragePin): BreakingWrite | null {
  const { opened, causes } = memoryStep.model;
  const key = `${node}:${slot}`;
  const cached = causes.get(key);
  if (cached !== undefined) return cached;
  const entry = opened.index.slots.get(key);
  const causeStep = Math.min(entry?.stale ?? Infinity, entry?.changed ?? Infinity);
  const isSeen = Number.isFinite(causeStep) && opened.trace.steps[causeStep].kind !== "begin"; // not before the recording
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
