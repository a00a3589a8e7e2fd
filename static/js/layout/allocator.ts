/** A device's memory as torch's caching allocator has it: segments, the blocks in them, and how wide each is drawn. */

import { isHandle } from "../trace/entities.ts";
import { bytesText } from "./format.ts";
import { EM, textWidth } from "./metrics.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Block, Device } from "../trace/wire.ts";
import type { Columns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { PartState, BlockPart, Segment, AllocatorItem, AllocatorLayout } from "./memory_parts.ts";

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

/** What the allocators of a step's devices hold, one line each. */
export function allocatorItems(memoryStep: MemoryStep): AllocatorItem[] {
  const out = [] as AllocatorItem[];
  for (const [uid, device] of memoryStep.entities)
    if (device.kind === "device" && device.reserved)
      out.push({ kind: "allocator", key: `allocator ${uid}`, uid, segments: segmentsOf(device) });
  return out;
}

/** The blocks by their segments. */
function segmentsOf({ segments, blocks }: Device): Segment[] {
  const out = [] as Segment[];
  let nextBlock = 0;
  for (const { size, pool, stream = 0, private: isPrivate = false } of (blocks && segments) ?? []) {
    const ownBlocks = [] as Block[];
    for (let bytesLeft = size; bytesLeft > 0 && blocks && nextBlock < blocks.length; nextBlock += 1) {
      ownBlocks.push(blocks[nextBlock]);
      bytesLeft -= blocks[nextBlock].size;
    }
    const allocated = ownBlocks.reduce((sum, block) => sum + (block.state === "inactive" ? 0 : block.size), 0);
    out.push({ size, pool, stream, isPrivate, allocated, blocks: ownBlocks });
  }
  return out;
}

export function allocatorLayout(memoryStep: MemoryStep, item: AllocatorItem, columns: Columns): AllocatorLayout {
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

const largestByRun = new WeakMap<OpenTrace, Map<string, { segments: number; blocks: number }>>();

/** The most segments and blocks that a device ever has in the run. */
function largestCounts({ model: { opened } }: MemoryStep, uid: string) {
  let largestByDevice = largestByRun.get(opened);
  if (!largestByDevice) {
    largestByDevice = new Map();
    for (const { set } of opened.trace.steps) {
      for (const [device, fields] of Object.entries(set ?? {})) {
        if (device[0] !== "d") continue;
        const largestBefore = largestByDevice.get(device) ?? { segments: 0, blocks: 0 };
        const { segments = null, blocks = null } = fields as Device;
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

/** The blocks of a segment in lines. */
function placeBlocks(memoryStep: MemoryStep, blocks: Block[], width: number): BlockPart[][] {
  const maxParts = Math.floor((MAX_LINES * width) / MIN_BLOCK_WIDTH);
  const lines = wrapParts(
    groupBlocks(blocks, maxParts).map((part) => makePart(memoryStep, part)),
    width,
  );
  for (const line of lines) shareLineWidth(line, width);
  return lines;
}

/** Neighbours together, where not each block has the least width. */
function groupBlocks(blocks: Block[], maxGroups: number): Block[][] {
  const groupSize = Math.max(1, Math.ceil(blocks.length / Math.max(1, maxGroups)));
  return Array.from({ length: Math.ceil(blocks.length / groupSize) }, (_, k) =>
    blocks.slice(k * groupSize, (k + 1) * groupSize),
  );
}

function makePart(memoryStep: MemoryStep, blocks: Block[]): BlockPart {
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

function stateOf({ state }: Block): PartState {
  if (state === "inactive") return "free";
  return state === "active_allocated" ? "allocated" : "waiting";
}

/** What the program calls a storage, after the first of its handles that has a name. */
function storageName(memoryStep: MemoryStep, storageUid: string) {
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

/** @param ownerUid of a gradient */
function ownersName(memoryStep: MemoryStep, ownerUid: string) {
  const path = memoryStep.names.paths.get(ownerUid);
  return path && `${path}.grad`;
}

/** The parts in as many lines as they need for their names, up to some. */
function wrapParts(parts: BlockPart[], lineWidth: number): BlockPart[][] {
  const wishedWidths = parts.map(wishedWidthOf);
  const totalWished = wishedWidths.reduce((sum, w) => sum + w, 0);
  const count = Math.min(MAX_LINES, Math.ceil(totalWished / lineWidth));
  const lines = Array.from({ length: Math.max(1, count) }, () => []) as BlockPart[][];
  let widthBefore = 0;
  parts.forEach((part, k) => {
    lines[
      Math.min(lines.length - 1, Math.floor(((widthBefore + wishedWidths[k] / 2) / totalWished) * lines.length))
    ].push(part);
    widthBefore += wishedWidths[k];
  });
  return lines.filter((line) => line.length);
}

/** Each gets room for its name, as far as there is any; what is left is shared by size. */
function shareLineWidth(parts: BlockPart[], lineWidth: number) {
  const wishedWidths = parts.map(wishedWidthOf);
  const sum = (list: number[]) => list.reduce((all, one) => all + one, 0);
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

/** The width at which a part can say what it is. */
function wishedWidthOf({ state, name, size }: BlockPart) {
  if (state === "several") return MIN_BLOCK_WIDTH;
  if (state === "free") return Math.max(FREE_WIDTH, textWidth(freeText(size), SIZE_FONT) + 10);
  return Math.min(name.length || 5, MAX_WISHED_CHARACTERS) * EM * BLOCK_FONT + 12;
}

/** Free bytes, rounded down: next to others, what is left of 2 MiB is not 2 MiB. */
export function freeText(bytes: number) {
  const [unit, size] = bytes >= 2 ** 30 ? ["GiB", 2 ** 30] : ["MiB", 2 ** 20];
  return bytes < 2 ** 20 ? bytesText(bytes) : `${Math.floor((bytes / size) * 100) / 100} ${unit}`;
}
