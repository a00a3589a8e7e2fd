/** How a run ended, in one sentence: that it runs, its gradients under the reader's names, and its loss. */

import { find } from "../trace/entities.js";
import { refOf } from "../trace/names.js";
import { openTrace } from "../trace/state.js";
import { cellsRead, numbersText } from "./numbers.js";

/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {import("../trace/state.js").Entities} Entities */

const MAX_GRADIENTS = 2;
const LOSS = /loss|err|cost/i;

/** @param {Trace} trace @param {Say} say @returns {string} names stand in backticks */
export function runSummary(trace, say) {
  const { status, error } = trace.outcome;
  if (status === "raised" && error) return say("outcome_raised", { type: error.type, line: error.line ?? 0 });
  if (status !== "finished") return say("outcome_other", { status });
  const values = lastValues(trace).map(({ name, text }) => `\`${name}\` = ${text}`);
  return [say("outcome_runs"), values.join(say("finding.comma"))].filter(Boolean).join(" ");
}

/** The gradients of the module's variables and its loss, at the last step at which its names live.
 * @param {Trace} trace @returns {{name: string, text: string}[]} */
function lastValues(trace) {
  const opened = openTrace(trace);
  const moduleUid = trace.steps.find(({ depth }) => !depth)?.frame;
  for (let step = trace.steps.length - 1; step >= Math.max(0, trace.steps.length - 3); step--) {
    const entities = opened.state(step);
    const names = [...(find(entities, moduleUid, "frame")?.vars ?? [])];
    const tensors = names.flatMap(([name, value]) => {
      const tensor = find(entities, refOf(value), "tensor");
      return tensor ? [{ name, tensor }] : [];
    });
    if (!tensors.length) continue;
    const gradients = tensors.flatMap(({ name, tensor }) => numbersUnderName(`${name}.grad`, entities, tensor.grad));
    const losses = tensors.flatMap(({ name, tensor }) =>
      LOSS.test(name) && tensor.shape?.length === 0 ? numbersUnderName(name, entities, uidOf(names, name)) : [],
    );
    return [...gradients.slice(0, MAX_GRADIENTS), ...losses.slice(0, 1)];
  }
  return [];
}

/** @param {[string, import("../trace/wire.js").Value][]} names @param {string} name */
function uidOf(names, name) {
  return refOf(names.find(([variable]) => variable === name)?.[1]);
}

/** A tensor's numbers under a name; nothing where the trace does not list them.
 * @param {string} name @param {Entities} entities @param {string | null | undefined} uid */
function numbersUnderName(name, entities, uid) {
  const tensor = find(entities, uid, "tensor");
  const cells = tensor ? cellsRead(entities, tensor) : null;
  return tensor && cells ? [{ name, text: numbersText(cells, tensor.shape?.length === 0) }] : [];
}
