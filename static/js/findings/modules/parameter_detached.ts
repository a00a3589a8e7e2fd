/**
 * A parameter that the optimizer or the module does not have any more, or never had: replaced, exchanged through
 * `.data`, unregistered.
 */

import type { Diagnosis, DiagnosisRow, NameBinding, RunFacts } from "../diagnosis.ts";
import { diagnoseExhaustedParameters } from "../training/exhausted_parameters.ts";
import { diagnoseParametersMissedByOptimizer } from "../training/optimizer_misses.ts";
import { diagnoseParameterReboundInLoop } from "./rebound_loop.ts";
import { diagnoseUnregisteredParameters } from "./unregistered.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "parameter_detached", severity: "warning", diagnose: diagnoseDetachedParameter, lookedFor: "cut" },
];

function diagnoseDetachedParameter(facts: RunFacts): Diagnosis[] {
  const replacedDiagnoses = replacedParameters(facts);
  const missedDiagnoses = replacedDiagnoses.length ? [] : diagnoseParametersMissedByOptimizer(facts);
  return [
    ...diagnoseUnregisteredParameters(facts),
    ...diagnoseExhaustedParameters(facts),
    ...replacedDiagnoses,
    ...missedDiagnoses,
    ...diagnoseParameterReboundInLoop(facts),
    ...parametersSharedThroughData(facts),
  ];
}

/** Parameters that an optimizer goes on to update after the program exchanged them. */
function replacedParameters(facts: RunFacts): Diagnosis[] {
  /** by the step that exchanged them */
  const out = new Map<string, Diagnosis>();
  for (const { uid: optimizer, made, steps } of facts.optimizers) {
    const step = steps.at(-1);
    if (step === undefined) continue;
    const updated = new Set(facts.parametersOf(optimizer, step));
    const trained = new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor));
    for (const change of [...exchangedModuleParameters(facts), ...reboundNames(facts)]) {
      const isStillUpdated =
        change.step > made && change.step < step && updated.has(change.before) && !updated.has(change.after);
      if (!isStillUpdated || facts.gradientsTo(change.before).some((event) => event.step > change.step)) continue;
      // kept by other means, like a moving average
      if (!trained.has(change.before) && !trained.has(change.after)) continue;
      const known = out.get(`${change.step}`) ?? replacedParameterDiagnosis(facts, optimizer, change, step);
      out.set(`${change.step}`, { ...known, concerns: [...(known.concerns ?? []), change.before, change.after] });
    }
  }
  return [...out.values()];
}

/** of one tensor for another */
interface TensorExchange {
  before: string;
  after: string;
  step: number;
}

/** Tensors of modules that were exchanged, alone or with their module. */
function exchangedModuleParameters(facts: RunFacts): TensorExchange[] {
  return facts.attributeChanges.flatMap(({ before, after, step }) => {
    if (!before || !after) return [];
    if (before[0] === "t" && after[0] === "t") return [{ before, after, step }];
    if (before[0] !== "o" || after[0] !== "o") return [];
    const tensorAttributes = (object: string) =>
      facts.attributeChanges.filter(
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

/** Names that came to mean another tensor that is trained. */
function reboundNames(facts: RunFacts): TensorExchange[] {
  const history = facts.history;
  const exchanges: TensorExchange[] = [];
  for (const meanings of facts.scan.meaningsByName.values())
    for (let k = 1; k < meanings.length; k++) {
      const { uid: after, step } = meanings[k];
      const before = meanings[k - 1].uid;
      if (before[0] !== "t" || after[0] !== "t" || before === after) continue;
      if (hadEarlierName(facts, before, meanings[k - 1])) continue;
      if (history.valueAt(after, "leaf", step) && history.valueAt(after, "requires_grad", facts.steps.length))
        exchanges.push({ before, after, step });
    }
  return exchanges.filter(({ after }) => facts.scan.tensorsRead.has(after));
}

/** Whether a tensor had another name before it got this one: a name that only went along with it may go on to
 * another. */
function hadEarlierName(facts: RunFacts, uid: string, { name, step }: NameBinding) {
  return facts.bindingsOf(uid).some((other) => other.name !== name && other.step < step);
}

function replacedParameterDiagnosis(
  facts: RunFacts,
  optimizerUid: string,
  change: TensorExchange,
  step: number,
): Diagnosis {
  const x = facts.nameFact(change.after, change.step);
  const optimizerName = facts.nameFact(optimizerUid, step);
  const { made } = facts.optimizer(optimizerUid) ?? { made: step };
  return {
    variant: "replaced",
    cause: change.step,
    chain: [
      [made, "made", [optimizerUid], { x: optimizerName }],
      [change.step, "moved", [change.before, change.after]],
      [step, "written", [change.before]],
    ],
    names: [x, optimizerName],
    facts: { x, optimizer: optimizerName, made: facts.steps[made].line, step: facts.steps[step].line },
    fixes: [["optimizer_later", { to: facts.steps[change.step].line }, made], ["in_place"]],
  };
}

/** Two parameters on one memory, since `.data` of one was given to the other. */
function parametersSharedThroughData(facts: RunFacts): Diagnosis[] {
  const history = facts.history;
  const out: Diagnosis[] = [];
  for (const uid of parametersGivenOtherStorage(facts)) {
    for (const { step, value } of history.fieldChanges(uid, "storage").slice(1)) {
      const storageUid = value as string | null;
      const other = facts.index
        .handlesOfStorage(storageUid, step)
        .find(
          (handleUid) =>
            handleUid !== uid &&
            history.valueAt(handleUid, "leaf", step) &&
            history.valueAt(handleUid, "requires_grad", step),
        );
      if (!storageUid || !other || !hasGradientOrWriteAfter(facts, uid, step)) continue;
      out.push(sharedThroughDataDiagnosis(facts, uid, other, step));
    }
  }
  return out;
}

/** Whether a backward or a write comes to a tensor later. */
function hasGradientOrWriteAfter(facts: RunFacts, uid: string, step: number) {
  return (
    facts.gradientsTo(uid).some((event) => event.step > step) ||
    facts.writesOf(facts.tensor(uid, step)?.storage).some((write) => write.step > step)
  );
}

/** Leaves that require grad and were given another storage. */
function parametersGivenOtherStorage(facts: RunFacts): string[] {
  const history = facts.history;
  return [...facts.index.laterChanges.keys()].flatMap((uid) => {
    if (uid[0] !== "t" || !history.wasFieldChangedLater(uid, "storage")) return [];
    const birth = facts.birthStep(uid);
    return history.valueAt(uid, "leaf", birth) && history.valueAt(uid, "requires_grad", birth) ? [uid] : [];
  });
}

function sharedThroughDataDiagnosis(facts: RunFacts, uid: string, otherUid: string, step: number): Diagnosis {
  const [x, y] = [facts.nameFact(uid, step), facts.nameFact(otherUid, step)];
  const effect = facts.gradientsTo(uid).find((event) => event.step > step);
  const nextWrite = facts.writesOf(facts.tensor(uid, step)?.storage).find((write) => write.step > step);
  return {
    variant: "data",
    cause: step,
    chain: [
      [facts.birthStep(otherUid), "made", [otherUid], { x: y }],
      [step, "shares", [uid, otherUid], { x: y, y: x }],
      effect && [effect.step, "gradient", [uid, effect.grad]],
      nextWrite && [nextWrite.step, "written", [uid, otherUid]],
    ],
    facts: { x, y },
    fixes: [["tie_parameter"]],
  };
}
