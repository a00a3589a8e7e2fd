/** A device's memory as torch's caching allocator has it: segments, the blocks in them, and how wide each is drawn. */

import { isHandle } from "../trace/entities.js";
import { bytesText } from "./format.js";
import { EM, textWidth } from "./metrics.js";

/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./memory_columns.js").Columns} Columns */
/** @typedef {import("../trace/wire.js").Block} Block */
/**
 * @typedef {"allocated" | "waiting" | "free" | "several"} PartState   waiting: freed, while a stream may still use it
 * @typedef {{blocks: Block[], state: PartState, size: number, requested: number, name: string, storage: string | null,
 *   gradient: boolean, touched: boolean, x: number, w: number}} BlockPart   of a segment: a block, or neighbours that have no room of their own
 * @typedef {{size: number, pool: string, stream: number, isPrivate: boolean, allocated: number}} SegmentFacts   stream: 0 is the
 *   default one. isPrivate: it belongs to a graph or to a pool of the program's own
 * @typedef {SegmentFacts & {blocks: Block[]}} Segment
 * @typedef {SegmentFacts & {key: string, lines: BlockPart[][], y: number, h: number}} PlacedSegment
 * @typedef {{kind: "allocator", key: string, uid: string, segments: Segment[]}} AllocatorItem
 * @typedef {{open: boolean, x: number, w: number, h: number, segments: PlacedSegment[]}} AllocatorLayout   x, w: of the segments'
 *   bars. h: of all of it
 */

export const ALLOCATOR = { top: 5, title: 20, bar: 19, line: 22, gap: 5, label: 13 };
export const BLOCK_FONT = 10.5;
export const SIZE_FONT = 8.5;

/** Up to so many segments and blocks of a run are drawn unless the reader closes them; more where he opens them. */
const MAX_SEGMENTS_TO_OPEN = 3;
const MAX_BLOCKS_TO_OPEN = 24;
/** The most lines of a segment. */
const MAX_LINES = 3;
/** Parts of a line beyond which what is free is as narrow as the others. */
const MAX_WIDE_PARTS = 40;
/** The least width of a block, and of what is free. */
const MIN_BLOCK_WIDTH = 5;
const FREE_WIDTH = 34;
/** The least width of a block with a name, of few: a name of two letters is never cut. */
const SHORT_NAME_WIDTH = 26;
/** What an optimizer keeps for a parameter. */
const OPTIMIZER_STATE_PATH = /\.state\[(.+)\]\['(\w+)'\]$/;
/** A block's wished width counts at most so many characters of its name; a longer one is cut only where room is short. */
const MAX_WISHED_CHARACTERS = 16;

/** What the allocators of a step's devices hold, one line each. @param {MemoryStep} memoryStep @returns {AllocatorItem[]} */
export function allocatorItems(memoryStep) {
  const out = /** @type {AllocatorItem[]} */ ([]);
  for (const [uid, device] of memoryStep.entities)
    if (device.kind === "device" && device.reserved)
      out.push({ kind: "allocator", key: `allocator ${uid}`, uid, segments: segmentsOf(device) });
  return out;
}

/** The blocks by their segments. @param {import("../trace/wire.js").Device} device @returns {Segment[]} */
function segmentsOf({ segments, blocks }) {
  const out = /** @type {Segment[]} */ ([]);
  let nextBlock = 0;
  for (const { size, pool, stream = 0, private: isPrivate = false } of (blocks && segments) ?? []) {
    const ownBlocks = /** @type {Block[]} */ ([]);
    for (let bytesLeft = size; bytesLeft > 0 && blocks && nextBlock < blocks.length; nextBlock += 1) {
      ownBlocks.push(blocks[nextBlock]);
      bytesLeft -= blocks[nextBlock].size;
    }
    const allocated = ownBlocks.reduce((sum, block) => sum + (block.state === "inactive" ? 0 : block.size), 0);
    out.push({ size, pool, stream, isPrivate, allocated, blocks: ownBlocks });
  }
  return out;
}

/** @param {MemoryStep} memoryStep @param {AllocatorItem} item @param {Columns} columns @returns {AllocatorLayout} */
export function allocatorLayout(memoryStep, item, columns) {
  const largest = largestCounts(memoryStep, item.uid);
  const isSmall = !columns.phone && largest.segments <= MAX_SEGMENTS_TO_OPEN && largest.blocks <= MAX_BLOCKS_TO_OPEN;
  const open = item.segments.length > 0 && isSmall !== memoryStep.options.toggled.has(item.key);
  const x = columns.phone ? columns.names + 4 : columns.card;
  const w = columns.w - 14 - x;
  const labelHeight = columns.phone ? ALLOCATOR.label : 0;
  let y = ALLOCATOR.top + ALLOCATOR.title;
  const segments = (open ? item.segments : []).map((segment, k) => {
    const lines = placeBlocks(memoryStep, segment.blocks, w);
    const h = labelHeight + lines.length * ALLOCATOR.line;
    const { blocks: _, ...facts } = segment;
    const placed = { ...facts, key: `segment ${k}`, lines, y, h };
    y += h + ALLOCATOR.gap;
    return placed;
  });
  return { open, x, w, h: y, segments };
}

/** @type {WeakMap<import("../trace/state.js").OpenTrace, Map<string, {segments: number, blocks: number}>>} */
const largestByRun = new WeakMap();

/** The most segments and blocks that a device ever has in the run. @param {MemoryStep} at @param {string} uid */
function largestCounts({ model: { opened } }, uid) {
  let largestByDevice = largestByRun.get(opened);
  if (!largestByDevice) {
    largestByDevice = new Map();
    for (const { set } of opened.trace.steps) {
      for (const [device, fields] of Object.entries(set ?? {})) {
        if (device[0] !== "d") continue;
        const largestBefore = largestByDevice.get(device) ?? { segments: 0, blocks: 0 };
        const { segments = null, blocks = null } = /** @type {import("../trace/wire.js").Device} */ (fields);
        largestByDevice.set(device, {
          segments: Math.max(largestBefore.segments, segments?.length ?? 0),
          blocks: Math.max(largestBefore.blocks, blocks?.length ?? 0),
        });
      }
    }
    largestByRun.set(opened, largestByDevice);
  }
  return largestByDevice.get(uid) ?? { segments: 0, blocks: 0 };
}

/** The blocks of a segment in lines. @param {MemoryStep} memoryStep @param {Block[]} blocks @param {number} width @returns {BlockPart[][]} */
function placeBlocks(memoryStep, blocks, width) {
  const maxParts = Math.floor((MAX_LINES * width) / MIN_BLOCK_WIDTH);
  const lines = wrapParts(
    groupBlocks(blocks, maxParts).map((part) => makePart(memoryStep, part)),
    width,
  );
  for (const line of lines) shareLineWidth(line, width);
  return lines;
}

/** Neighbours together, where not each block has the least width. @param {Block[]} blocks @param {number} maxGroups
 * @returns {Block[][]} */
function groupBlocks(blocks, maxGroups) {
  const groupSize = Math.max(1, Math.ceil(blocks.length / Math.max(1, maxGroups)));
  return Array.from({ length: Math.ceil(blocks.length / groupSize) }, (_, k) =>
    blocks.slice(k * groupSize, (k + 1) * groupSize),
  );
}

/** @param {MemoryStep} memoryStep @param {Block[]} blocks @returns {BlockPart} */
function makePart(memoryStep, blocks) {
  const [block] = blocks;
  const isSingle = blocks.length === 1;
  const storageUid = (isSingle && block.storage) || null;
  const { name, gradient } = storageUid ? storageName(memoryStep, storageUid) : { name: "", gradient: false };
  return {
    blocks,
    state: isSingle ? stateOf(block) : "several",
    size: blocks.reduce((sum, { size }) => sum + size, 0),
    requested: blocks.reduce(
      (sum, { size, requested, state }) => sum + (state === "inactive" ? 0 : (requested ?? size)),
      0,
    ),
    name,
    storage: storageUid,
    gradient,
    touched: blocks.some((member) => member.storage && memoryStep.touched.uids.has(member.storage)),
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
  const namedHandle = handles.find((uid) => paths.has(uid) && isHandle(memoryStep.entities.get(uid)));
  const path =
    namedHandle !== undefined
      ? paths.get(namedHandle)
      : ownerUid !== undefined
        ? ownersName(memoryStep, ownerUid)
        : undefined;
  const [, parameterName, kind] = path?.match(OPTIMIZER_STATE_PATH) ?? [];
  return { name: parameterName ? `${parameterName} ${kind}` : (path ?? storageUid), gradient: ownerUid !== undefined };
}

/** @param {MemoryStep} memoryStep @param {string} ownerUid of a gradient */
function ownersName(memoryStep, ownerUid) {
  const path = memoryStep.names.paths.get(ownerUid);
  return path && `${path}.grad`;
}

/** The parts in as many lines as they need for their names, up to some. @param {BlockPart[]} parts @param {number} lineWidth @returns {BlockPart[][]} */
function wrapParts(parts, lineWidth) {
  const wishedWidths = parts.map(wishedWidthOf);
  const totalWished = wishedWidths.reduce((sum, w) => sum + w, 0);
  const count = Math.min(MAX_LINES, Math.ceil(totalWished / lineWidth));
  const lines = /** @type {BlockPart[][]} */ (Array.from({ length: Math.max(1, count) }, () => []));
  let widthBefore = 0;
  parts.forEach((part, k) => {
    lines[
      Math.min(lines.length - 1, Math.floor(((widthBefore + wishedWidths[k] / 2) / totalWished) * lines.length))
    ].push(part);
    widthBefore += wishedWidths[k];
  });
  return lines.filter((line) => line.length);
}

/** Each gets room for its name, as far as there is any; what is left is shared by size. @param {BlockPart[]} parts @param {number} lineWidth */
function shareLineWidth(parts, lineWidth) {
  const wishedWidths = parts.map(wishedWidthOf);
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const leastWidths = parts.map((part, k) =>
    parts.length > MAX_WIDE_PARTS
      ? MIN_BLOCK_WIDTH
      : part.state === "free"
        ? wishedWidths[k]
        : Math.min(wishedWidths[k], SHORT_NAME_WIDTH),
  );
  const [totalWished, totalLeast] = [sum(wishedWidths), sum(leastWidths)];
  const shareOfWish =
    totalWished <= lineWidth ? 1 : Math.max(0, lineWidth - totalLeast) / (totalWished - totalLeast || 1);
  const squeezeFactor = totalLeast > lineWidth ? lineWidth / totalLeast : 1;
  const spareWidth = Math.max(0, lineWidth - totalWished);
  const total = sum(parts.map(({ size }) => size)) || 1;
  let x = 0;
  parts.forEach((part, k) => {
    part.x = x;
    part.w =
      (leastWidths[k] + (wishedWidths[k] - leastWidths[k]) * shareOfWish) * squeezeFactor +
      (spareWidth * part.size) / total;
    x += part.w;
  });
}

/** The width at which a part can say what it is. @param {BlockPart} part */
function wishedWidthOf({ state, name, size }) {
  if (state === "several") return MIN_BLOCK_WIDTH;
  if (state === "free") return Math.max(FREE_WIDTH, textWidth(freeText(size), SIZE_FONT) + 10);
  return Math.min(name.length || 5, MAX_WISHED_CHARACTERS) * EM * BLOCK_FONT + 12;
}

/** Free bytes, rounded down: next to others, what is left of 2 MiB is not 2 MiB. @param {number} bytes */
export function freeText(bytes) {
  const [unit, size] = bytes >= 2 ** 30 ? ["GiB", 2 ** 30] : ["MiB", 2 ** 20];
  return bytes < 2 ** 20 ? bytesText(bytes) : `${Math.floor((bytes / size) * 100) / 100} ${unit}`;
}
