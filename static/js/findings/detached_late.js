/** A tensor that was detached in place after something was computed from it: that graph stays as it was recorded. */

import { link, namesOf } from "./finding.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @typedef {{uid: string, node: string, detached: number, visit: number, user: {step: number, result: string}}} Late
 *   node: of the result; visit: the step at which a backward comes to it; user: what was computed from it, and when */

/** Results whose node a backward visits though they were detached, by a statement that detaches nothing which is taken later.
 * @param {RunFacts} facts @returns {Diagnosis[]} */
export function detachedLate(facts) {
  if (!facts.backwards.length) return [];
  /** @type {Map<unknown, Late | null>} the first of each statement; null where its detaching had a use */
  const byStatement = new Map();
  for (const [uid, operations] of facts.scan.inPlace)
    for (const { step } of operations.filter(({ name }) => name === "aten::detach_")) {
      const { stmt } = facts.steps[step];
      if (byStatement.get(stmt) === null) continue;
      if (isTakenAfter(facts, uid, step)) byStatement.set(stmt, null);
      else if (!byStatement.has(stmt)) {
        const late = lateOf(facts, uid, step);
        if (late) byStatement.set(stmt, late);
      }
    }
  return [...byStatement.values()].flatMap((late) => (late ? [diagnosisOf(facts, late)] : []));
}

/** @param {RunFacts} facts @param {string} uid @param {number} detached @returns {Late | null} */
function lateOf(facts, uid, detached) {
  const node = tensorHistory(facts).value(uid, "grad_fn", detached - 1);
  if (typeof node !== "string") return null;
  const visit = facts.index.visitsOf.get(node)?.find((at) => at > detached);
  if (visit === undefined) return null;
  const user = usersOf(facts, uid, detached).find(({ result, step }) => {
    const reader = tensorHistory(facts).value(result, "grad_fn", step);
    return facts.index.visitsOf.get(String(reader))?.some((at) => backwardOf(facts, at) === backwardOf(facts, visit));
  });
  return user ? { uid, node, detached, visit, user } : null;
}

/** @param {RunFacts} facts @param {number} step of a visit */
function backwardOf(facts, step) {
  return facts.steps[step].visit?.backward;
}

/** What was computed from a tensor before a step. @param {RunFacts} facts @param {string} uid @param {number} before
 * @returns {Late["user"][]} */
function usersOf(facts, uid, before) {
  /** @type {Late["user"][]} */
  const users = [];
  for (let step = facts.birth(uid); step < before; step++)
    for (const { inputs, outputs } of facts.opsAt(step)) {
      const result = outputs.find((output) => output !== uid);
      if (inputs.includes(uid) && result) users.push({ step, result });
    }
  return users;
}

/** Whether an operation took a tensor after a step. @param {RunFacts} facts @param {string} uid @param {number} step */
function isTakenAfter(facts, uid, step) {
  for (let at = step + 1; at < facts.steps.length; at++)
    if (facts.opsAt(at).some(({ inputs }) => inputs.includes(uid))) return true;
  return false;
}

/** @param {RunFacts} facts @param {Late} late @returns {Diagnosis} */
function diagnosisOf(facts, { uid, node, detached, visit, user }) {
  const x = facts.nameFact(uid, detached);
  const y = facts.nameFact(user.result, user.step);
  return {
    cause: facts.place(detached),
    chain: [
      link(facts.place(user.step), "used", { x, y, code: facts.codeFact(user.step) }, [uid, user.result]),
      link(facts.place(detached), "cut", { x, y, code: facts.codeFact(detached) }, [uid]),
      link(facts.place(visit), "way", { x, operation: facts.operation(node) }, [node]),
    ],
    names: namesOf(x, y),
    facts: {
      x,
      y,
      operation: facts.operation(node),
      code: facts.codeFact(detached),
      use: facts.steps[user.step].line,
      effect: facts.steps[visit].line,
    },
    fixes: [],
  };
}
