/** Which cells of a storage a handle reads, in logical order: offsets and strides turned into cell numbers. */

import type { Storage } from "./wire.ts";

export interface CellRead {
  /** its rank in logical order */
  k: number;
  index: number[];
  cell: number;
}

/** how a tensor, an array or a saved slot reads a storage */
export interface StridedLayout {
  kind?: string;
  storage?: string | null;
  shape?: number[] | null;
  dtype?: string | null;
  offset?: number | null;
  stride?: number[] | null;
  at?: number;
  steps?: number[];
  /** bytes from where its memory begins to where what it calls its storage does */
  shift?: number | null;
}

/** Handles with more elements than this are drawn as an extent, not element by element. */
const MAX_ELEMENTS_DRAWN_SINGLY = 128;

const ITEM_SIZES = new Map([
  ["bool", 1],
  ["int8", 1],
  ["uint8", 1],
  ["int16", 2],
  ["uint16", 2],
  ["float16", 2],
  ["bfloat16", 2],
  ["int32", 4],
  ["uint32", 4],
  ["float32", 4],
  ["complex32", 4],
  ["int64", 8],
  ["uint64", 8],
  ["float64", 8],
  ["complex64", 8],
  ["complex128", 16],
]);

/** Without the module in front: `torch.float32` is `float32`. */
export function unqualifiedDtype(dtype: string | null | undefined) {
  return (dtype ?? "").replace(/^torch\./, "");
}

/** Bytes of one element; 1 where the dtype is not known. */
export function itemsize(dtype: string | null | undefined) {
  return ITEM_SIZES.get(unqualifiedDtype(dtype)) ?? 1;
}

export function numel(shape: number[] | null | undefined) {
  return (shape ?? []).reduce((a, b) => a * b, 1);
}

/** Offset and strides in elements, also for a numpy array, which tells them in bytes. */
function offsetAndStride(handle: StridedLayout): { offset: number; stride: number[] } {
  const size = itemsize(handle.dtype);
  const shift = (handle.shift ?? 0) / size;
  if (handle.kind !== "array") return { offset: (handle.offset ?? 0) + shift, stride: handle.stride ?? [] };
  return { offset: (handle.at ?? 0) / size + shift, stride: (handle.steps ?? []).map((step) => step / size) };
}

/** Every element in logical order with the cell it reads; empty for more than `maxElements`, or where the handle
 * does not lie on whole cells of its dtype. */
export function cellReads(handle: StridedLayout, maxElements: number = MAX_ELEMENTS_DRAWN_SINGLY): CellRead[] {
  const shape = handle.shape ?? [];
  const { offset, stride } = offsetAndStride(handle);
  const count = numel(shape);
  if (!handle.storage || count === 0 || count > maxElements || stride.length !== shape.length) return [];
  if (![offset, ...stride].every(Number.isInteger)) return [];
  const out = [];
  const index = shape.map(() => 0);
  for (let k = 0; k < count; k++) {
    out.push({ k, index: index.slice(), cell: index.reduce((sum, x, d) => sum + x * stride[d], offset) });
    for (let d = shape.length - 1; d >= 0; d--) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

/**
 * The elements of a handle that are drawn one by one over the listed cells of its storage, with the dtype under which
 * the storage lists them; no reads where some are not listed.
 */
export function individuallyDrawnReads(handle: StridedLayout, storage: Storage): { dtype: string; reads: CellRead[] } {
  const dtypeName = unqualifiedDtype(handle.dtype);
  const dtype = Object.keys(storage.cells ?? {}).find((name) => unqualifiedDtype(name) === dtypeName);
  if (dtype === undefined) return { dtype: dtypeName, reads: [] };
  const list = cellReads(handle);
  const count = storage.cells?.[dtype].length ?? 0;
  return { dtype, reads: list.some(({ cell }) => cell < 0 || cell >= count) ? [] : list };
}

/** The lines under the strip on which the reads are laid: one when memory is read forwards without repeating, else
 * one for each logical row, so that what is read twice is seen twice. */
export function splitReadsIntoLines(list: CellRead[]): CellRead[][] {
  if (list.every((r, i) => i === 0 || r.cell > list[i - 1].cell)) return list.length ? [list] : [];
  const rows = new Map<string, CellRead[]>();
  for (const read of list) {
    const row = read.index.slice(0, -1).join(",");
    const line = rows.get(row);
    if (line) line.push(read);
    else rows.set(row, [read]);
  }
  return [...rows.values()];
}

/** The first and last cell read; null for an empty handle. */
export function cellExtentOfHandle(handle: StridedLayout): [number, number] | null {
  const shape = handle.shape ?? [];
  if (!handle.storage || numel(shape) === 0) return null;
  const { offset, stride } = offsetAndStride(handle);
  let lowest = offset;
  let highest = offset;
  shape.forEach((n, d) => {
    const span = (n - 1) * (stride[d] ?? 0);
    if (span < 0) lowest += span;
    else highest += span;
  });
  return [Math.floor(lowest), Math.floor(highest)];
}
