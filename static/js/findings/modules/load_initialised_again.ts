/** Numbers that were loaded, and that a module's own forward initialises again before anything has read them. */

import { diagnosis, type Diagnosis } from "../diagnosis.ts";
import { isInPlaceName } from "../../syntax/statements.ts";
import { attributeChanges } from "../facts/object_history.ts";
import { operationName } from "../facts/operation_name.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import { findInStatements } from "../statements/executed_statements.ts";
import { methodCalls } from "../../syntax/expressions.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: overwrittenLoads,
    once: ({ loaded }) => loaded,
    say: diagnosisOf,
  }),
];

const MAX_STEPS_AHEAD = 2000;
/** What puts new numbers in the place of all that were there. */
const REPLACING = /^(?:copy|normal|uniform|zero|fill|random|trunc_normal|set)_$/;
/** What takes a tensor and none of its numbers. */
const READS_NOTHING = /^(?:_has_compatible_shallow_copy_type|detach|alias|view|slice)$/;

interface OverwrittenLoad {
  uid: string;
  loaded: number;
  written: number;
  /** of the tensors that were loaded, how many were written over */
  count: number;
}

function overwrittenLoads(facts: RunFacts): OverwrittenLoad[] {
  const loads = new Set(
    findInStatements(facts, (tree) => methodCalls(tree, "load_state_dict")).map(({ step }) => step),
  );
  return [...loads].flatMap((loaded) => {
    const uids = facts.opsAt(loaded).flatMap(({ name, inputs }) => (name === "aten::copy_" ? [inputs[0]] : []));
    const found = uids.flatMap((uid) => {
      const written = overwrittenAt(facts, uid, loaded);
      return written === null || !isInForward(facts, written) ? [] : [{ uid, loaded, written, count: 0 }];
    });
    return found.map((each) => ({ ...each, count: found.length }));
  });
}

/** The step that gave a tensor other numbers, or its module another tensor, before anything read what was loaded. */
function overwrittenAt(facts: RunFacts, uid: string, loaded: number): number | null {
  const history = tensorHistoryOf(facts);
  const storage = history.valueAt(uid, "storage", loaded);
  const moved = history.fieldChanges(uid, "storage").find(({ step }) => step > loaded)?.step ?? Infinity;
  const replaced =
    attributeChanges(facts).find(({ before, step }) => before === uid && step > loaded)?.step ?? Infinity;
  const end = Math.min(moved, replaced, facts.steps.length - 1, loaded + MAX_STEPS_AHEAD);
  for (let step = loaded + 1; step <= end; step++)
    for (const { name, inputs } of facts.opsAt(step)) {
      const reads = inputs.map((each) => facts.tensor(each, step)?.storage === storage || each === uid);
      if (!reads.includes(true) || READS_NOTHING.test(operationName(name))) continue;
      const isReplaced = reads[0] && !reads.includes(true, 1) && REPLACING.test(operationName(name));
      return isReplaced && isInPlaceName(operationName(name)) ? step : null;
    }
  return Math.min(moved, replaced) <= end ? Math.min(moved, replaced) : null;
}

/** Whether a step runs in a forward, or in what that calls. */
function isInForward(facts: RunFacts, step: number): boolean {
  let uid = facts.steps[step].frame ?? "";
  for (let depth = 0; uid && depth < 50; depth++) {
    const frame = facts.entities.entityAfter(uid, step);
    if (frame?.kind !== "frame") return false;
    if (frame.name === "forward") return true;
    uid = frame.caller ?? "";
  }
  return false;
}

function diagnosisOf(facts: RunFacts, { uid, loaded, written, count }: OverwrittenLoad): Diagnosis {
  const x = facts.nameFact(uid, written - 1);
  return {
    variant: "in_forward",
    cause: written,
    chain: [
      [loaded, "way", [uid], { x: facts.nameFact(uid, loaded) }],
      [written, "written", [uid]],
    ],
    names: [x],
    facts: { x, n: count, loaded: facts.lineOf(loaded), load: facts.statementFact(loaded) },
  };
}
