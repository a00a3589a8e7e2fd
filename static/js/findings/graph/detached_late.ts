/** A tensor that was detached in place after something was computed from it: that graph stays as it was recorded. */

import type { Diagnosis, DiagnosisRow, RunFacts } from "../diagnosis.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "detached_late", severity: "note", diagnose: diagnoseLateDetach }];

interface LateDetach {
  uid: string;
  /** of the result */
  node: string;
  detached: number;
  /** the step at which a backward comes to it */
  visit: number;
  /** what was computed from it, and when */
  user: { step: number; result: string };
}

/** Results whose node a backward visits though they were detached, by a statement that detaches nothing which is
 * taken later. */
function diagnoseLateDetach(facts: RunFacts): Diagnosis[] {
  if (!facts.backwardCalls.length) return [];
  /** the first of each statement; null where its detaching had a use */
  const byStatement = new Map<unknown, LateDetach | null>();
  for (const [uid, operations] of facts.scan.inPlaceOperationsByTensor)
    for (const { step } of operations.filter(({ name }) => name === "aten::detach_")) {
      const { stmt } = facts.steps[step];
      if (byStatement.get(stmt) === null) continue;
      if (isUsedAfter(facts, uid, step)) byStatement.set(stmt, null);
      else if (!byStatement.has(stmt)) {
        const late = findLateDetach(facts, uid, step);
        if (late) byStatement.set(stmt, late);
      }
    }
  return [...byStatement.values()].flatMap((late) => (late ? [diagnosisOf(facts, late)] : []));
}

function findLateDetach(facts: RunFacts, uid: string, detached: number): LateDetach | null {
  const node = facts.history.valueAt(uid, "grad_fn", detached - 1);
  if (typeof node !== "string") return null;
  const visit = facts.visitsOf(node).find((visitStep) => visitStep > detached);
  if (visit === undefined) return null;
  const usage = resultsComputedFrom(facts, uid, detached).find(({ result, step }) => {
    const nodeOfResult = facts.history.valueAt(result, "grad_fn", step);
    return facts
      .visitsOf(String(nodeOfResult))
      .some((visitStep) => backwardOfVisit(facts, visitStep) === backwardOfVisit(facts, visit));
  });
  return usage ? { uid, node, detached, visit, user: usage } : null;
}

/** The backward that a visit, by its step, belongs to. */
function backwardOfVisit(facts: RunFacts, step: number) {
  return facts.steps[step].visit?.backward;
}

/** What was computed from a tensor before a step. */
function resultsComputedFrom(facts: RunFacts, uid: string, before: number): LateDetach["user"][] {
  const users: LateDetach["user"][] = [];
  for (let step = facts.birthStep(uid); step < before; step++)
    for (const { inputs, outputs } of facts.opsAt(step)) {
      const result = outputs.find((output) => output !== uid);
      if (inputs.includes(uid) && result) users.push({ step, result });
    }
  return users;
}

/** Whether an operation took a tensor after a step. */
function isUsedAfter(facts: RunFacts, uid: string, step: number) {
  for (let laterStep = step + 1; laterStep < facts.steps.length; laterStep++)
    if (facts.opsAt(laterStep).some(({ inputs }) => inputs.includes(uid))) return true;
  return false;
}

function diagnosisOf(facts: RunFacts, { uid, node, detached, visit, user: usage }: LateDetach): Diagnosis {
  const x = facts.nameFact(uid, detached);
  const y = facts.nameFact(usage.result, usage.step);
  return {
    cause: detached,
    chain: [
      [usage.step, "used", [uid, usage.result]],
      [detached, "cut", [uid]],
      [visit, "way", [node]],
    ],
    facts: {
      x,
      y,
      operation: facts.nodeOperationName(node),
      use: facts.steps[usage.step].line,
      effect: facts.steps[visit].line,
    },
  };
}
