/** A parameter that the optimizer or the module does not have any more, or never had: replaced, exchanged through `.data`, unregistered. */

import { exhaustedParameters } from "./exhausted_parameters.js";
import { fix, link, namesOf } from "./finding.js";
import { attributeChanges } from "./object_history.js";
import { missedByOptimizer } from "./optimizer_misses.js";
import { optimizersOf, parametersOf } from "./optimizers.js";
import { reboundInLoop } from "./rebound_loop.js";
import { tensorHistory } from "./tensor_history.js";
import { unregistered } from "./unregistered.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function parameterDetached(facts) {
  const replacedDiagnoses = replacedParameters(facts);
  const missedDiagnoses = replacedDiagnoses.length ? [] : missedByOptimizer(facts);
  return [
    ...unregistered(facts),
    ...exhaustedParameters(facts),
    ...replacedDiagnoses,
    ...missedDiagnoses,
    ...reboundInLoop(facts),
    ...sharedThroughData(facts),
  ];
}

/** Parameters that an optimizer goes on to update after the program exchanged them. @param {RunFacts} facts @returns {Diagnosis[]} */
function replacedParameters(facts) {
  /** @type {Map<string, Diagnosis>} by the step that exchanged them */
  const out = new Map();
  for (const { uid: optimizer, made, steps } of optimizersOf(facts).values()) {
    const step = steps.at(-1);
    if (step === undefined) continue;
    const updated = new Set(parametersOf(facts, optimizer, step));
    for (const change of [...exchangedParameters(facts), ...exchangedNames(facts)]) {
      const isStillUpdated =
        change.step > made && change.step < step && updated.has(change.before) && !updated.has(change.after);
      if (!isStillUpdated || out.has(`${change.step}`) || isAccumulatedAfter(facts, change.before, change.step))
        continue;
      out.set(`${change.step}`, replacedDiagnosis(facts, optimizer, change, step));
    }
  }
  return [...out.values()];
}

/** @param {RunFacts} facts @param {string} uid @param {number} step */
function isAccumulatedAfter(facts, uid, step) {
  return facts.events("grad_accumulated").some((event) => event.tensor === uid && event.step > step);
}

/** @typedef {{before: string, after: string, step: number}} TensorExchange   of one tensor for another */

/** Tensors of modules that were exchanged, alone or with their module. @param {RunFacts} facts @returns {TensorExchange[]} */
function exchangedParameters(facts) {
  return attributeChanges(facts).flatMap(({ before, after, step }) => {
    if (!before || !after) return [];
    if (before[0] === "t" && after[0] === "t") return [{ before, after, step }];
    if (before[0] !== "o" || after[0] !== "o") return [];
    const tensorAttributes = (/** @type {string} */ object) =>
      attributeChanges(facts).filter(
        (change) => change.owner === object && change.step <= step && change.after?.[0] === "t",
      );
    const tensorsAfter = tensorAttributes(after);
    return tensorAttributes(before).flatMap((attributeBefore) => {
      const attributeAfter = tensorsAfter.find(({ name }) => name === attributeBefore.name);
      return attributeAfter?.after && attributeBefore.after
        ? [{ before: attributeBefore.after, after: attributeAfter.after, step }]
        : [];
    });
  });
}

/** Names that came to mean another tensor that is trained. @param {RunFacts} facts @returns {TensorExchange[]} */
function exchangedNames(facts) {
  const history = tensorHistory(facts);
  /** @type {TensorExchange[]} */
  const exchanges = [];
  for (const meanings of facts.scan.meanings.values())
    for (let k = 1; k < meanings.length; k++) {
      const { uid: after, step } = meanings[k];
      const before = meanings[k - 1].uid;
      if (before[0] !== "t" || after[0] !== "t" || before === after) continue;
      if (hadOtherName(facts, before, meanings[k - 1])) continue;
      if (history.valueAt(after, "leaf", step) && history.valueAt(after, "requires_grad", facts.steps.length))
        exchanges.push({ before, after, step });
    }
  return exchanges.filter(({ after }) => facts.scan.read.has(after));
}

/** Whether a tensor had another name before it got this one: a name that only went along with it may go on to another.
 * @param {RunFacts} facts @param {string} uid @param {import("./scan.js").Binding} binding */
function hadOtherName(facts, uid, { name, step }) {
  return (facts.scan.bindings.get(uid) ?? []).some((other) => other.name !== name && other.step < step);
}

/** @param {RunFacts} facts @param {string} optimizerUid @param {TensorExchange} change @param {number} step @returns {Diagnosis} */
function replacedDiagnosis(facts, optimizerUid, change, step) {
  const x = facts.nameFact(change.after, change.step);
  const optimizerName = facts.nameFact(optimizerUid, step);
  const { made } = optimizersOf(facts).get(optimizerUid) ?? { made: step };
  return {
    variant: "replaced",
    cause: facts.place(change.step),
    chain: [
      link(facts.place(made), "made", { x: optimizerName }, [optimizerUid]),
      link(facts.place(change.step), "moved", { x, code: facts.codeFact(change.step) }, [change.before, change.after]),
      link(facts.place(step), "written", { x, code: facts.codeFact(step) }, [change.before]),
    ],
    names: namesOf(x, optimizerName),
    facts: {
      x,
      optimizer: optimizerName,
      code: facts.codeFact(change.step),
      made: facts.steps[made].line,
      step: facts.steps[step].line,
    },
    fixes: [
      fix("optimizer_later", facts.place(made), { to: facts.steps[change.step].line }),
      fix("in_place", facts.place(change.step)),
    ],
  };
}

/** Two parameters on one memory, since `.data` of one was given to the other. @param {RunFacts} facts @returns {Diagnosis[]} */
function sharedThroughData(facts) {
  const history = tensorHistory(facts);
  /** @type {Diagnosis[]} */
  const out = [];
  for (const uid of parametersThatMoved(facts)) {
    for (const { step, value } of history.changes(uid, "storage").slice(1)) {
      const storageUid = /** @type {string | null} */ (value);
      const other = facts.index
        .handlesOf(storageUid, step)
        .find(
          (handleUid) =>
            handleUid !== uid &&
            history.valueAt(handleUid, "leaf", step) &&
            history.valueAt(handleUid, "requires_grad", step),
        );
      if (!storageUid || !other || !isTrained(facts, uid, step)) continue;
      out.push(sharedDiagnosis(facts, uid, other, step));
    }
  }
  return out;
}

/** Whether a backward or a write comes to a tensor later. @param {RunFacts} facts @param {string} uid @param {number} step */
function isTrained(facts, uid, step) {
  return (
    isAccumulatedAfter(facts, uid, step) ||
    facts.writesOf(facts.tensor(uid, step)?.storage).some((write) => write.step > step)
  );
}

/** Leaves that require grad and were given another storage. @param {RunFacts} facts @returns {string[]} */
function parametersThatMoved(facts) {
  const history = tensorHistory(facts);
  return [...facts.index.lives.values()].flatMap(({ uid, kind, birth }) => {
    if (kind !== "tensor" || !history.wasChangedLater(uid, "storage")) return [];
    return history.valueAt(uid, "leaf", birth) && history.valueAt(uid, "requires_grad", birth) ? [uid] : [];
  });
}

/** @param {RunFacts} facts @param {string} uid @param {string} otherUid @param {number} step @returns {Diagnosis} */
function sharedDiagnosis(facts, uid, otherUid, step) {
  const [x, y] = [facts.nameFact(uid, step), facts.nameFact(otherUid, step)];
  const effect = facts.events("grad_accumulated").find((event) => event.tensor === uid && event.step > step);
  const nextWrite = facts.writesOf(facts.tensor(uid, step)?.storage).find((write) => write.step > step);
  return {
    variant: "data",
    cause: facts.place(step),
    chain: [
      link(facts.place(facts.birth(otherUid)), "made", { x: y }, [otherUid]),
      link(facts.place(step), "shares", { x: y, y: x }, [uid, otherUid]),
      ...(effect ? [link(facts.place(effect.step), "gradient", { x }, [uid, effect.grad])] : []),
      ...(nextWrite
        ? [link(facts.place(nextWrite.step), "written", { x, code: facts.codeFact(nextWrite.step) }, [uid, otherUid])]
        : []),
    ],
    names: namesOf(x, y),
    facts: { x, y, code: facts.codeFact(step) },
    fixes: [fix("tie_parameter", facts.place(step))],
  };
}
