/** A second backward into a `.grad` that was not reset, where what was added up is used again. */

import { addToList } from "../multimap.js";
import { fix, link, namesOf } from "./finding.js";
import { gradName } from "./gradient_name.js";
import { readsOfGrad } from "./grad_readings.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/**
 * @typedef {{step: number, event: "added" | "updated" | "reset" | "read"}} Moment
 *   of a tensor's life: a gradient added to its `.grad`, its own numbers written, its `.grad` emptied, its `.grad` read
 */

const MAX_NAMES = 8;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function gradAccumulated(facts) {
  const again = facts.events("grad_accumulated").filter(({ first }) => !first);
  const tensors = [...new Set(again.map(({ tensor }) => tensor))];
  const skipped = tensors.length ? possibleResets(facts) : [];
  /** @type {Map<string, {diagnosis: Diagnosis, uids: string[]}>} */
  const out = new Map();
  for (const uid of tensors) {
    const pattern = findStaleSum(gradMoments(facts, uid, skipped));
    if (!pattern) continue;
    const key = `${facts.steps[pattern.again].line} ${pattern.used ? "used" : "read"}`;
    const ofSameLine = out.get(key);
    if (ofSameLine) addTensor(ofSameLine.diagnosis, facts, uid, pattern.again);
    else out.set(key, { diagnosis: diagnosisOf(facts, uid, pattern), uids: [uid] });
  }
  return [...out.values()].map(({ diagnosis }) => diagnosis);
}

/** @typedef {{first: number, between: number, again: number, used: boolean, effect: number}} Pattern
 *   steps: the first sum, what was done with it, the second sum, what is done with that; used: it updates the tensor */

/** @param {RunFacts} facts @param {string} uid @param {Pattern} pattern @returns {Diagnosis} */
function diagnosisOf(facts, uid, { first, between, again, used, effect }) {
  const x = facts.nameFact(uid, again);
  const additionLink = (/** @type {number} */ step) =>
    link(facts.place(step), "gradient", { x, grad: gradName(x), code: facts.codeFact(step) }, [
      uid,
      gradOf(facts, uid, step),
    ]);
  const role = used ? "written" : "read";
  const useLink = (/** @type {number} */ step) =>
    link(facts.place(step), role, { x, grad: gradName(x), code: facts.codeFact(step) }, [uid]);
  const isLoop = facts.steps[first].stmt === facts.steps[again].stmt;
  return {
    variant: `${used ? "used" : "read"}${isLoop ? "_loop" : ""}`,
    severity: used ? "warning" : "note",
    cause: facts.place(again),
    chain: [additionLink(first), useLink(between), additionLink(again), useLink(effect)],
    names: namesOf(x),
    facts: {
      x,
      grads: [gradName(x)],
      code: facts.codeFact(again),
      first: facts.steps[first].line,
      effect: facts.steps[effect].line,
    },
    fixes: [fix("zero_grad", facts.place(again))],
  };
}

/** @param {Diagnosis} diagnosis @param {RunFacts} facts @param {string} uid @param {number} step */
function addTensor(diagnosis, facts, uid, step) {
  const grads = /** @type {import("./finding.js").Fact[]} */ (diagnosis.facts.grads);
  const name = facts.nameFact(uid, step);
  if (grads.length >= MAX_NAMES) return;
  grads.push(gradName(name));
  diagnosis.names = namesOf(...diagnosis.names, name);
}

/** @param {RunFacts} facts @param {string} uid @param {number} step */
function gradOf(facts, uid, step) {
  return /** @type {string | null} */ (tensorHistory(facts).value(uid, "grad", step));
}

/** Steps before which iterations of a loop were not recorded: a reset may lie among them. @param {RunFacts} facts @returns {Moment[]} */
function possibleResets({ steps }) {
  return steps.flatMap(({ skipped }, step) => (skipped ? [{ step, event: "reset" }] : []));
}

/** @param {number} step @returns {Moment} */
function addedMoment(step) {
  return { step, event: "added" };
}

/** What became of a tensor and its `.grad`, in order. @param {RunFacts} facts @param {string} uid @param {Moment[]} skipped
 * @returns {Moment[]} */
function gradMoments(facts, uid, skipped) {
  const history = tensorHistory(facts);
  /** @type {Moment[]} */
  const moments = [...skipped, ...additionsTo(facts, uid).map(({ step }) => addedMoment(step))];
  for (const { step, value } of history.changes(uid, "grad")) if (!value) moments.push({ step, event: "reset" });
  const grads = new Set(history.changes(uid, "grad").map(({ value }) => value));
  for (const grad of grads) {
    const storage = history.value(String(grad), "storage", facts.steps.length);
    for (const { step } of facts.writesOf(/** @type {string | null} */ (storage)))
      if (!facts.steps[step].visit) moments.push({ step, event: "reset" });
  }
  const storageUid = /** @type {string | null} */ (history.value(uid, "storage", facts.steps.length));
  for (const { step } of facts.writesOf(storageUid)) moments.push({ step, event: "updated" });
  for (const step of readsOfGrad(facts, uid)) moments.push({ step, event: "read" });
  return moments.sort((a, b) => a.step - b.step);
}

/**
 * The first time that a sum was used, added to without a reset, and used again. That alone tells it from gradients that are
 * added up on purpose, and from those of another loss that are thrown away.
 * @param {Moment[]} moments @returns {Pattern | null}
 */
function findStaleSum(moments) {
  let best = null;
  for (const use of /** @type {const} */ (["updated", "read"])) {
    let [first, between, again] = [-1, -1, -1];
    for (const { step, event } of moments) {
      if (event === "reset") [first, between, again] = [-1, -1, -1];
      else if (event === "added") {
        if (between >= 0) again = again < 0 ? step : again;
        else first = step;
      } else if (event === use) {
        if (again >= 0) {
          best ??= { first, between, again, used: use === "updated", effect: step };
          break;
        }
        if (first >= 0) between = step;
      }
    }
  }
  return best;
}

/** @type {WeakMap<object, Map<string, import("./scan.js").Occurrence<"grad_accumulated">[]>>} */
const additions = new WeakMap();

/** The gradients that were added to a tensor's `.grad`, in order. @param {RunFacts} facts @param {string} uid */
function additionsTo(facts, uid) {
  let byTensor = additions.get(facts.trace);
  if (!byTensor) {
    byTensor = new Map();
    for (const event of facts.events("grad_accumulated")) addToList(byTensor, event.tensor, event);
    additions.set(facts.trace, byTensor);
  }
  return byTensor.get(uid) ?? [];
}
