/** The pins of a row: which saved values are told above its strip, which at its end, and what broke them. */

import { find, sameValue } from "../trace/entities.js";
import { opName } from "./op_name.js";
import { textWidth } from "./metrics.js";
import { extent } from "./reads.js";

/** @typedef {import("./memory_step.js").Pin} Pin */
/** @typedef {import("./memory_blocks.js").Block} Block */
/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/**
 * @typedef {{pin: Pin, text: string, x: number, y: number, w: number, h: number, dot: boolean}} PlacedPin   from the row's corner
 * @typedef {{pins: PlacedPin[], more: Pin[], moreX: number, end: number, cause: Cause | null}} PinFlow
 *   more: those that there is no room for; end: from where on the line is free; cause: of a broken one
 * @typedef {{line: number, text: string, was: import("../trace/entities.js").Cell | undefined, cell: number}} Cause
 *   the statement that wrote, and the value that a cell had before
 */

const FONT = 9.5;
const MAX_DOTS = 3;
export const CAUSE_FONT = 9;
/** So much of what broke a saved value has room before the slots of further pins. */
const CAUSE_LETTERS = 28;

/** @param {MemoryStep} memoryStep @param {Block} block @param {import("./row_lines.js").RowLayout} layout
 * @param {import("./memory_columns.js").Columns} columns @returns {PinFlow | null} */
export function placePins(memoryStep, block, layout, columns) {
  const list = [...block.pins].sort((a, b) => Number(b.broken) - Number(a.broken));
  if (!list.length) return null;
  const broken = list.find((pin) => pin.broken);
  const cause = broken ? causeOfBreak(memoryStep, broken) : null;
  return layout.top
    ? pinsAboveStrip(memoryStep, list, layout, columns, cause)
    : pinsAtStripEnd(memoryStep, list, layout, columns, cause);
}

/** @param {MemoryStep} memoryStep @param {Pin[]} list @param {import("./row_lines.js").RowLayout} layout
 * @param {import("./memory_columns.js").Columns} columns @param {Cause | null} cause @returns {PinFlow} */
function pinsAboveStrip(memoryStep, list, layout, columns, cause) {
  /** @type {PinFlow} */
  const flow = { pins: [], more: [], moreX: 0, end: columns.strip, cause };
  const y = layout.top - 14;
  const right = columns.w - 30;
  let isShort = false;
  const allWidth = list.reduce((sum, pin) => sum + pinWidth(pinText(memoryStep, pin, false)) + 4, 0);
  if (columns.strip + allWidth > right) isShort = true;
  const causeWidth = cause
    ? textWidth(`line ${cause.line}: ${cause.text}`.slice(0, CAUSE_LETTERS), CAUSE_FONT) + 10
    : 0;
  const isTight = causeWidth > 0 && columns.strip + allWidth + causeWidth > columns.w;
  for (const pin of list) {
    const text = pinText(memoryStep, pin, !pin.broken && (isShort || isTight));
    const w = pinWidth(text);
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

/** At the end of a closed row's strip. @param {MemoryStep} memoryStep @param {Pin[]} list
 * @param {import("./row_lines.js").RowLayout} layout @param {import("./memory_columns.js").Columns} columns
 * @param {Cause | null} cause @returns {PinFlow} */
function pinsAtStripEnd(memoryStep, list, layout, columns, cause) {
  const end = columns.gradW ? columns.grad - 24 : columns.w - 4;
  let x = columns.strip + layout.strip.w + 4;
  /** @type {PinFlow} */
  const flow = { pins: [], more: [], moreX: 0, end: x, cause };
  for (const pin of list) {
    if (flow.pins.length && (flow.pins.length >= MAX_DOTS || x + 9 > end)) {
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

/** @param {string} text */
function pinWidth(text) {
  return Math.ceil(textWidth(text, FONT)) + 10;
}

/** `v0 Addmm · mat1`: the version that a node expects, the node and its slot. @param {MemoryStep} memoryStep @param {Pin} pin
 * @param {boolean} isShort without the slot */
function pinText(memoryStep, { node, slot, saved }, isShort) {
  const version = saved.expected === null || saved.expected === undefined ? "v?" : `v${saved.expected}`;
  const name = memoryStep.model.nodeNames.get(node) ?? opName(find(memoryStep.entities, node, "node")?.name ?? node);
  return `${version}${saved.state === "changed" ? " ≠" : ""} ${name}${isShort ? "" : ` · ${slot}`}`;
}

/** What broke a saved value. @param {MemoryStep} memoryStep @param {Pin} pin @returns {Cause | null} */
function causeOfBreak(memoryStep, { node, slot, saved }) {
  const { opened, causes } = memoryStep.model;
  const key = `${node}:${slot}`;
  const cached = causes.get(key);
  if (cached !== undefined) return cached;
  const entry = opened.index.slots.get(key);
  const causeStep = Math.min(entry?.stale ?? Infinity, entry?.changed ?? Infinity);
  const isSeen = Number.isFinite(causeStep) && opened.trace.steps[causeStep].kind !== "begin"; // not before the recording
  const cause = isSeen ? causeAt(opened, causeStep, saved) : null;
  causes.set(key, cause);
  return cause;
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {number} causeStep @param {import("../trace/entities.js").Slot} saved
 * @returns {Cause | null} */
function causeAt({ trace, state }, causeStep, saved) {
  const { line } = trace.steps[causeStep];
  const text = (trace.program.source.split("\n")[line - 1] ?? "").trim();
  const before = find(state(causeStep - 1), saved.storage, "storage");
  const after = find(state(causeStep), saved.storage, "storage");
  const span = extent({ kind: "tensor", ...saved });
  for (const [dtype, cells] of Object.entries(before?.cells ?? {})) {
    const cellsAfter = after?.cells?.[dtype] ?? [];
    const cell = cells.findIndex(
      (value, k) => span && k >= span[0] && k <= span[1] && !sameValue(value, cellsAfter[k]),
    );
    if (cell >= 0) return { line, text, was: cells[cell], cell };
  }
  return { line, text, was: undefined, cell: -1 };
}
