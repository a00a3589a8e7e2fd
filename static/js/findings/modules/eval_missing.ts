/**
 * A prediction under `no_grad` in which batch norm takes the statistics of the batch, or dropout drops: `eval()` is
 * missing.
 */

import { codeFact, diagnosis, phrase, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { outermostCallStep, dataSourcesOf, layerCalls, modeChangeBefore, type LayerCall } from "./layer_calls.ts";
import { attributeRead, calleePath, callArgument, callsIn } from "../../syntax/expressions.ts";
import { bareExpression } from "../../syntax/statements.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";
import { modulePath } from "../training/training_facts.ts";

export const FINDINGS = [
  diagnosis({
    kind: "eval_missing",
    severity: "note",
    lookedFor: "modes",
    /** of a module that has both, what batch norm does says more */
    of: (facts) => layerCalls(facts).toSorted((a, b) => Number(a.layer === "dropout") - Number(b.layer === "dropout")),
    once: ({ outer }) => outer?.module ?? outer?.type ?? "",
    say: (facts, call) => {
      const variant = variantOf(facts, call, layerCalls(facts));
      return variant && diagnosisOf(facts, call, variant);
    },
  }),
];

/** What a layer does in training, by the variant that says so. */
const DOES: Record<string, string> = { batch_norm: "takes_batch", dropout: "drops", one: "takes_one" };

/** Where the functions of `torch.nn.functional` have their argument `training`. */
const POSITION_OF_TRAINING: Record<string, number> = {
  "torch.nn.functional.batch_norm": 5,
  "torch.nn.functional.dropout": 2,
};

/**
 * Null where the facts do not say that a prediction is meant: where the layer ever runs in eval, or the result trains.
 */
function variantOf(facts: RunFacts, call: LayerCall, calls: LayerCall[]): string | null {
  const { layer, training, p, inner, outer, isUsedForTraining, op, step } = call;
  if (!training || !inner?.training || !outer?.training || isUsedForTraining) return null;
  const size = facts.handle(op.inputs[0], step)?.shape?.[0] ?? 0;
  if (calls.some((other) => !other.training && isSameLayer(call, other))) return null;
  if (isDiscarded(facts, call) || isModeIgnored(facts, call)) return null;
  if (layer === "batch_norm") {
    if (size === 1 && (!op.grad_mode || hasTrainedBefore(facts, call, calls))) return "one";
    return op.grad_mode ? null : "batch_norm";
  }
  const isPrediction = !op.grad_mode && p > 0 && hasTrainedBefore(facts, call, calls);
  return isPrediction && !isRepeatedSample(facts, call, calls) ? "dropout" : null;
}

function isSameLayer(a: LayerCall, b: LayerCall) {
  if (a.layer !== b.layer) return false;
  return a.inner?.module ? a.inner.module === b.inner?.module : a.op.inputs[1] === b.op.inputs[1];
}

/** Whether the layer was trained, and its optimizer stepped, before a call. */
function hasTrainedBefore(facts: RunFacts, call: LayerCall, calls: LayerCall[]) {
  const trained = calls.find((other) => other.isUsedForTraining && other.step < call.step && isSameLayer(call, other));
  return Boolean(trained) && stepsBetween(facts, trained?.step ?? 0, call.step) > 0;
}

function stepsBetween(facts: RunFacts, from: number, to: number) {
  return facts.optimizers.flatMap(({ steps }) => steps).filter((step) => step > from && step < to).length;
}

/**
 * Whether the same data goes through the layer more than once between two updates: many draws of one are on purpose.
 */
function isRepeatedSample(facts: RunFacts, call: LayerCall, calls: LayerCall[]) {
  const sources = [...dataSourcesOf(facts, call.op.inputs[0])];
  return calls.some(
    (other) =>
      other !== call &&
      isSameLayer(call, other) &&
      stepsBetween(facts, Math.min(call.step, other.step), Math.max(call.step, other.step)) === 0 &&
      [...dataSourcesOf(facts, other.op.inputs[0])].some((source) => sources.includes(source)),
  );
}

/** Whether the program throws the result away, as where batches only bring the running statistics up to date. */
function isDiscarded(facts: RunFacts, call: LayerCall) {
  const step = outermostCallStep(facts, call.step);
  const tree = facts.syntax(step);
  const expression = tree && bareExpression(tree);
  if (expression?.kind !== "Call" || calleePath(expression) === "builtins.print") return false;
  return !callsIn(expression)
    .slice(1)
    .some((inner) => isOutermost(facts, call, childOf(inner, "func"), step));
}

/** Whether the program calls the function itself, not with the mode of a module: then `eval()` changes nothing. */
function isModeIgnored(facts: RunFacts, { step }: LayerCall) {
  return callsIn(facts.syntax(step)).some((node) => {
    const position = POSITION_OF_TRAINING[calleePath(node) ?? ""];
    const training = position === undefined ? null : callArgument(node, "training", position);
    return position !== undefined && !(training && attributeRead(training)?.attribute === "training");
  });
}

/** Whether an expression is the outermost module in whose call a layer ran. */
function isOutermost(facts: RunFacts, { outer }: LayerCall, node: SyntaxNode | null, step: number) {
  return Boolean(outer?.module) && facts.resolve(node, step) === outer?.module;
}

/** The statement `model.eval`, which names the method and does not call it. */
function stepMentioningEval(facts: RunFacts, call: LayerCall): number | null {
  for (let step = call.step - 1; step >= 0; step--) {
    const tree = facts.steps[step].kind === "statement" ? facts.syntax(step) : null;
    const expression = tree && bareExpression(tree);
    const read = expression && attributeRead(expression);
    if (read?.attribute === "eval" && isOutermost(facts, call, read.object, step)) return step;
  }
  return null;
}

/**
 * The steps at which the outermost module went into eval and was put back into training, both behind its last update:
 * null where it was never in eval, or training goes on since.
 */
function evalUndoneByTrain(facts: RunFacts, { outer, step }: LayerCall): { evalStep: number; backStep: number } | null {
  const backStep = modeChangeBefore(facts, outer?.module, true, step);
  const evalStep = backStep === null ? null : modeChangeBefore(facts, outer?.module, false, backStep - 1);
  if (backStep === null || evalStep === null || stepsBetween(facts, evalStep, step) > 0) return null;
  const isSeen = !facts.steps.slice(evalStep, step + 1).some(({ skipped }) => skipped);
  return isSeen ? { evalStep, backStep } : null;
}

/** Whether the trace has a module in eval at any step. */
function isEverInEval(facts: RunFacts, uid: string | null | undefined) {
  return facts.index.objectChanges.some((change) => change.uid === uid && change.fields.training === false);
}

function diagnosisOf(facts: RunFacts, call: LayerCall, variant: string): Diagnosis {
  const outerStep = outermostCallStep(facts, call.step);
  const mention = stepMentioningEval(facts, call);
  const nameOf = (module: LayerCall["inner"]) =>
    module?.module ? facts.nameFact(module.module, outerStep) : codeFact(module?.type ?? "");
  const [layer, module] = [nameOf(call.inner), nameOf(call.outer)];
  const names = {
    layer,
    module,
    name: modulePath(module),
    n: facts.handle(call.op.inputs[0], call.step)?.shape?.[0] ?? 0,
    p: call.p,
  };
  if (mention !== null)
    return {
      variant: "not_called",
      severity: "warning",
      cause: mention,
      chain: [
        [mention, "none", [call.outer?.module]],
        [outerStep, "read", call.op.outputs],
      ],
      names: [layer, module],
      facts: { ...names, effect: facts.place(outerStep).line },
      fixes: [["call_it"]],
    };
  const severity = variant === "one" ? "warning" : "note";
  const taken = evalUndoneByTrain(facts, call);
  if (taken)
    return {
      variant: "taken_back",
      severity,
      cause: taken.backStep,
      chain: [
        [taken.evalStep, "way", [call.outer?.module], { module }],
        [taken.backStep, "cut", [call.outer?.module], { module }],
        [call.step, "written", [call.inner?.module, ...call.op.outputs]],
        [outerStep, "read"],
      ],
      names: [layer, module],
      facts: { ...names, effect: facts.place(outerStep).line, does: phrase(`finding.eval_missing.${DOES[variant]}`) },
    };
  return {
    variant: variant === "dropout" && isEverInEval(facts, call.outer?.module) ? "dropout_now" : variant,
    severity,
    cause: outerStep,
    chain: [
      [call.step, "written", [call.inner?.module, ...call.op.outputs]],
      [outerStep, "read"],
    ],
    names: [layer, module],
    facts: names,
    fixes: [["eval_first", { name: modulePath(module) }]],
  };
}
