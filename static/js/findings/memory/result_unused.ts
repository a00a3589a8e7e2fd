/**
 * A statement whose result is thrown away: a method that gives a new tensor and changes none, or one that is not
 * called.
 */

import { codeFact, diagnosis, madeBefore, type Diagnosis, type Fix, type RunFacts } from "../diagnosis.ts";
import { mentionsAt } from "../statements/statement_mentions.ts";
import { resolveExpression } from "../facts/resolve.ts";
import {
  callArgument,
  calleeName,
  calleePath,
  isTorchMember,
  literalValue,
  pathSteps,
  positionalArguments,
  receiver,
} from "../../syntax/expressions.ts";
import { bareExpression, isInPlaceName, rootNameOfCalls } from "../../syntax/statements.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";
import { referencedUid } from "../../trace/names.ts";

/** Methods and functions that leave their tensor as it is, and that people call as if they changed it. */
const PURE_METHODS = new Set(
  `abs add addcdiv addcmul ceil clamp clamp_max clamp_min clip clone contiguous copysign cpu cuda
  cumsum detach div divide double dropout exp expand eq fill fill_diagonal flatten flip float floor
  fmod half index_add index_copy index_fill int lerp log logical_not long mul multiply masked_fill
  masked_scatter movedim nan_to_num neg negative normalize permute pow reciprocal relu renorm repeat
  reshape round rsqrt scatter scatter_add sigmoid sign softmax sort sqrt square squeeze sub subtract
  swapaxes t tanh to transpose tril triu true_divide type unflatten unsqueeze view bfloat16`.split(/\s+/),
);
/** Methods that do something where they are called, and nothing where they are only named. */
const METHODS_WITH_EFFECT = new Set(["step", "zero_grad", "backward", "eval", "train", "requires_grad_"]);
const CONTEXTS = new Set(["torch.no_grad", "torch.inference_mode", "torch.enable_grad"]);

export const FINDINGS = [
  diagnosis({
    kind: "result_unused",
    severity: "warning",
    of: bareExpressions,
    once: ({ line }) => line,
    say: unusedResult,
  }),
];

interface BareExpression {
  step: number;
  line: number;
  node: SyntaxNode;
}

function* bareExpressions(facts: RunFacts): Generator<BareExpression> {
  for (const [step, { kind, line, shown }] of facts.steps.entries()) {
    const tree = kind === "statement" && shown === undefined ? facts.syntax(step) : null;
    const node = tree && bareExpression(tree);
    if (node) yield { step, line, node };
  }
}

function unusedResult(facts: RunFacts, { step, node }: BareExpression): Diagnosis | null {
  if (node.kind === "Attribute") return notCalled(facts, step, node);
  if (node.kind === "Compare") return compared(step, node);
  if (node.kind !== "Call") return null;
  const path = calleePath(node) ?? "";
  if (CONTEXTS.has(path) && !positionalArguments(node).length)
    return plainDiagnosis(step, "context", `with ${node.text}:`, calleeName(node));
  if (path === "torch.autograd.grad" && facts.backwardAt(step - 1)?.api === "grad")
    return plainDiagnosis(step, "grad", "grad", "grad");
  return PURE_METHODS.has(calleeName(node)) ? thrownAway(facts, step, node) : null;
}

function notCalled(facts: RunFacts, step: number, node: SyntaxNode): Diagnosis | null {
  const [object, method] = [node.children[0], String(node.value)];
  if (!METHODS_WITH_EFFECT.has(method) && !isInPlaceName(method)) return null;
  return resolveExpression(facts, object, step)
    ? plainDiagnosis(step, "not_called", object.text, `${method}()`, ["call_it"])
    : null;
}

/** A comparison of a variable with a constant. */
function compared(step: number, node: SyntaxNode): Diagnosis | null {
  const [left, right] = node.children;
  const isMeant = node.value === "==" && pathSteps(left) && literalValue(right) !== undefined;
  return isMeant ? plainDiagnosis(step, "comparison", left.text, `${left.text} = ${right.text}`, ["assign_it"]) : null;
}

/** A new tensor that died with its statement, while what it was made of is used later. */
function thrownAway(facts: RunFacts, step: number, call: SyntaxNode): Diagnosis | null {
  const result = referencedUid(facts.steps[step].value);
  if (result?.[0] !== "t" || facts.birthStep(result) !== step || facts.index.isAlive(result, step)) return null;
  if (facts.steps[step].log.some((entry) => entry.kind === "event" && entry.event === "written")) return null;
  const op = facts.producingOperation(result);
  const cut = facts.eventsOfKind("path_cut").find((event) => event.step === step && event.result === result);
  const source = op?.step === step ? op.inputs[0] : cut?.tensor;
  if (!source) return null;
  const isFunction = isTorchMember(childOf(call, "func"));
  const object = isFunction ? callArgument(call, "input", 0) : receiver(call);
  const name = object && rootNameOfCalls(object);
  const x = facts.nameFact(source, step);
  if (!name || !isUsedLater(facts, name, step)) return null;
  const method = calleeName(call);
  return {
    variant: method === "detach" ? "detach" : "method",
    cause: step,
    chain: [madeBefore(facts, source, step), [step, "none", [source]]],
    names: [x],
    facts: { x, name: codeFact(method) },
    fixes: [["keep_result", isFunction ? { name, function: 1 } : { name: object.text }]],
  };
}

/** Whether a name is mentioned after a step, or before it in a loop around. */
function isUsedLater(facts: RunFacts, name: string, step: number) {
  return facts.steps.some(
    ({ kind }, i) =>
      i > step &&
      facts.steps[i].stmt !== facts.steps[step].stmt &&
      kind !== "visit" &&
      mentionsAt(facts, i).names.has(name),
  );
}

function plainDiagnosis(step: number, variant: string, x: string, name: string, ...fixes: Fix[]): Diagnosis {
  return {
    variant,
    cause: step,
    chain: [[step, "none"]],
    names: [codeFact(x)],
    facts: { x: codeFact(x), name: codeFact(name) },
    fixes,
  };
}
