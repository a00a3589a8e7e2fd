/** How the numbers of a large tensor are spread: bins from the least to the largest. */

import { cellAsNumber } from "../findings/facts/cell_values.ts";
import { classNames, h, type VNode } from "../browser/svg.ts";
import { pathMark, titleMark } from "../browser/shapes.ts";
import { normText } from "./net_words.ts";
import type { RowValues } from "./open_row.ts";

interface Histogram {
  low: number;
  high: number;
  /** how many numbers each has */
  bins: number[];
}

export const HISTOGRAM_WIDTH = 48;
const BINS = 16;

/** Of finite numbers; null where they are all the same, or the trace does not tell. */
export function histogramOf({ cells, summary }: RowValues): Histogram | null {
  if (!cells) {
    const [low, high] = [summary?.min, summary?.max].map((each) => cellAsNumber(each ?? null));
    const isSpread = Number.isFinite(low) && Number.isFinite(high) && low < high;
    return isSpread && summary?.bins ? { low, high, bins: summary.bins } : null;
  }
  const numbers = cells.map(cellAsNumber).filter(Number.isFinite);
  const low = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const high = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(low < high)) return null;
  const bins = Array<number>(BINS).fill(0);
  for (const value of numbers) bins[Math.min(BINS - 1, Math.floor(((value - low) / (high - low)) * BINS))] += 1;
  return { low, high, bins };
}

interface Box {
  x: number;
  y: number;
  height: number;
}

/** Bars on a floor; where zero lies within, it is marked. */
export function histogramMark({ low, high, bins }: Histogram, { x, y, height }: Box, className: string): VNode {
  const most = Math.max(...bins);
  const wide = HISTOGRAM_WIDTH / bins.length;
  const floor = y + height;
  const bars = bins
    .map((count, k) => {
      const tall = count ? Math.max(1, (count / most) * (height - 1)) : 0;
      return `M${x + k * wide} ${floor}v${-tall.toFixed(1)}h${(wide - 0.6).toFixed(1)}v${tall.toFixed(1)}z`;
    })
    .join("");
  const zero = x + (-low / (high - low)) * HISTOGRAM_WIDTH;
  return h("g", { class: classNames(className, "histogram") }, [
    pathMark("net-bins", bars),
    pathMark("net-bins-floor", `M${x} ${floor + 0.5}h${HISTOGRAM_WIDTH}`),
    low < 0 && high > 0 && pathMark("net-bins-zero", `M${zero.toFixed(1)} ${floor}v4`),
    titleMark(`${normText(low)} … ${normText(high)}`),
  ]);
}
