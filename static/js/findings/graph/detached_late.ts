/** A tensor that was detached in place after something was computed from it: that graph stays as it was recorded. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "detached_late",
    severity: "note",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: (facts) => groupBy(detachedInPlace(facts), ({ step }) => facts.steps[step].stmt),
    /** Of one statement, which detaches nothing that is taken later: the first whose node a backward visits. */
    say: (facts, detached) => {
      if (detached.some(({ uid, step }) => facts.usesOf(uid).some((op) => op.step > step))) return null;
      const [late] = detached.flatMap(({ uid, step }) => findLateDetach(facts, uid, step) ?? []);
      if (!late) return null;
      const { uid, node, step, visit, user } = late;
      return {
        cause: step,
        chain: [
          [user.step, "used", [uid, user.result]],
          [step, "cut", [uid]],
          [visit, "way", [node]],
        ],
        facts: {
          x: facts.nameFact(uid, step),
          y: facts.nameFact(user.result, user.step),
          operation: facts.nodeOperationName(node),
          use: facts.steps[user.step].line,
          effect: facts.steps[visit].line,
        },
      };
    },
  }),
];

function detachedInPlace({ scan }: RunFacts) {
  return [...scan.inPlaceOperationsByTensor].flatMap(([uid, operations]) =>
    operations.flatMap(({ name, step }) => (name === "aten::detach_" ? [{ uid, step }] : [])),
  );
}

/** The node of a tensor that is detached at a step, its later visit, and what was computed from it and walked there. */
function findLateDetach(facts: RunFacts, uid: string, step: number) {
  const node = facts.gradFnOf(uid, step - 1);
  const visit = facts.visitsOf(node).find((visitStep) => visitStep > step);
  if (!node || visit === undefined) return null;
  const backwardOf = (at: number) => facts.steps[at].visit?.backward;
  const user = facts
    .usesOf(uid)
    .filter((op) => op.step < step)
    .flatMap(({ step: at, outputs }) => {
      const result = outputs.find((output) => output !== uid);
      return result ? [{ step: at, result }] : [];
    })
    .find(({ result, step: at }) =>
      facts.visitsOf(facts.gradFnOf(result, at)).some((visited) => backwardOf(visited) === backwardOf(visit)),
    );
  return user ? { uid, node, step, visit, user } : null;
}
