/** A device's memory as torch's caching allocator has it: segments, the blocks in them, and how wide each is drawn. */

import { isHandle } from "../entities.js";
import { bytesText } from "./format.js";
import { EM, textWidth } from "./metrics.js";

/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./memory_columns.js").Columns} Columns */
/** @typedef {import("../trace.js").Block} Block */
/**
 * @typedef {"allocated" | "waiting" | "free" | "several"} PartState   waiting: freed, while a stream may still use it
 * @typedef {{blocks: Block[], state: PartState, size: number, requested: number, name: string, storage: string | null,
 *   gradient: boolean, touched: boolean, x: number, w: number}} Part   of a segment: a block, or neighbours that have no room of their own
 * @typedef {{size: number, pool: string, allocated: number, blocks: Block[]}} Segment
 * @typedef {{key: string, lines: Part[][], size: number, pool: string, allocated: number, y: number, h: number}} PlacedSegment
 * @typedef {{kind: "allocator", key: string, uid: string, segments: Segment[]}} AllocatorItem
 * @typedef {{open: boolean, x: number, w: number, h: number, segments: PlacedSegment[]}} AllocatorLayout   x, w: of the segments'
 *   bars. h: of all of it
 */

export const ALLOCATOR = { top: 5, title: 20, bar: 19, line: 22, gap: 5, label: 13 };
export const BLOCK_FONT = 10.5;
export const SIZE_FONT = 8.5;

/** Up to so many segments and blocks of a run are drawn unless the reader closes them; more where he opens them. */
const FEW_SEGMENTS = 3;
const FEW_BLOCKS = 24;
/** The most lines of a segment. */
const MOST_LINES = 3;
/** Parts of a line beyond which what is free is as narrow as the others. */
const FEW_PARTS = 40;
/** The least width of a block, and of what is free. */
const MIN_BLOCK_WIDTH = 5;
const FREE_WIDTH = 34;
/** The least width of a block with a name, of few: a name of two letters is never cut. */
const SHORT_NAME_WIDTH = 26;
/** What an optimizer keeps for a parameter. */
const OPTIMIZER_STATE_PATH = /\.state\[(.+)\]\['(\w+)'\]$/;
/** The most characters of a block's name. */
const MAX_NAME_CHARACTERS = 16;

/** What the allocators of a step's devices hold, one line each. @param {MemoryStep} memoryStep @returns {AllocatorItem[]} */
export function allocatorItems(memoryStep) {
  const out = /** @type {AllocatorItem[]} */ ([]);
  for (const [uid, device] of memoryStep.entities)
    if (device.kind === "device" && device.reserved)
      out.push({ kind: "allocator", key: `allocator ${uid}`, uid, segments: segmentsOf(device) });
  return out;
}

/** The blocks by their segments. @param {import("../trace.js").Device} device @returns {Segment[]} */
function segmentsOf({ segments, blocks }) {
  const out = /** @type {Segment[]} */ ([]);
  let next = 0;
  for (const { size, pool } of (blocks && segments) ?? []) {
    const own = /** @type {Block[]} */ ([]);
    for (let left = size; left > 0 && blocks && next < blocks.length; next += 1) {
      own.push(blocks[next]);
      left -= blocks[next].size;
    }
    const allocated = own.reduce((sum, block) => sum + (block.state === "inactive" ? 0 : block.size), 0);
    out.push({ size, pool, allocated, blocks: own });
  }
  return out;
}

/** @param {MemoryStep} memoryStep @param {AllocatorItem} item @param {Columns} columns @returns {AllocatorLayout} */
export function allocatorLayout(memoryStep, item, columns) {
  const most = mostOf(memoryStep, item.uid);
  const few = !columns.phone && most.segments <= FEW_SEGMENTS && most.blocks <= FEW_BLOCKS;
  const open = item.segments.length > 0 && few !== memoryStep.options.toggled.has(item.key);
  const x = columns.phone ? columns.names + 4 : columns.card;
  const w = columns.w - 14 - x;
  const label = columns.phone ? ALLOCATOR.label : 0;
  let y = ALLOCATOR.top + ALLOCATOR.title;
  const segments = (open ? item.segments : []).map((segment, k) => {
    const lines = placeBlocks(memoryStep, segment.blocks, w);
    const h = label + lines.length * ALLOCATOR.line;
    const { size, pool, allocated } = segment;
    const placed = { key: `segment ${k}`, lines, size, pool, allocated, y, h };
    y += h + ALLOCATOR.gap;
    return placed;
  });
  return { open, x, w, h: y, segments };
}

/** @type {WeakMap<import("../state.js").OpenTrace, Map<string, {segments: number, blocks: number}>>} */
const mosts = new WeakMap();

/** The most segments and blocks that a device ever has in the run. @param {MemoryStep} at @param {string} uid */
function mostOf({ model: { opened } }, uid) {
  let most = mosts.get(opened);
  if (!most) {
    most = new Map();
    for (const { set } of opened.trace.steps) {
      for (const [device, fields] of Object.entries(set ?? {})) {
        if (device[0] !== "d") continue;
        const before = most.get(device) ?? { segments: 0, blocks: 0 };
        const { segments = null, blocks = null } = /** @type {import("../trace.js").Device} */ (fields);
        most.set(device, {
          segments: Math.max(before.segments, segments?.length ?? 0),
          blocks: Math.max(before.blocks, blocks?.length ?? 0),
        });
      }
    }
    mosts.set(opened, most);
  }
  return most.get(uid) ?? { segments: 0, blocks: 0 };
}

/** The blocks of a segment in lines. @param {MemoryStep} memoryStep @param {Block[]} blocks @param {number} room @returns {Part[][]} */
function placeBlocks(memoryStep, blocks, room) {
  const most = Math.floor((MOST_LINES * room) / MIN_BLOCK_WIDTH);
  const lines = wrapParts(
    groupBlocks(blocks, most).map((some) => makePart(memoryStep, some)),
    room,
  );
  for (const line of lines) shareWidth(line, room);
  return lines;
}

/** Neighbours together, where not each block has the least width. @param {Block[]} blocks @param {number} most
 * @returns {Block[][]} */
function groupBlocks(blocks, most) {
  const each = Math.max(1, Math.ceil(blocks.length / Math.max(1, most)));
  return Array.from({ length: Math.ceil(blocks.length / each) }, (_, k) => blocks.slice(k * each, (k + 1) * each));
}

/** @param {MemoryStep} memoryStep @param {Block[]} blocks @returns {Part} */
function makePart(memoryStep, blocks) {
  const [block] = blocks;
  const one = blocks.length === 1;
  const storageUid = (one && block.storage) || null;
  const { name, gradient } = storageUid ? storageName(memoryStep, storageUid) : { name: "", gradient: false };
  return {
    blocks,
    state: one ? stateOf(block) : "several",
    size: blocks.reduce((sum, { size }) => sum + size, 0),
    requested: blocks.reduce(
      (sum, { size, requested, state }) => sum + (state === "inactive" ? 0 : (requested ?? size)),
      0,
    ),
    name,
    storage: storageUid,
    gradient,
    touched: blocks.some((some) => some.storage && memoryStep.touched.uids.has(some.storage)),
    x: 0,
    w: 0,
  };
}

/** @param {Block} block @returns {PartState} */
function stateOf({ state }) {
  if (state === "inactive") return "free";
  return state === "active_allocated" ? "allocated" : "waiting";
}

/** What the program calls a storage, after the first of its handles that has a name. @param {MemoryStep} memoryStep @param {string} storageUid */
function storageName(memoryStep, storageUid) {
  const handles = memoryStep.readers.get(storageUid) ?? [];
  const { paths } = memoryStep.names;
  const ownerUid = handles.map((uid) => memoryStep.owners.get(uid)).find((uid) => uid !== undefined);
  const named = handles.find((uid) => paths.has(uid) && isHandle(memoryStep.entities.get(uid)));
  const path =
    named !== undefined ? paths.get(named) : ownerUid !== undefined ? ownersName(memoryStep, ownerUid) : undefined;
  const [, of, kind] = path?.match(OPTIMIZER_STATE_PATH) ?? [];
  return { name: of ? `${of} ${kind}` : (path ?? storageUid), gradient: ownerUid !== undefined };
}

/** @param {MemoryStep} memoryStep @param {string} ownerUid of a gradient */
function ownersName(memoryStep, ownerUid) {
  const path = memoryStep.names.paths.get(ownerUid);
  return path && `${path}.grad`;
}

/** The parts in as many lines as they need for their names, up to some. @param {Part[]} parts @param {number} room @returns {Part[][]} */
function wrapParts(parts, room) {
  const wishes = parts.map(wishedWidth);
  const wished = wishes.reduce((sum, w) => sum + w, 0);
  const count = Math.min(MOST_LINES, Math.ceil(wished / room));
  const lines = /** @type {Part[][]} */ (Array.from({ length: Math.max(1, count) }, () => []));
  let before = 0;
  parts.forEach((some, k) => {
    lines[Math.min(lines.length - 1, Math.floor(((before + wishes[k] / 2) / wished) * lines.length))].push(some);
    before += wishes[k];
  });
  return lines.filter((line) => line.length);
}

/** Each gets room for its name, as far as there is any; what is left is shared by size. @param {Part[]} parts @param {number} room */
function shareWidth(parts, room) {
  const wishes = parts.map(wishedWidth);
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const least = parts.map((some, k) =>
    parts.length > FEW_PARTS
      ? MIN_BLOCK_WIDTH
      : some.state === "free"
        ? wishes[k]
        : Math.min(wishes[k], SHORT_NAME_WIDTH),
  );
  const [wished, needed] = [sum(wishes), sum(least)];
  const share = wished <= room ? 1 : Math.max(0, room - needed) / (wished - needed || 1);
  const squeeze = needed > room ? room / needed : 1;
  const rest = Math.max(0, room - wished);
  const total = sum(parts.map(({ size }) => size)) || 1;
  let x = 0;
  parts.forEach((some, k) => {
    some.x = x;
    some.w = (least[k] + (wishes[k] - least[k]) * share) * squeeze + (rest * some.size) / total;
    x += some.w;
  });
}

/** The width at which a part can say what it is. @param {Part} part */
function wishedWidth({ state, name, size }) {
  if (state === "several") return MIN_BLOCK_WIDTH;
  if (state === "free") return Math.max(FREE_WIDTH, textWidth(freeText(size), SIZE_FONT) + 10);
  return Math.min(name.length || 5, MAX_NAME_CHARACTERS) * EM * BLOCK_FONT + 12;
}

/** Free bytes, rounded down: next to others, what is left of 2 MiB is not 2 MiB. @param {number} bytes */
export function freeText(bytes) {
  const [unit, size] = bytes >= 2 ** 30 ? ["GiB", 2 ** 30] : ["MiB", 2 ** 20];
  return bytes < 2 ** 20 ? bytesText(bytes) : `${Math.floor((bytes / size) * 100) / 100} ${unit}`;
}
