/** Whether a gradient is nothing but zeros, and whether that is worth a warning. */

import type { RunFacts } from "../diagnosis.ts";
import { stepsReadingGrad } from "../statements/grad_readings.ts";
import { cellAsNumber } from "../facts/cell_values.ts";
import type { Grad } from "../../trace/wire.ts";

export function isZeroGradient(grad: Grad | null | undefined) {
  if (grad?.cells) return grad.cells.length > 0 && grad.cells.every((cell) => cellAsNumber(cell) === 0);
  return Boolean(grad?.summary && cellAsNumber(grad.summary.min) === 0 && cellAsNumber(grad.summary.max) === 0);
}

/** Whether more than one backward brought a leaf nothing, or the program looks at its `.grad`: one batch may turn a
 * ReLU off. */
export function isWorthWarning(facts: RunFacts, uid: string) {
  const accumulations = facts.gradientsTo(uid);
  return (
    new Set(accumulations.map(({ step }) => facts.backwardAt(step)?.uid)).size > 1 ||
    stepsReadingGrad(facts, uid).length > 0
  );
}
