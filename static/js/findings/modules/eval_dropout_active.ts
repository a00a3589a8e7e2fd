/** Dropout that still drops in a module in eval: a function that nobody told, or a layer made in forward. */

import { codeFact, diagnosis, statementOfCandidate, type RunFacts } from "../diagnosis.ts";
import { outermostCallStep, layerCalls, modeChangeBefore, type LayerCall } from "./layer_calls.ts";
import { callArgument, calleeName, callsIn, hasUnpackedArguments } from "../../syntax/expressions.ts";
import { walk, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "eval_dropout_active",
    severity: "warning",
    lookedFor: "modes",
    of: layerCalls,
    once: statementOfCandidate,
    say: (facts, call) => {
      const variant = variantOf(facts, call);
      if (!variant) return null;
      const evalStep = modeChangeBefore(facts, call.outer?.module, false, call.step);
      const outerStep = outermostCallStep(facts, call.step);
      const module = call.outer?.module
        ? facts.nameFact(call.outer.module, outerStep)
        : codeFact(call.outer?.type ?? "");
      const names = { module, code: facts.statementFact(call.step), ...droppedFacts(facts, call) };
      return {
        variant,
        cause: call.step,
        chain: [
          evalStep !== null && [evalStep, "made", [call.outer?.module]],
          [call.step, "written", call.op.outputs],
          outerStep !== call.step && [outerStep, "read"],
        ],
        names: [module, names.code],
        facts: names,
        fixes: variant === "function" ? [["training_argument"]] : [],
      };
    },
  }),
];

/**
 * Null where it is off, or on purpose: told to drop in so many words, or a registered layer that was put into training
 * itself, as for Monte Carlo dropout.
 */
function variantOf(facts: RunFacts, { layer, training, p, inner, outer, step }: LayerCall): string | null {
  if (layer !== "dropout" || !training || p <= 0 || !inner || !outer || outer.training) return null;
  if (inner.training && inner.module)
    return inner === outer || facts.index.modules.get(inner.module)?.within ? null : "unregistered";
  const calls = callsIn(facts.syntax(step));
  if (inner.training) return inner !== outer && calls.some(isDropoutMade) ? "made" : null;
  const attention = calls.find((call) => calleeName(call) === "scaled_dot_product_attention");
  if (attention) return mentionsTraining(attention) ? null : "attention";
  const call = calls.find((other) => calleeName(other).includes("dropout"));
  if (!call || hasUnpackedArguments(call) || callArgument(call, "training", 2) || callArgument(call, "train"))
    return null;
  return "function";
}

/** Whether a call makes a layer of dropout. */
function isDropoutMade(call: SyntaxNode) {
  return calleeName(call).includes("Dropout");
}

/** Whether a call may depend on a mode. */
function mentionsTraining(call: SyntaxNode) {
  return hasUnpackedArguments(call) || [...walk(call)].some(({ value }) => value === "training");
}

/** How many elements came out as 0 that were none, where the trace lists them; else the probability alone. */
function droppedFacts(facts: RunFacts, { op, step, p }: LayerCall) {
  const [input, output] = [op.inputs[0], op.outputs[0]].map((uid) => facts.numbersOf(uid, step) ?? []);
  const isListed = output.length > 0 && input.length === output.length;
  const zeros = isListed ? output.filter((value, k) => value === 0 && input[k] !== 0).length : "";
  return { p, zeros, n: isListed ? output.length : "" };
}
