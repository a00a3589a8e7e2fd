/**
 * A parameter that the optimizer or the module does not have any more, or never had: replaced, exchanged through
 * `.data`, unregistered.
 */

import { diagnosis, type Diagnosis, type NameBinding, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { misdirectedOptimizers, parametersMissedByOptimizer } from "../training/optimizer_misses.ts";
import type { Optimizer } from "../facts/optimizers.ts";

const KIND = { kind: "parameter_detached", severity: "warning", lookedFor: "cut" } as const;

export const FINDINGS = [
  diagnosis({
    ...KIND,
    of: (facts) => groupBy(replacedParameters(facts), ({ exchange }) => exchange.step),
    say: replacedParameterDiagnosis,
  }),
  diagnosis({
    ...KIND,
    when: (facts) => !replacedParameters(facts).length,
    of: misdirectedOptimizers,
    say: parametersMissedByOptimizer,
  }),
  diagnosis({ ...KIND, of: parametersSharedThroughData, say: sharedThroughDataDiagnosis }),
];

interface ReplacedParameter {
  optimizer: Optimizer;
  /** its last step */
  step: number;
  exchange: TensorExchange;
}

/** Parameters that an optimizer goes on to update after the program exchanged them. */
function replacedParameters(facts: RunFacts): ReplacedParameter[] {
  const trained = new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor));
  return facts.optimizers.flatMap((optimizer) => {
    const step = optimizer.steps.at(-1);
    if (step === undefined) return [];
    const updated = new Set(facts.parametersOf(optimizer.uid, step));
    const isStillUpdated = ({ before, after, step: at }: TensorExchange) =>
      at > optimizer.made && at < step && updated.has(before) && !updated.has(after);
    return [...exchangedModuleParameters(facts), ...reboundNames(facts)]
      .filter(
        (exchange) =>
          isStillUpdated(exchange) &&
          !facts.gradientsTo(exchange.before).some((event) => event.step > exchange.step) &&
          // else it is kept by other means, like a moving average
          (trained.has(exchange.before) || trained.has(exchange.after)),
      )
      .map((exchange) => ({ optimizer, step, exchange }));
  });
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
  return exchanges.filter(({ after }) => facts.usesOf(after).length);
}

/** Whether a tensor had another name before it got this one: a name that only went along with it may go on to
 * another. */
function hadEarlierName(facts: RunFacts, uid: string, { name, step }: NameBinding) {
  return facts.bindingsOf(uid).some((other) => other.name !== name && other.step < step);
}

/** Of those that one step exchanged. */
function replacedParameterDiagnosis(facts: RunFacts, replaced: ReplacedParameter[]): Diagnosis {
  const [{ optimizer, step, exchange }] = replaced;
  const x = facts.nameFact(exchange.after, exchange.step);
  const optimizerName = facts.nameFact(optimizer.uid, step);
  return {
    variant: "replaced",
    cause: exchange.step,
    chain: [
      [optimizer.made, "made", [optimizer.uid], { x: optimizerName }],
      [exchange.step, "moved", [exchange.before, exchange.after]],
      [step, "written", [exchange.before]],
    ],
    names: [x, optimizerName],
    facts: { x, optimizer: optimizerName, made: facts.steps[optimizer.made].line, step: facts.steps[step].line },
    concerns: replaced.flatMap(({ exchange: { before, after } }) => [before, after]),
    fixes: [["optimizer_later", { to: facts.steps[exchange.step].line }, optimizer.made], ["in_place"]],
  };
}

/** Two parameters on one memory, since `.data` of one was given to the other. */
function parametersSharedThroughData(facts: RunFacts) {
  const { history, index } = facts;
  const isTrainedLeaf = (uid: string, step: number) =>
    history.valueAt(uid, "leaf", step) && history.valueAt(uid, "requires_grad", step);
  return [...index.laterChanges.keys()]
    .filter((uid) => uid[0] === "t" && history.wasFieldChangedLater(uid, "storage"))
    .filter((uid) => isTrainedLeaf(uid, facts.birthStep(uid)))
    .flatMap((uid) =>
      history
        .fieldChanges(uid, "storage")
        .slice(1)
        .flatMap(({ step, value }) => {
          const sharers = index.handlesOfStorage(value as string | null, step);
          const other = sharers.find((handle) => handle !== uid && isTrainedLeaf(handle, step));
          return value && other && hasGradientOrWriteAfter(facts, uid, step) ? [{ uid, other, step }] : [];
        }),
    );
}

/** Whether a backward or a write comes to a tensor later. */
function hasGradientOrWriteAfter(facts: RunFacts, uid: string, step: number) {
  return (
    facts.gradientsTo(uid).some((event) => event.step > step) ||
    facts.writesOf(facts.tensor(uid, step)?.storage).some((write) => write.step > step)
  );
}

function sharedThroughDataDiagnosis(
  facts: RunFacts,
  { uid, other, step }: { uid: string; other: string; step: number },
): Diagnosis {
  const [x, y] = [facts.nameFact(uid, step), facts.nameFact(other, step)];
  const effect = facts.gradientsTo(uid).find((event) => event.step > step);
  const nextWrite = facts.writesOf(facts.tensor(uid, step)?.storage).find((write) => write.step > step);
  return {
    variant: "data",
    cause: step,
    chain: [
      [facts.birthStep(other), "made", [other], { x: y }],
      [step, "shares", [uid, other], { x: y, y: x }],
      effect && [effect.step, "gradient", [uid, effect.grad]],
      nextWrite && [nextWrite.step, "written", [uid, other]],
    ],
    facts: { x, y },
    fixes: [["tie_parameter"]],
  };
}
