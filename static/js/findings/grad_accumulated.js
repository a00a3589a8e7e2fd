/** A second backward into a `.grad` that was not reset, where what was added up is used again. */

import { addToList } from "../trace/multimap.js";
import { fix, link, namesOf } from "./finding.js";
import { gradName } from "./gradient_name.js";
import { readsOfGrad } from "./grad_readings.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/**
 * @typedef {{step: number, event: "added" | "updated" | "reset" | "read"}} GradMoment
 *   of a tensor's life: a gradient added to its `.grad`, its own numbers written, its `.grad` emptied, its `.grad` read
 */

const MAX_NAMES = 8;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function gradAccumulated(facts) {
  const laterAdditions = facts.events("grad_accumulated").filter(({ first }) => !first);
  const tensors = [...new Set(laterAdditions.map(({ tensor }) => tensor))];
  const skippedResets = tensors.length ? possibleResets(facts) : [];
  /** @type {Map<string, {diagnosis: Diagnosis, uids: string[]}>} */
  const out = new Map();
  for (const uid of tensors) {
    const staleSum = findStaleSum(gradMoments(facts, uid, skippedResets));
    if (!staleSum) continue;
    const key = `${facts.steps[staleSum.again].line} ${staleSum.used ? "used" : "read"}`;
    const sameLine = out.get(key);
    if (sameLine) addTensorTo(sameLine.diagnosis, facts, uid, staleSum.again);
    else out.set(key, { diagnosis: diagnosisOf(facts, uid, staleSum), uids: [uid] });
  }
  return [...out.values()].map(({ diagnosis }) => diagnosis);
}

/** @typedef {{first: number, between: number, again: number, used: boolean, effect: number}} StaleSum
 *   steps: the first sum, what was done with it, the second sum, what is done with that; used: it updates the tensor */

/** @param {RunFacts} facts @param {string} uid @param {StaleSum} pattern @returns {Diagnosis} */
function diagnosisOf(facts, uid, { first: firstSum, between: firstUse, again: secondSum, used, effect }) {
  const x = facts.nameFact(uid, secondSum);
  const additionLink = (/** @type {number} */ step) =>
    link(facts.place(step), "gradient", { x, grad: gradName(x), code: facts.codeFact(step) }, [
      uid,
      gradOf(facts, uid, step),
    ]);
  const role = used ? "written" : "read";
  const useLink = (/** @type {number} */ step) =>
    link(facts.place(step), role, { x, grad: gradName(x), code: facts.codeFact(step) }, [uid]);
  const isLoop = facts.steps[firstSum].stmt === facts.steps[secondSum].stmt;
  return {
    variant: `${used ? "used" : "read"}${isLoop ? "_loop" : ""}`,
    severity: used ? "warning" : "note",
    cause: facts.place(secondSum),
    chain: [additionLink(firstSum), useLink(firstUse), additionLink(secondSum), useLink(effect)],
    names: namesOf(x),
    facts: {
      x,
      grads: [gradName(x)],
      code: facts.codeFact(secondSum),
      first: facts.steps[firstSum].line,
      effect: facts.steps[effect].line,
    },
    fixes: [fix("zero_grad", facts.place(secondSum))],
  };
}

/** @param {Diagnosis} diagnosis @param {RunFacts} facts @param {string} uid @param {number} step */
function addTensorTo(diagnosis, facts, uid, step) {
  const grads = /** @type {import("./finding.js").Fact[]} */ (diagnosis.facts.grads);
  const name = facts.nameFact(uid, step);
  if (grads.length >= MAX_NAMES) return;
  grads.push(gradName(name));
  diagnosis.names = namesOf(...diagnosis.names, name);
}

/** @param {RunFacts} facts @param {string} uid @param {number} step */
function gradOf(facts, uid, step) {
  return /** @type {string | null} */ (tensorHistory(facts).valueAt(uid, "grad", step));
}

/** Steps before which iterations of a loop were not recorded: a reset may lie among them. @param {RunFacts} facts @returns {GradMoment[]} */
function possibleResets({ steps }) {
  return steps.flatMap(({ skipped }, step) => (skipped ? [{ step, event: "reset" }] : []));
}

/** @param {number} step @returns {GradMoment} */
function addedMoment(step) {
  return { step, event: "added" };
}

/** What became of a tensor and its `.grad`, in order. @param {RunFacts} facts @param {string} uid @param {GradMoment[]} skippedResets
 * @returns {GradMoment[]} */
function gradMoments(facts, uid, skippedResets) {
  const history = tensorHistory(facts);
  /** @type {GradMoment[]} */
  const moments = [...skippedResets, ...additionsTo(facts, uid).map(({ step }) => addedMoment(step))];
  for (const { step, value } of history.changes(uid, "grad")) if (!value) moments.push({ step, event: "reset" });
  const grads = new Set(history.changes(uid, "grad").map(({ value }) => value));
  for (const grad of grads) {
    const storage = history.valueAt(String(grad), "storage", facts.steps.length);
    for (const { step } of facts.writesOf(/** @type {string | null} */ (storage)))
      if (!facts.steps[step].visit) moments.push({ step, event: "reset" });
  }
  const storageUid = /** @type {string | null} */ (history.valueAt(uid, "storage", facts.steps.length));
  for (const { step } of facts.writesOf(storageUid)) moments.push({ step, event: "updated" });
  for (const step of readsOfGrad(facts, uid)) moments.push({ step, event: "read" });
  return moments.sort((a, b) => a.step - b.step);
}

/**
 * The first time that a sum was used, added to without a reset, and used again. That alone tells it from gradients that are
 * added up on purpose, and from those of another loss that are thrown away.
 * @param {GradMoment[]} moments @returns {StaleSum | null}
 */
function findStaleSum(moments) {
  let firstStaleSum = null;
  for (const use of /** @type {const} */ (["updated", "read"])) {
    let [firstSum, firstUse, secondSum] = [-1, -1, -1];
    for (const { step, event } of moments) {
      if (event === "reset") [firstSum, firstUse, secondSum] = [-1, -1, -1];
      else if (event === "added") {
        if (firstUse >= 0) secondSum = secondSum < 0 ? step : secondSum;
        else firstSum = step;
      } else if (event === use) {
        if (secondSum >= 0) {
          firstStaleSum ??= {
            first: firstSum,
            between: firstUse,
            again: secondSum,
            used: use === "updated",
            effect: step,
          };
          break;
        }
        if (firstSum >= 0) firstUse = step;
      }
    }
  }
  return firstStaleSum;
}

/** @type {WeakMap<object, Map<string, import("./scan.js").Occurrence<"grad_accumulated">[]>>} */
const additionsOfTrace = new WeakMap();

/** The gradients that were added to a tensor's `.grad`, in order. @param {RunFacts} facts @param {string} uid */
function additionsTo(facts, uid) {
  let byTensor = additionsOfTrace.get(facts.trace);
  if (!byTensor) {
    byTensor = new Map();
    for (const event of facts.events("grad_accumulated")) addToList(byTensor, event.tensor, event);
    additionsOfTrace.set(facts.trace, byTensor);
  }
  return byTensor.get(uid) ?? [];
}
