/** A tensor that was detached in place after something was computed from it: that graph stays as it was recorded. */

import { link, namesOf, type Diagnosis } from "./finding.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";

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
export function detachedLate(facts: RunFacts): Diagnosis[] {
  if (!facts.backwards.length) return [];
  /** the first of each statement; null where its detaching had a use */
  const byStatement = new Map<unknown, LateDetach | null>();
  for (const [uid, operations] of facts.scan.inPlace)
    for (const { step } of operations.filter(({ name }) => name === "aten::detach_")) {
      const { stmt } = facts.steps[step];
      if (byStatement.get(stmt) === null) continue;
      if (isTakenAfter(facts, uid, step)) byStatement.set(stmt, null);
      else if (!byStatement.has(stmt)) {
        const late = lateDetach(facts, uid, step);
        if (late) byStatement.set(stmt, late);
      }
    }
  return [...byStatement.values()].flatMap((late) => (late ? [diagnosisOf(facts, late)] : []));
}

function lateDetach(facts: RunFacts, uid: string, detached: number): LateDetach | null {
  const node = tensorHistory(facts).valueAt(uid, "grad_fn", detached - 1);
  if (typeof node !== "string") return null;
  const visit = facts.index.visitStepsByNode.get(node)?.find((visitStep) => visitStep > detached);
  if (visit === undefined) return null;
  const usage = usesBefore(facts, uid, detached).find(({ result, step }) => {
    const nodeOfResult = tensorHistory(facts).valueAt(result, "grad_fn", step);
    return facts.index.visitStepsByNode
      .get(String(nodeOfResult))
      ?.some((visitStep) => backwardOfVisit(facts, visitStep) === backwardOfVisit(facts, visit));
  });
  return usage ? { uid, node, detached, visit, user: usage } : null;
}

/** @param step of a visit */
function backwardOfVisit(facts: RunFacts, step: number) {
  return facts.steps[step].visit?.backward;
}

/** What was computed from a tensor before a step. */
function usesBefore(facts: RunFacts, uid: string, before: number): LateDetach["user"][] {
  const users: LateDetach["user"][] = [];
  for (let step = facts.birth(uid); step < before; step++)
    for (const { inputs, outputs } of facts.opsAt(step)) {
      const result = outputs.find((output) => output !== uid);
      if (inputs.includes(uid) && result) users.push({ step, result });
    }
  return users;
}

/** Whether an operation took a tensor after a step. */
function isTakenAfter(facts: RunFacts, uid: string, step: number) {
  for (let laterStep = step + 1; laterStep < facts.steps.length; laterStep++)
    if (facts.opsAt(laterStep).some(({ inputs }) => inputs.includes(uid))) return true;
  return false;
}

function diagnosisOf(facts: RunFacts, { uid, node, detached, visit, user: usage }: LateDetach): Diagnosis {
  const x = facts.nameFact(uid, detached);
  const y = facts.nameFact(usage.result, usage.step);
  return {
    cause: facts.place(detached),
    chain: [
      link(facts.place(usage.step), "used", { x, y, code: facts.codeFact(usage.step) }, [uid, usage.result]),
      link(facts.place(detached), "cut", { x, y, code: facts.codeFact(detached) }, [uid]),
      link(facts.place(visit), "way", { x, operation: facts.operation(node) }, [node]),
    ],
    names: namesOf(x, y),
    facts: {
      x,
      y,
      operation: facts.operation(node),
      code: facts.codeFact(detached),
      use: facts.steps[usage.step].line,
      effect: facts.steps[visit].line,
    },
    fixes: [],
  };
}
