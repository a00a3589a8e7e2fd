/** A device's memory as torch's caching allocator has it: segments, the blocks in them, and how wide each is drawn. */

import { isHandle } from "../../trace/entities.ts";
import { bytesText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../text/metrics.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Block, Device } from "../../trace/wire.ts";
import type { MemoryColumns } from "./memory_columns.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { SegmentPartState, SegmentPart, Segment, AllocatorItem, AllocatorLayout } from "./memory_parts.ts";

export const ALLOCATOR_SIZES = { top: 5, title: 20, bar: 19, line: 22, gap: 5, label: 15 };

/** Up to so many segments and blocks of a run are drawn unless the reader closes them; more where he opens them. */
const MAX_SEGMENTS_OPEN_BY_DEFAULT = 3;
const MAX_BLOCKS_OPEN_BY_DEFAULT = 24;
/** The most lines of a segment. */
const MAX_SEGMENT_LINES = 3;
/** Parts of a line beyond which what is free is as narrow as the others. */
const MAX_PARTS_WITH_WIDE_FREE_BLOCKS = 40;
/** The least width of a block, and of what is free. */
const MIN_BLOCK_WIDTH = 5;
const FREE_BLOCK_WIDTH = 34;
/** The least width of a block with a name, of few: a name of two letters is never cut. */
const MIN_NAMED_BLOCK_WIDTH = 28;
/** What an optimizer keeps for a parameter. */
const OPTIMIZER_STATE_PATH_PATTERN = /\.state\[(.+)\]\['(\w+)'\]$/;
/**
 * A block's wished width counts at most so many characters of its name; a longer one is cut only where room is short.
 */
const MAX_PREFERRED_NAME_LENGTH = 16;

/** What the allocators of a step's devices hold, one line each. */
export function allocatorItems(memoryStep: MemoryStep): AllocatorItem[] {
  const out = [] as AllocatorItem[];
  for (const [uid, device] of memoryStep.entities)
    if (device.kind === "device" && device.reserved)
      out.push({ kind: "allocator", key: `allocator ${uid}`, uid, segments: segmentsWithBlocks(device) });
  return out;
}

/** The blocks by their segments. */
function segmentsWithBlocks({ segments, blocks }: Device): Segment[] {
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

export function layoutAllocator(memoryStep: MemoryStep, item: AllocatorItem, columns: MemoryColumns): AllocatorLayout {
  const largest = maxSegmentAndBlockCounts(memoryStep, item.uid);
  const isSmall =
    !columns.phone && largest.segments <= MAX_SEGMENTS_OPEN_BY_DEFAULT && largest.blocks <= MAX_BLOCKS_OPEN_BY_DEFAULT;
  const open = item.segments.length > 0 && isSmall !== memoryStep.options.toggled.has(item.key);
  const x = columns.phone ? columns.names + 4 : columns.card;
  const w = columns.w - 14 - x;
  const labelHeight = columns.phone ? ALLOCATOR_SIZES.label : 0;
  let y = ALLOCATOR_SIZES.top + ALLOCATOR_SIZES.title;
  const segments = (open ? item.segments : []).map((segment, k) => {
    const lines = segmentLines(memoryStep, segment.blocks, w);
    const h = labelHeight + lines.length * ALLOCATOR_SIZES.line;
    const { blocks: _, ...facts } = segment;
    const placed = { ...facts, key: `segment ${k}`, lines, y, h };
    y += h + ALLOCATOR_SIZES.gap;
    return placed;
  });
  return { open, x, w, h: y, segments };
}

const maxCountsByTrace = new WeakMap<OpenTrace, Map<string, { segments: number; blocks: number }>>();

/** The most segments and blocks that a device ever has in the run. */
function maxSegmentAndBlockCounts({ model: { opened } }: MemoryStep, uid: string) {
  let largestByDevice = maxCountsByTrace.get(opened);
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
    maxCountsByTrace.set(opened, largestByDevice);
  }
  return largestByDevice.get(uid) ?? { segments: 0, blocks: 0 };
}

/** The blocks of a segment in lines. */
function segmentLines(memoryStep: MemoryStep, blocks: Block[], width: number): SegmentPart[][] {
  const maxParts = Math.floor((MAX_SEGMENT_LINES * width) / MIN_BLOCK_WIDTH);
  const lines = wrapSegmentParts(
    groupNarrowBlocks(blocks, maxParts).map((part) => makeSegmentPart(memoryStep, part)),
    width,
  );
  for (const line of lines) distributePartWidths(line, width);
  return lines;
}

/** Neighbours together, where not each block has the least width. */
function groupNarrowBlocks(blocks: Block[], maxGroups: number): Block[][] {
  const groupSize = Math.max(1, Math.ceil(blocks.length / Math.max(1, maxGroups)));
  return Array.from({ length: Math.ceil(blocks.length / groupSize) }, (_, k) =>
    blocks.slice(k * groupSize, (k + 1) * groupSize),
  );
}

function makeSegmentPart(memoryStep: MemoryStep, blocks: Block[]): SegmentPart {
  const [block] = blocks;
  const isSingle = blocks.length === 1;
  const storageUid = (isSingle && block.storage) || null;
  const { name, gradient } = storageUid ? storageNameInProgram(memoryStep, storageUid) : { name: "", gradient: false };
  return {
    blocks,
    state: isSingle ? segmentPartState(block) : "several",
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

function segmentPartState({ state }: Block): SegmentPartState {
  if (state === "inactive") return "free";
  return state === "active_allocated" ? "allocated" : "waiting";
}

/** What the program calls a storage, after the first of its handles that has a name. */
function storageNameInProgram(memoryStep: MemoryStep, storageUid: string) {
  const handles = memoryStep.readers.get(storageUid) ?? [];
  const { paths } = memoryStep.names;
  const ownerUid = handles.map((uid) => memoryStep.owners.get(uid)).find((uid) => uid !== undefined);
  const namedHandle = handles.find((uid) => paths.has(uid) && isHandle(memoryStep.entities.get(uid)));
  const path =
    namedHandle !== undefined
      ? paths.get(namedHandle)
      : ownerUid !== undefined
        ? gradientOwnerName(memoryStep, ownerUid)
        : undefined;
  const [, parameterName, kind] = path?.match(OPTIMIZER_STATE_PATH_PATTERN) ?? [];
  return { name: parameterName ? `${parameterName} ${kind}` : (path ?? storageUid), gradient: ownerUid !== undefined };
}

/** The name of the tensor that a gradient belongs to. */
function gradientOwnerName(memoryStep: MemoryStep, ownerUid: string) {
  const path = memoryStep.names.paths.get(ownerUid);
  return path && `${path}.grad`;
}

/** The parts in as many lines as they need for their names, up to some. */
function wrapSegmentParts(parts: SegmentPart[], lineWidth: number): SegmentPart[][] {
  const wishedWidths = parts.map(preferredPartWidth);
  const totalWished = wishedWidths.reduce((sum, w) => sum + w, 0);
  const count = Math.min(MAX_SEGMENT_LINES, Math.ceil(totalWished / lineWidth));
  const lines = Array.from({ length: Math.max(1, count) }, () => []) as SegmentPart[][];
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
function distributePartWidths(parts: SegmentPart[], lineWidth: number) {
  const wishedWidths = parts.map(preferredPartWidth);
  const sum = (list: number[]) => list.reduce((all, one) => all + one, 0);
  const leastWidths = parts.map((part, k) =>
    parts.length > MAX_PARTS_WITH_WIDE_FREE_BLOCKS
      ? MIN_BLOCK_WIDTH
      : part.state === "free"
        ? wishedWidths[k]
        : Math.min(wishedWidths[k], MIN_NAMED_BLOCK_WIDTH),
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
function preferredPartWidth({ state, name, size }: SegmentPart) {
  if (state === "several") return MIN_BLOCK_WIDTH;
  if (state === "free") return Math.max(FREE_BLOCK_WIDTH, textWidth(freeBytesText(size), FONT_SIZES.small) + 10);
  return Math.min(name.length || 5, MAX_PREFERRED_NAME_LENGTH) * CHARACTER_WIDTH_EM * FONT_SIZES.small + 12;
}

/** Free bytes, rounded down: next to others, what is left of 2 MiB is not 2 MiB. */
export function freeBytesText(bytes: number) {
  const [unit, size] = bytes >= 2 ** 30 ? ["GiB", 2 ** 30] : ["MiB", 2 ** 20];
  return bytes < 2 ** 20 ? bytesText(bytes) : `${Math.floor((bytes / size) * 100) / 100} ${unit}`;
}
