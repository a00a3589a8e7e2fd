/** The optimizers of a run: the tensors in their groups, and the steps at which they update them. */

import { find } from "../trace/entities.js";
import { pairsOf, refOf } from "../trace/names.js";
import { resolve } from "./resolve.js";

/** @typedef {import("../trace/entities.js").Value} Value */
/** @typedef {{uid: string, made: number, steps: number[]}} Optimizer   steps: at which its `step()` had run */

/** @type {WeakMap<object, Map<string, Optimizer>>} */
const cache = new WeakMap();

/** The optimizers by uid. @param {import("./run_facts.js").RunFacts} facts @returns {Map<string, Optimizer>} */
export function optimizersOf(facts) {
  const cached = cache.get(facts.trace);
  if (cached) return cached;
  /** @type {Map<string, Optimizer>} */
  const optimizers = new Map();
  for (const { uid, step, fields } of facts.index.objectChanges)
    if (fields.kind && fields.attrs && "param_groups" in fields.attrs && !optimizers.has(uid))
      optimizers.set(uid, { uid, made: step, steps: [] });
  if (optimizers.size) addOptimizerSteps(facts, optimizers);
  cache.set(facts.trace, optimizers);
  return optimizers;
}

/** @param {import("./run_facts.js").RunFacts} facts @param {Map<string, Optimizer>} optimizers */
function addOptimizerSteps(facts, optimizers) {
  /** @type {Map<string, string | null>} what a path meant when it was last looked up, by the statement and its frame */
  const uidByExpression = new Map();
  facts.steps.forEach((traceStep, i) => {
    if (traceStep.kind !== "statement" && traceStep.kind !== "return") return;
    const match = /\b([A-Za-z_][\w.]*(?:\[[^\]]*\])*)\.step\(/.exec(facts.code(i));
    if (!match) return;
    const key = `${traceStep.stmt} ${traceStep.frame}`;
    if (!uidByExpression.has(key)) uidByExpression.set(key, resolve(facts, match[1], i));
    optimizers.get(uidByExpression.get(key) ?? "")?.steps.push(i);
  });
}

/** The tensors in an optimizer's groups after a step. @param {import("./run_facts.js").RunFacts} facts @param {string} uid
 * @param {number} step @returns {string[]} */
export function parametersOf(facts, uid, step) {
  const entities = facts.state(step);
  const groups = find(entities, refOf(find(entities, uid, "object")?.attrs?.param_groups), "object")?.items ?? [];
  return groups.flatMap((group) => {
    const dict = find(entities, refOf(/** @type {Value} */ (group)), "object");
    const params = dict ? (pairsOf(dict) ?? []).find(([key]) => key === "params")?.[1] : null;
    const items = find(entities, refOf(params), "object")?.items ?? [];
    return items.flatMap((item) => refOf(/** @type {Value} */ (item)) ?? []);
  });
}
