/** How a run ended, in one sentence: that it runs, its gradients under the reader's names, and its loss. */

import { findEntity } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { openTrace, type Entities } from "../trace/state.ts";
import { cellsReadBy, numbersText } from "./facts/cell_values.ts";
import type { Trace } from "../trace/wire.ts";
import type { Translate } from "../words/sentences.ts";

const MAX_GRADIENTS = 2;
const LOSS_NAME = /loss|err|cost/i;

/** Names stand in backticks. */
export function runSummary(trace: Trace, say: Translate): string {
  const { status, error } = trace.outcome;
  if (status === "raised" && error) return say("outcome_raised", { type: error.type, line: error.line ?? 0 });
  if (status !== "finished") return say("outcome_other", { status });
  const values = finalGradientsAndLoss(trace).map(({ name, text }) => `\`${name}\` = ${text}`);
  return [say("outcome_runs"), values.join(say("finding.comma"))].filter(Boolean).join(" ");
}

/** The gradients of the module's variables and its loss, at the last step at which its names live. */
function finalGradientsAndLoss(trace: Trace): { name: string; text: string }[] {
  const opened = openTrace(trace);
  const moduleUid = trace.steps.find(({ depth }) => !depth)?.frame;
  for (let step = trace.steps.length - 1; step >= Math.max(0, trace.steps.length - 3); step--) {
    const entities = opened.state(step);
    const names = [...(findEntity(entities, moduleUid, "frame")?.vars ?? [])];
    const tensors = names.flatMap(([name, value]) => {
      const tensor = findEntity(entities, referencedUid(value), "tensor");
      return tensor ? [{ name, tensor }] : [];
    });
    if (!tensors.length) continue;
    const gradients = tensors.flatMap(({ name, tensor }) => numbersUnderName(`${name}.grad`, entities, tensor.grad));
    const losses = tensors.flatMap(({ name, tensor }) =>
      LOSS_NAME.test(name) && tensor.shape?.length === 0
        ? numbersUnderName(name, entities, referencedUid(names.find(([variable]) => variable === name)?.[1]))
        : [],
    );
    return [...gradients.slice(0, MAX_GRADIENTS), ...losses.slice(0, 1)];
  }
  return [];
}

/** A tensor's numbers under a name; nothing where the trace does not list them. */
function numbersUnderName(name: string, entities: Entities, uid: string | null | undefined) {
  const tensor = findEntity(entities, uid, "tensor");
  const cells = tensor ? cellsReadBy(entities, tensor) : null;
  return tensor && cells ? [{ name, text: numbersText(cells, tensor.shape?.length === 0) }] : [];
}
