/** An optimizer that steps tensors to which no gradient comes, while the gradients go to parameters that no optimizer has. */

import { fix, link, namesOf } from "./finding.js";
import { optimizersOf, parametersOf } from "./optimizers.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {{optimizer: string, made: number, step: number, held: string[], trained: string[], grad: number}} Miss
 *   made, step, grad: steps at which it was made, last stepped, and the first gradient came to what it lacks */

/** @type {WeakMap<object, Miss[]>} */
const cache = new WeakMap();

/** @param {RunFacts} facts @returns {Miss[]} */
export function optimizerMisses(facts) {
  const known = cache.get(facts.trace);
  if (known) return known;
  const optimizers = [...optimizersOf(facts).values()].filter(({ steps }) => steps.length);
  const held = new Map(optimizers.map(({ uid, steps }) => [uid, parametersOf(facts, uid, steps[steps.length - 1])]));
  const all = new Set([...held.values()].flat());
  const grads = facts.events("grad_accumulated");
  const stray = grads.filter(({ tensor }) => !all.has(tensor) && isParameter(facts, tensor));
  const isWritten = stray.some(({ tensor, step }) =>
    facts.writesOf(facts.tensor(tensor, step)?.storage).some((write) => write.step > step),
  );
  const out = optimizers.flatMap(({ uid, made, steps }) => {
    const params = held.get(uid) ?? [];
    const reached = grads.some(({ tensor, step }) => step > made && params.includes(tensor));
    const strays = stray.filter(({ step }) => step > made && step < steps[steps.length - 1]);
    if (!params.length || reached || !strays.length || isWritten) return [];
    const trained = [...new Set(strays.map(({ tensor }) => tensor))];
    if (!sameShapes(facts, params, trained, steps[steps.length - 1])) return [];
    return [{ optimizer: uid, made, step: steps[steps.length - 1], held: params, trained, grad: strays[0].step }];
  });
  cache.set(facts.trace, out);
  return out;
}

/** @param {RunFacts} facts @param {string} uid */
function isParameter(facts, uid) {
  return facts.scan.initialFields(uid)?.type === "Parameter";
}

/** Whether some of both are of one shape: a copy of a module, or a module made again. @param {RunFacts} facts @param {string[]} held
 * @param {string[]} trained @param {number} step */
function sameShapes(facts, held, trained, step) {
  const shapes = new Set(held.map((uid) => String(facts.tensor(uid, step)?.shape)));
  return trained.every((uid) => shapes.has(String(facts.tensor(uid, step)?.shape)));
}

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function missedByOptimizer(facts) {
  return optimizerMisses(facts).map((miss) => {
    const [uid] = miss.trained;
    const ownerUid = facts.index.moduleOf.get(uid) ?? uid;
    const born = Math.max(facts.birth(uid), facts.birth(ownerUid));
    const cause = born > miss.made ? stepOfFirstName(facts, ownerUid, born) : miss.made;
    const x = facts.nameFact(uid, miss.grad);
    const o = facts.nameFact(miss.optimizer, miss.step);
    const all = {
      x,
      optimizer: o,
      n: miss.trained.length,
      made: facts.steps[miss.made].line,
      step: facts.steps[miss.step].line,
    };
    const moved = link(facts.place(cause), "moved", { x, code: facts.codeFact(cause) }, [uid]);
    const madeLink = link(facts.place(miss.made), "made", { x: o }, [miss.optimizer]);
    return {
      variant: born > miss.made ? "not_given" : "others_given",
      cause: facts.place(cause),
      chain: [
        madeLink,
        ...(born > miss.made ? [moved] : []),
        link(facts.place(miss.grad), "gradient", { x }, [uid]),
        link(facts.place(miss.step), "none", { x, code: facts.codeFact(miss.step) }, [miss.optimizer]),
      ],
      names: namesOf(x, o),
      facts: { ...all, code: facts.codeFact(cause) },
      fixes: optimizerFixes(facts, miss.made, ownerUid, born > miss.made ? cause : null, miss.grad),
    };
  });
}

/** The optimizer made later, or of the module that is trained. @param {RunFacts} facts @param {number} made
 * @param {string} ownerUid of the parameters @param {number | null} later the step after which they are there @param {number} step */
function optimizerFixes(facts, made, ownerUid, later, step) {
  const name = facts.nameText(ownerUid, step) ?? "";
  const place = facts.place(made);
  if (later === null) return [fix("optimizer_of", place, { name })];
  const to = facts.steps[later].line;
  return [fix("optimizer_later", place, { to }), fix("optimizer_of", place, { name, to })];
}

/** The step at which a module got its name, where that follows its birth in the same statement.
 * @param {RunFacts} facts @param {string} uid @param {number} born */
function stepOfFirstName(facts, uid, born) {
  return facts.scan.bindings.get(uid)?.find(({ step }) => step >= born)?.step ?? born;
}
