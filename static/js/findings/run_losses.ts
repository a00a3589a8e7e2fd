/** The losses that a run's loop binds or prints, with their values from round to round. */

import { findScalarSeries } from "../trace/scalar_series.ts";
import type { Trace } from "../trace/wire.ts";

const LOSS_NAME = /loss|err|cost|mse|mae|nll|损失|误差/i;

/** As many values as a reply holds; of a longer training these are evenly chosen, the first and the last among them. */
const MAX_VALUES = 100;
const MAX_NAME_CHARACTERS = 100;

type LossValue = number | { $f: string };

/** The most telling first, each name once. */
export function lossesOfRun(trace: Trace): { name: string; values: LossValue[] }[] {
  const named = findScalarSeries(trace).flatMap(({ name, points }) =>
    name && LOSS_NAME.test(name) && name.length <= MAX_NAME_CHARACTERS
      ? [{ name, values: evenlyChosen(points, MAX_VALUES).map(({ value }) => encodeLossValue(value)) }]
      : [],
  );
  return named.filter(({ name }, k) => named.findIndex((other) => other.name === name) === k);
}

/** At most so many of the items, the first and the last among them. */
function evenlyChosen<T>(items: T[], count: number): T[] {
  if (items.length <= count) return items;
  return Array.from({ length: count }, (_, k) => items[Math.round((k * (items.length - 1)) / (count - 1))]);
}

function encodeLossValue(value: number): LossValue {
  if (Number.isFinite(value)) return value;
  return { $f: Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf" };
}
