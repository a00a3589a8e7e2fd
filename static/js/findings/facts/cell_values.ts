/** The elements that a handle or a saved slot reads, as cells, as numbers and as text. */

import type { Slot } from "../../trace/wire.ts";
import { findEntity, type Cell, type EntityLookup } from "../../trace/entities.ts";
import { shortNumberText } from "../../trace/format.ts";
import { unqualifiedDtype, cellReads, type StridedLayout } from "../../trace/reads.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

const NO_WINDOWS: [number, Cell[]][] = [];
const MAX_CELLS_READ = 1024;
const MAX_LISTED_NUMBERS = 6;

/** The elements in logical order; null where the trace does not list them. */
export function cellsReadBy(entities: EntityLookup, handleOrSlot: StridedLayout | Slot): Cell[] | null {
  if ("value" in handleOrSlot && handleOrSlot.value != null) return [handleOrSlot.value];
  const dtype = unqualifiedDtype(handleOrSlot.dtype);
  const storage = findEntity(entities, handleOrSlot.storage, "storage");
  const row = storage?.cells?.[dtype] ?? cellsInWindows(storage?.windows?.[dtype] ?? NO_WINDOWS);
  return cellsOfRow(row, handleOrSlot);
}

/** Of a storage's cells those that a handle reads, in logical order; null where one of them is not known. */
export function cellsOfRow(row: Cell[], handleOrSlot: StridedLayout | Slot): Cell[] | null {
  const cells = cellReads(handleOrSlot, MAX_CELLS_READ).map(({ cell }) => row[cell]);
  return cells.length && cells.every((cell) => cell !== undefined) ? cells : null;
}

/** What is known of a storage that is too large to list, by index. */
const cellsInWindows = weakMemoize((windows: [number, Cell[]][]) => {
  const row: Cell[] = [];
  for (const [from, values] of windows) for (const [k, value] of values.entries()) row[from + k] = value;
  return row;
});

/** A cell as a number; also of values that JSON has no number for. A complex one is no number, unless it is 0. */
export function cellAsNumber(cell: Cell | null | undefined): number {
  if (typeof cell === "number") return cell;
  if (cell && typeof cell === "object" && "$c" in cell) return cell.$c.every((part) => part === 0) ? 0 : Number.NaN;
  if (typeof cell === "boolean") return Number(cell);
  if (cell && typeof cell === "object" && "$f" in cell)
    return { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }[cell.$f] ?? Number.NaN;
  return Number.NaN;
}

/** Whether a cell, or a part of a complex one, is NaN or an infinity. */
export function isNonfiniteCell(cell: Cell | null | undefined): boolean {
  if (cell === null || typeof cell !== "object") return false;
  return "$c" in cell ? cell.$c.some((part) => isNonfiniteCell(part as Cell)) : "$f" in cell;
}

export function isNanCell(cell: Cell | null | undefined): boolean {
  if (cell === null || typeof cell !== "object") return false;
  return "$c" in cell ? cell.$c.some((part) => isNanCell(part as Cell)) : "$f" in cell && cell.$f === "nan";
}

/** Numbers as a list, the first of them where they are many; one alone without brackets. */
export function numbersText(cells: Cell[], isScalar = false) {
  const texts = cells.slice(0, MAX_LISTED_NUMBERS).map((cell) => shortNumberText(cell, 8));
  if (isScalar && texts.length === 1) return texts[0];
  return `[${texts.join(", ")}${cells.length > MAX_LISTED_NUMBERS ? ", …" : ""}]`;
}
