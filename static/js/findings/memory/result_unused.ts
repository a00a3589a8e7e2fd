/**
 * A statement whose result is thrown away: a method that gives a new tensor and changes none, or one that is not
 * called; or a tensor whose name goes to another thing before anything read it.
 */

import { codeFact, diagnosis, madeBefore, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fix, NameBinding, RunFacts } from "../diagnosis.ts";
import {
  callArgument,
  calleeName,
  calleePath,
  isTorchMember,
  literalValue,
  pathSteps,
  pathText,
  positionalArguments,
  receiver,
} from "../../syntax/expressions.ts";
import { isOnlyBound } from "../../syntax/name_uses.ts";
import { assignments, bareExpression, isConditional, isInPlaceName, rootNameOfCalls } from "../../syntax/statements.ts";
import { childOf, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import { schedulerAssignments } from "../training/schedule_in_vain.ts";
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
const MIN_TERMS = 2;
const TERM = /^(?:add|sub|rsub|sum|mul)_?$/;
const CONTEXTS = new Set(["torch.no_grad", "torch.inference_mode", "torch.enable_grad"]);

export const FINDINGS = [
  diagnosis({
    kind: "result_unused",
    severity: "warning",
    of: bareExpressions,
    once: ({ line }) => line,
    say: (facts, { step, node }) => {
      if (node.kind === "Attribute") return methodNotCalled(facts, step, node);
      if (node.kind === "Compare") return unusedComparison(step, node);
      if (node.kind !== "Call") return null;
      const path = calleePath(node) ?? "";
      if (CONTEXTS.has(path) && !positionalArguments(node).length)
        return plainDiagnosis(step, "context", `with ${node.text}:`, calleeName(node));
      if (path === "torch.autograd.grad" && facts.backwardAt(step - 1)?.api === "grad")
        return plainDiagnosis(step, "grad", "grad", "grad");
      if (calleeName(node) === "apply") return discardedFunctionResult(facts, step, node);
      return PURE_METHODS.has(calleeName(node)) ? discardedResult(facts, step, node) : null;
    },
  }),
  diagnosis({
    kind: "result_unused",
    severity: "warning",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: rebindings,
    once: ([first], facts) => facts.lineOf(first.step),
    /** A computed tensor whose name goes to another thing before anything read it, by name or in an operation. */
    say: (facts, [first, second]) => {
      const { uid, name, step } = first;
      const tree = facts.syntax(second.step);
      if (!facts.tensor(uid, step)?.requires_grad || facts.dataflow.edgesOutOf.has(uid)) return null;
      if (!tree || !isOnlyBound(tree, name) || !isAssignedOwnExpression(tree, name)) return null;
      if (isMentionedBetween(facts, first, second.step)) return null;
      const x = codeFact(name);
      return {
        variant: facts.steps[step].stmt === facts.steps[second.step].stmt ? "terms" : "overwritten",
        cause: step,
        chain: [
          [step, "made", [uid], { x }],
          [second.step, "written", [second.uid], { x }],
        ],
        facts: { x, name, effect: facts.lineOf(second.step), other: facts.statementFact(second.step) },
      };
    },
  }),
];

/**
 * Two meanings of a name in one frame, the second of a later statement of the same loop or function, which is not run
 * under a condition alone. At a program's top level a name is often given to the next thing without harm.
 */
function* rebindings(facts: RunFacts): Generator<[NameBinding, NameBinding]> {
  for (const meanings of facts.scan.meaningsByName.values())
    for (const [k, second] of meanings.entries()) {
      const first = meanings[k - 1];
      if (first?.uid[0] !== "t" || first.name.startsWith("_")) continue;
      if (!isAssigned(facts, first) || !isAssigned(facts, second)) continue;
      const [a, b] = [facts.steps[first.step].stmt ?? -1, facts.steps[second.step].stmt ?? -1];
      const [loop, next] = [a, b].map((stmt) => facts.trace.program.statements?.[stmt]?.loop ?? null);
      if (loop !== next || (loop === null && !facts.steps[second.step].depth)) continue;
      if (a < b && !isConditional(facts.trace.program, b)) yield [first, second];
      const isRepeated = a === b && loop !== null && isOnlyBound(facts.syntax(second.step), first.name);
      if (isRepeated && !isMentionedBetween(facts, first, second.step) && isLastOfTerms(facts, meanings, first))
        yield [first, second];
    }
}

/** Whether a statement of the frame mentions a name before a step at which it gets another meaning. */
function isMentionedBetween(facts: RunFacts, { name, frame, step }: NameBinding, end: number): boolean {
  for (let at = step + 1; at < end; at++)
    if (facts.steps[at].frame === frame && facts.mentionsAt(at).names.has(name)) return true;
  return false;
}

/** Whether only the last of what a loop computed by one statement is read, and as a term of a loss. */
function isLastOfTerms(facts: RunFacts, all: NameBinding[], first: NameBinding): boolean {
  const iterationsAround = ({ step }: NameBinding) => `${facts.steps[step].iter?.slice(0, -1)}`;
  const meanings = all.filter((each) => iterationsAround(each) === iterationsAround(first));
  if (meanings.length < MIN_TERMS || meanings.some(({ uid, step }) => facts.tensor(uid, step)?.shape?.length !== 0))
    return false;
  const readers = meanings.map(({ uid }) => facts.dataflow.edgesOutOf.get(uid) ?? []);
  const [last] = readers.slice(-1);
  return (
    readers.slice(0, -1).every((edges) => !edges.length) &&
    last.some(({ op }) => op && TERM.test(operationName(op.name)))
  );
}

/** Whether a name got its meaning where it stands, not in iterations that were left out before. */
function isAssigned(facts: RunFacts, { step }: NameBinding) {
  const tree = facts.steps[step].kind === "statement" ? facts.syntax(step) : null;
  return tree !== null && assignments(tree).length > 0;
}

/** Whether an assignment gives a name an expression of its own: `h, c = a, b` and `c = b`, not `h, c = f()`. */
function isAssignedOwnExpression(tree: SyntaxNode, name: string) {
  return assignments(tree).some(
    ({ target, value }) =>
      (target.kind === "Name" && target.value === name) ||
      (target.kind === "Tuple" && value?.kind === "Tuple" && target.children.some((part) => part.value === name)),
  );
}

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

function methodNotCalled(facts: RunFacts, step: number, node: SyntaxNode): Diagnosis | null {
  const [object, method] = [node.children[0], String(node.value)];
  if (!METHODS_WITH_EFFECT.has(method) && !isInPlaceName(method)) return null;
  return facts.resolve(object, step) || isScheduler(facts, object.text)
    ? plainDiagnosis(step, "not_called", object.text, `${method}()`, ["call_it"])
    : null;
}

/** Whether the program assigns a scheduler of torch to a name or an attribute. */
function isScheduler({ trace: { program } }: RunFacts, text: string): boolean {
  return statementTrees(program).some(
    (tree) => tree && schedulerAssignments(tree).some(({ target }) => target.text === text),
  );
}

/** A comparison of a variable with a constant. */
function unusedComparison(step: number, node: SyntaxNode): Diagnosis | null {
  const [left, right] = node.children;
  const isMeant = node.value === "==" && pathSteps(left) && literalValue(right) !== undefined;
  return isMeant ? plainDiagnosis(step, "comparison", left.text, `${left.text} = ${right.text}`, ["assign_it"]) : null;
}

/** What a custom function returns, with its node: thrown away, its backward never runs. */
function discardedFunctionResult(facts: RunFacts, step: number, call: SyntaxNode): Diagnosis | null {
  const result = referencedUid(facts.steps[step].value) ?? "";
  const hasHistory = facts.history.valueAt(result, "requires_grad", step) === true;
  const isOfFunction = hasHistory && facts.backwardCalls.some((each) => each.step > step);
  const readers = facts.dataflow.edgesOutOf.get(result) ?? [];
  if (!isOfFunction || facts.index.isAlive(result, step) || readers.some(({ op, step: at }) => op && at >= step))
    return null;
  return plainDiagnosis(step, "function", pathText(receiver(call)) ?? "", "apply");
}

/** A new tensor that died with its statement, while what it was made of is used later. */
function discardedResult(facts: RunFacts, step: number, call: SyntaxNode): Diagnosis | null {
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
  const x = facts.nameText(source, step) || !object ? facts.nameFact(source, step) : codeFact(object.text);
  if (!name || !isUsedLater(facts, name, step)) return null;
  const method = calleeName(call);
  return {
    variant: method === "detach" ? "detach" : "method",
    cause: step,
    chain: [madeBefore(facts, source, step), [step, "none", [source]]],
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
      facts.mentionsAt(i).names.has(name),
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
