/**
 * A batch norm evaluated with the running statistics it was made with, in a copy whose weights were brought up to date:
 * an average of weights, a target network.
 */

import { diagnosis } from "../diagnosis.ts";
import { outermostCallStep, layerCalls } from "./layer_calls.ts";
import { referencedUid } from "../../trace/names.ts";

export const FINDINGS = [
  diagnosis({
    kind: "statistics_never_fed",
    severity: "warning",
    lookedFor: "modes",
    of: layerCalls,
    once: ({ outer }) => outer?.module, // one of several norms stands for all
    /** Null where the statistics were fed or loaded, or the weights are an optimizer's or written before training. */
    say: (facts, call) => {
      const outer = call.outer?.module;
      if (call.layer !== "batch_norm" || call.training || !outer) return null;
      const norm = facts.object(call.inner?.module, call.step)?.attrs ?? {};
      const [weight, mean, batches] = [norm.weight, norm.running_mean, norm.num_batches_tracked].map(referencedUid);
      if (!weight || !mean || !batches || facts.numbersOf(batches, call.step)?.[0] !== 0) return null;
      const writesBefore = (uid: string) => {
        const storage = facts.storageOf(uid, call.step);
        return facts.writesOf(storage).filter(({ step }) => step > facts.birthStep(uid) && step < call.step);
      };
      const optimizers = facts.optimizers.filter(({ made }) => made < call.step);
      const trained = Math.min(...optimizers.flatMap(({ steps }) => steps));
      const [written] = writesBefore(weight).slice(-1);
      if (!written || written.step < trained || writesBefore(mean).length) return null;
      if (optimizers.some(({ uid }) => facts.parametersOf(uid, call.step).includes(weight))) return null;
      const used = outermostCallStep(facts, call.step);
      const model = facts.nameFact(outer, used);
      const names = {
        model,
        weight: facts.nameFact(weight, used),
        mean: facts.nameFact(mean, used),
        written: facts.place(written.step).line,
      };
      const writing = { ...names, code: facts.statementFact(written.step) };
      return {
        cause: used,
        chain: [
          [written.step, "written", [weight], writing],
          [used, "used", [mean]],
        ],
        names: [model, names.mean],
        facts: names,
      };
    },
  }),
];
