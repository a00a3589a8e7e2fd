/**
 * What `torch.autograd.Function` asks of its methods: static ones, and that what was saved for backward stays as it is.
 */

import { declareErrorDiagnosis, diagnosis, nameTextOfFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { customFunctionName, forwardCall } from "../facts/custom_function_call.ts";
import { callsIn, importedPath, methodCalls, pathText, positionalArguments } from "../../syntax/expressions.ts";
import { childOf, childrenOf, statementTree, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

const KIND = "custom_function";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({ kind: KIND, message: /Legacy autograd function/, say: nonStaticMethods }),
  declareErrorDiagnosis({
    kind: KIND,
    message: /^'([^']+)' object (?:has no attribute|is not)/,
    say: functionNotApplied,
  }),
  diagnosis({ kind: KIND, severity: "error", of: ({ index }) => index.nodes.keys(), say: savedThenWritten }),
];

/** An instance of a function was used as if it were its result: `F(x)` makes one, `F.apply(x)` computes. */
function functionNotApplied(facts: RunFacts, raised: number, [, name]: RegExpExecArray): Diagnosis | null {
  if (!statementTrees(facts.trace.program).some((tree) => isFunctionClass(tree) && tree?.value === name)) return null;
  const isInstance = (call: SyntaxNode) => pathText(childOf(call, "func")) === name && call.children.length > 1;
  const step = facts.steps.findLastIndex((_, i) => i <= raised && callsIn(facts.syntax(i)).some(isInstance));
  if (step < 0) return null;
  const findingFacts = { function: { code: name }, x: { code: name } };
  return {
    variant: "not_applied",
    cause: step,
    chain: [step < raised && [step, "made"], [raised, "checked"]],
    names: [findingFacts.function],
    facts: findingFacts,
    fixes: [["apply_function", { name }]],
  };
}

/** Whether a statement makes a class of `torch.autograd.Function`. */
function isFunctionClass(tree: SyntaxNode | null) {
  return childrenOf(tree, "bases").some((base) => importedPath(base)?.endsWith(".Function"));
}

/** A function of the old style: its methods are not static, and an instance of it is called. */
function nonStaticMethods(facts: RunFacts, step: number): Diagnosis | null {
  const { program } = facts.trace;
  const classAround = (stmt: number) => statementTree(program, program.statements?.[stmt].parent);
  const forward = statementTrees(program).findIndex(
    (tree, k) =>
      tree?.kind === "FunctionDef" &&
      tree.value === "forward" &&
      isFunctionClass(classAround(k)) &&
      !childrenOf(tree, "decorator_list").some((node) => importedPath(node) === "builtins.staticmethod"),
  );
  if (forward < 0) return null;
  const name = String(classAround(forward)?.value);
  const cause = { line: program.statements?.[forward].line ?? 0, step };
  const findingFacts = {
    function: { code: name },
    forward: { code: "forward" },
    x: { code: name },
    code: facts.statementFact(step),
  };
  return {
    variant: "legacy",
    cause,
    chain: [
      [cause, "made"],
      [step, "checked"],
    ],
    names: [findingFacts.function, findingFacts.forward],
    facts: findingFacts,
    fixes: [["static_methods", { name }]],
  };
}

/** Forward went on to write what it had given to `save_for_backward`, which keeps the tensor as it is when forward
 * ends. */
function savedThenWritten(facts: RunFacts, node: string): Diagnosis | null {
  const [visit] = facts.visitsOf(node);
  const isOwn = facts.scan.initialFields(node)?.custom === true && visit !== undefined;
  const call = isOwn ? forwardCall(facts, node, facts.birthStep(node)) : null;
  const found = call && writeAfterSave(facts, call);
  if (!found) return null;
  const { uid, saved, written } = found;
  const x = facts.nameFact(uid, written);
  const name = customFunctionName(facts, node);
  return {
    variant: "saved_written",
    severity: "warning",
    cause: written,
    chain: [
      [saved, "saved", [uid, node], { op: name }],
      [written, "written", [uid]],
      [visit, "starts", [node]],
    ],
    facts: { x, function: name, saved: facts.steps[saved].line },
    fixes: [["out_of_place"], ["clone_before", { name: nameTextOfFact(x) }]],
  };
}

/** A tensor that `forward` wrote after it had saved it, with the steps of both. */
function writeAfterSave(
  facts: RunFacts,
  { frame, start, end }: { frame: string; start: number; end: number },
): { uid: string; saved: number; written: number } | null {
  for (let saved = start; saved <= end; saved++) {
    if (facts.steps[saved].frame !== frame) continue;
    for (const node of methodCalls(facts.syntax(saved), "save_for_backward").flatMap(positionalArguments)) {
      const uid = facts.resolve(node, saved);
      const storageUid = facts.handle(uid, saved)?.storage;
      const { depth } = facts.steps[saved];
      const write = facts
        .writesOf(storageUid)
        .find(({ step }) => step > saved && step <= end && facts.steps[step].depth >= depth);
      if (uid && write) return { uid, saved, written: write.step };
    }
  }
  return null;
}
