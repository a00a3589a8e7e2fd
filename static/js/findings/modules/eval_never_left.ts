/** A training that goes on in eval: `eval()` was called for an evaluation, and no `train()` right after it. */

import { chainLink, codeFact, diagnosis, phrase, type LinkRole, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { outermostCallStep, layerCalls, modeChangeBefore, nextTraining, type LayerCall } from "./layer_calls.ts";
import { iterationOfLoop, loopBetween, modulePath } from "../training/training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "eval_never_left",
    severity: "warning",
    lookedFor: "modes",
    of: forgottenEvals,
    once: ({ left: { outer } }) => outer?.module ?? outer?.type ?? "",
    say: (facts, { trained, evaluated, left, back }) => {
      const [trainedStep, leftStep] = [outermostCallStep(facts, trained.step), outermostCallStep(facts, left.step)];
      const nameOf = (module: LayerCall["inner"]) =>
        module?.module ? facts.nameFact(module.module, leftStep) : codeFact(module?.type ?? "");
      const [layer, module] = [nameOf(left.inner), nameOf(left.outer)];
      const evalStep = modeChangeBefore(facts, left.outer?.module, false, evaluated.step) ?? evaluated.step;
      const backStep = nextTraining(facts, left.outer?.module, left.step) ?? back?.step ?? null;
      const isSeenUntil = (end: number) => !facts.steps.slice(leftStep + 1, end + 1).some(({ skipped }) => skipped);
      const ending = !isSeenUntil(backStep ?? facts.steps.length) ? "_first" : backStep === null ? "" : "_for_a_while";
      const loop = loopBetween(facts, trainedStep, leftStep);
      const iteration = iterationOfLoop(facts, loop, leftStep);
      const forward = facts.place(leftStep).line;
      const link = (step: number, role: LinkRole, uid: string | null | undefined) => {
        const of = iterationOfLoop(facts, loop, step);
        const place = facts.place(step);
        const code = facts.statementFact(step);
        if (of !== null) return chainLink(place, role, { code, iteration: of }, [uid]);
        return { ...chainLink(place, role, { code }, [uid]), words: { kind: "eval_never_left", variant: "at_once" } };
      };
      const ofLoop = ending ? "in_iteration" : "from_iteration";
      const whenKey = `finding.eval_never_left.${iteration === null ? "after_line" : ofLoop}`;
      return {
        variant: `${left.layer}${ending}`,
        cause: evalStep,
        chain: [
          link(trainedStep, "way", left.inner?.module),
          link(evalStep, "cut", left.outer?.module),
          link(leftStep, "none", left.inner?.module),
        ],
        names: [module, layer],
        facts: {
          module,
          name: modulePath(module),
          layer,
          when: phrase(whenKey, iteration === null ? { line: facts.lineOf(evalStep) } : { iteration }),
          moment: phrase(`finding.eval_never_left.${ending ? "evaluation_over" : "each_round"}`),
          forward,
          back: ending === "_for_a_while" && backStep !== null ? facts.lineOf(backStep) : "",
        },
        fixes: [["train_first", { name: modulePath(module) }, leftStep]],
      };
    },
  }),
];

/** trained: in training; evaluated: an evaluation in eval; left: the first training in eval after it; back: the next in
 * training */
interface ForgottenEval {
  trained: LayerCall;
  evaluated: LayerCall;
  left: LayerCall;
  back: LayerCall | undefined;
}

/** Of the calls of each registered layer. */
function forgottenEvals(facts: RunFacts): ForgottenEval[] {
  const calls = layerCalls(facts).filter(({ inner }) => inner?.module);
  return groupBy(calls, ({ inner, layer }) => `${inner?.module} ${layer}`).flatMap(
    (ofLayer) => forgottenEval(facts, ofLayer) ?? [],
  );
}

/**
 * Null where only a part of the module around the layer is in eval: a batch norm that is frozen on purpose is. Both
 * trainings are calls by one statement: another one may mean another mode.
 */
function forgottenEval(facts: RunFacts, calls: LayerCall[]): ForgottenEval | null {
  const statementOf = ({ step }: LayerCall) => facts.steps[outermostCallStep(facts, step)].stmt;
  let [trained, evaluated]: [LayerCall | null, LayerCall | null] = [null, null];
  for (const [k, call] of calls.entries()) {
    const isWhollyInEval = !call.training && call.outer?.training === false;
    if (call.training && call.isUsedForTraining) [trained, evaluated] = [call, null];
    else if (trained && isWhollyInEval && !call.isUsedForTraining) evaluated = call;
    else if (trained && evaluated && isWhollyInEval && call.isUsedForTraining && call.op.grad_mode) {
      const back = calls.slice(k).find((later) => later.training);
      return statementOf(call) === statementOf(trained) ? { trained, evaluated, left: call, back } : null;
    }
  }
  return null;
}
