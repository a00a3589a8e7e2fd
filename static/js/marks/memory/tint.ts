/** How a value is tinted: by its sign, and by its size beside the largest of its storage. */

import type { Cell } from "../../trace/entities.ts";

/** The largest finite magnitude. */
export function largestMagnitude(values: (Cell | null)[]) {
  return values.reduce((m: number, cell) => Math.max(m, Math.abs(finiteMagnitude(cell))), 0);
}

function finiteMagnitude(cell: Cell | null) {
  if (typeof cell === "number") return cell;
  if (cell === true) return 1;
  if (!cell || typeof cell !== "object") return 0;
  if ("$i" in cell) return Number(cell.$i);
  if ("$f" in cell) return cell.$f === "nan" ? 0 : cell.$f === "inf" ? Infinity : -Infinity;
  return 0;
}

export function signTint(cell: Cell | null, largest: number) {
  const value = finiteMagnitude(cell);
  if (value === 0) return null;
  const shareOfLargest =
    Number.isFinite(largest) && largest > 0
      ? Math.min(1, Math.abs(value) / largest)
      : Math.abs(value) === Infinity
        ? 1
        : 0;
  return { sign: value < 0 ? "neg" : "pos", opacity: 0.08 + 0.28 * shareOfLargest };
}
