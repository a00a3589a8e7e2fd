/** The numbers that a tensor held at a step, or how far they reach where the trace does not list them. */

import { findEntity, findHandle, type Cell } from "../../trace/entities.ts";
import { itemsize, unqualifiedDtype } from "../../trace/reads.ts";
import { cellAsNumber, cellsOfRow, cellsReadBy } from "./cell_values.ts";
import type { RecordedRun } from "./recorded_run.ts";

/**
 * The elements of a tensor after a step, of one that the step made and freed as it was made, of one that it freed as it
 * was before; null where they are not listed.
 */
export function cellsOfTensor(facts: RecordedRun, uid: string, step: number): Cell[] | null {
  const handle = facts.handle(uid, step);
  if (!handle) return null;
  const currentCells = cellsReadBy(facts.stateAt(step), handle);
  // of what is there the trace may list no numbers any more
  if (currentCells || findHandle(facts.stateAt(step), uid)) return currentCells;
  const made = facts.steps[step].set[handle.storage ?? ""]?.cells?.[unqualifiedDtype(handle.dtype ?? "")];
  if (made) return cellsOfRow(made, handle);
  return step > 0 ? cellsReadBy(facts.stateAt(step - 1), handle) : null;
}

/** The elements as numbers. */
export function numbersOfTensor(facts: RecordedRun, uid: string, step: number): number[] | null {
  return cellsOfTensor(facts, uid, step)?.map(cellAsNumber) ?? null;
}

/** The smallest and the largest element of a tensor; null where the trace tells neither, or some are not finite. */
export function rangeOfTensor(facts: RecordedRun, uid: string, step: number): { min: number; max: number } | null {
  const numbers = numbersOfTensor(facts, uid, step);
  if (numbers) return numbers.length ? { min: Math.min(...numbers), max: Math.max(...numbers) } : null;
  const handle = facts.handle(uid, step);
  const storage = findEntity(facts.stateAt(step), handle?.storage, "storage");
  const summary = (storage?.summary ?? facts.steps[step].set[handle?.storage ?? ""]?.summary)?.[
    unqualifiedDtype(handle?.dtype ?? "")
  ];
  // a summary counts finite numbers alone: with others, such as the scores that a mask hides, the range is not known
  const counted = summary?.bins?.reduce((sum, count) => sum + count, 0);
  const isAllFinite = counted === undefined || counted >= (storage?.nbytes ?? 0) / itemsize(handle?.dtype);
  return summary && summary.min != null && summary.max != null && isAllFinite
    ? { min: cellAsNumber(summary.min), max: cellAsNumber(summary.max) }
    : null;
}

/** The sums of all elements along a dimension, in logical order. */
export function sumsAlong(numbers: number[], shape: number[], dim: number): number[] {
  const inner = shape.slice(dim + 1).reduce((a, b) => a * b, 1);
  const size = shape[dim];
  const sums = new Array<number>(numbers.length / size).fill(0);
  numbers.forEach((number, k) => {
    const outer = Math.floor(k / (inner * size));
    sums[outer * inner + (k % inner)] += number;
  });
  return sums;
}
