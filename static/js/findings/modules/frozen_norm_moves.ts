/** A batch norm whose parameters are frozen, and whose running statistics every forward of the training moves. */

import { diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { outermostCallStep, layerCalls, type LayerCall } from "./layer_calls.ts";
import { modulePath, roundedNumber } from "../training/training_facts.ts";
import { referencedUid } from "../../trace/names.ts";

export const FINDINGS = [
  diagnosis({
    kind: "frozen_norm_moves",
    severity: "warning",
    lookedFor: "modes",
    when: (facts) => facts.optimizers.some(({ steps }) => steps.length),
    of: (facts) => groupBy(frozenNorms(facts), ({ uid, calls }) => calls[0].outer?.module ?? uid),
    say: (facts, [norm, ...others]) => diagnosisOf(facts, norm, others.length),
  }),
];

interface FrozenNorm {
  uid: string;
  calls: LayerCall[];
  params: string[];
  mean: string;
}

/**
 * Those that ran in training more than once; none that ever trains, is written (as a moving average is), or runs in
 * eval.
 */
function frozenNorms(facts: RunFacts): FrozenNorm[] {
  const norms = layerCalls(facts).filter(({ layer, inner }) => layer === "batch_norm" && inner?.module);
  const trained = new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor));
  return groupBy(norms, ({ inner }) => inner?.module ?? "").flatMap((all) => {
    const uid = all[0].inner?.module ?? "";
    const calls = all.filter(({ training, isUsedForTraining }) => training && isUsedForTraining);
    if (calls.length < 2) return [];
    const attrs = facts.object(uid, calls[0].step)?.attrs ?? {};
    const params = [attrs.weight, attrs.bias].flatMap((value) => referencedUid(value) ?? []);
    const mean = referencedUid(attrs.running_mean);
    const isFrozen = (param: string) =>
      !trained.has(param) &&
      calls.every(({ step }) => facts.history.valueAt(param, "requires_grad", step) === false) &&
      // else `.data` gave it another
      facts.history
        .fieldChanges(param, "storage")
        .every(({ step }) => step < calls[0].step) &&
      facts.writesTo(param, calls[0].step).every(({ step }) => step < calls[0].step);
    return params.length && mean && params.every(isFrozen) ? [{ uid, calls, params, mean }] : [];
  });
}

/** `others` is the number of such norms beside it in the same module. */
function diagnosisOf(facts: RunFacts, { uid, calls, params, mean }: FrozenNorm, others: number): Diagnosis {
  const [first, last] = [calls[0], calls[calls.length - 1]];
  const outerStep = outermostCallStep(facts, first.step);
  const freezing = facts.history
    .fieldChanges(params[0], "requires_grad")
    .find(({ value, step }) => value === false && step < first.step);
  const layer = facts.nameFact(uid, outerStep);
  const [before, after] = [first.step - 1, last.step].map((step) => facts.numbersOf(mean, step)?.[0]);
  const isListed = before !== undefined && after !== undefined;
  const names = {
    layer,
    name: modulePath(layer),
    mean: facts.nameFact(mean, outerStep),
    n: params.length,
    others,
    before: isListed ? roundedNumber(before) : "",
    after: isListed ? roundedNumber(after) : "",
  };
  return {
    variant: isListed ? "measured" : undefined,
    cause: outerStep,
    chain: [
      freezing && [freezing.step, "made", params],
      [first.step, "written", [mean]],
      outerStep !== first.step && [outerStep, "used", [uid]],
    ],
    names: [layer, names.mean],
    facts: names,
    fixes: [["eval_first", { name: modulePath(layer) }]],
  };
}
