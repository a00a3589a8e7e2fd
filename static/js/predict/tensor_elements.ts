/** What a tensor holds, as a question and its choices write it. */

import { findEntity, isSameValue, type Cell, type Handle } from "../trace/entities.ts";
import { cellsReadBy, cellAsNumber, numbersText } from "../findings/facts/cell_values.ts";
import { shortNumberText } from "../trace/format.ts";
import { numel, cellReads } from "../trace/reads.ts";
import type { Entities } from "../trace/state.ts";

/** More elements than this are asked about by their first one. */
const MAX_LISTED_ELEMENTS = 6;
const SIGNIFICANT_DIGITS = 8;
/** Of larger tensors nobody knows an element. */
const MAX_ELEMENTS_ASKED = 256;

export const cellText = (cell: Cell | undefined) => shortNumberText(cell, SIGNIFICANT_DIGITS);

/** An element as Python writes it: `a[1, 0]`, and of a scalar its name. */
export const elementExpression = (name: string, index: number[]) =>
  index.length ? `${name}[${index.join(", ")}]` : name;

/** The elements of a handle in logical order, each with its cell and index; null where the trace does not list them. */
export function elementsOfHandle(
  entities: Entities,
  handle: Handle,
): { index: number[]; cell: number; value: Cell }[] | null {
  const cells = numel(handle.shape) <= MAX_ELEMENTS_ASKED ? cellsReadBy(entities, handle) : null;
  if (!cells) return null;
  return cellReads(handle, cells.length).map(({ index, cell }, k) => ({ index, cell, value: cells[k] }));
}

/** A gradient or a tensor in a word: all its elements where they are few, else its first. */
export function elementsOrFirstElement(cells: Cell[], shape: number[]): { index: number[] | null; text: string } {
  if (cells.length <= MAX_LISTED_ELEMENTS) return { index: null, text: numbersText(cells, shape.length === 0) };
  return { index: shape.map(() => 0), text: cellText(cells[0]) };
}

/** Numbers that a reader can work out and type: at most two places after the point. */
export function isShortNumber(cell: Cell | undefined) {
  const value = typeof cell === "number" ? cell : Number.NaN;
  return Number.isFinite(value) && Math.abs(value) < 10_000 && Math.abs(value * 100 - Math.round(value * 100)) < 1e-3;
}

/** Element by element. */
export const combineCells = (a: Cell[], b: Cell[], f: (a: number, b: number) => number): Cell[] =>
  a.map((cell, k) => f(cellAsNumber(cell), cellAsNumber(b[k])));

export const haveSameCells = (a: Cell[], b: Cell[]) =>
  a.length === b.length && a.every((cell, k) => isSameValue(cell, b[k]));

/** The memory that a handle reads: a storage that lies within another is that one. */
export function memoryReadByHandle(entities: Entities, handle: Handle) {
  const storage = findEntity(entities, handle.storage, "storage");
  return storage?.within ? storage.within.storage : (handle.storage ?? null);
}
