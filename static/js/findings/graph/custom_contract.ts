/**
 * What `torch.autograd.Function` asks of its methods: static ones, and that what was saved for backward stays as it is.
 */

import { nameTextOfFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { customFunctionName, forwardCall } from "../facts/custom_function_call.ts";
import { callsIn, importedPath, methodCalls, pathText, positionalArguments } from "../../syntax/expressions.ts";
import { childOf, childrenOf, statementTree, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

const LEGACY_FUNCTION_ERROR = /Legacy autograd function/;
const FUNCTION_INSTANCE_ERROR = /^'([^']+)' object (?:has no attribute|is not)/;

export function diagnoseFunctionContractBreaches(facts: RunFacts): Diagnosis[] {
  return [...nonStaticMethods(facts), ...functionsNotApplied(facts), ...savedThenWritten(facts)];
}

/** An instance of a function was used as if it were its result: `F(x)` makes one, `F.apply(x)` computes. */
function functionsNotApplied(facts: RunFacts): Diagnosis[] {
  const name = FUNCTION_INSTANCE_ERROR.exec(facts.error?.message ?? "")?.[1] ?? "";
  if (!statementTrees(facts.trace.program).some((tree) => isFunctionClass(tree) && tree?.value === name)) return [];
  const isInstance = (call: SyntaxNode) => pathText(childOf(call, "func")) === name && call.children.length > 1;
  const step = facts.steps.findLastIndex((_, i) => i <= facts.errorStep && callsIn(facts.syntax(i)).some(isInstance));
  if (step < 0) return [];
  const findingFacts = { function: { code: name }, x: { code: name } };
  return [
    {
      variant: "not_applied",
      cause: step,
      chain: [step < facts.errorStep && [step, "made"], [facts.errorStep, "checked"]],
      names: [findingFacts.function],
      facts: findingFacts,
      fixes: [["apply_function", { name }]],
      explainsError: true,
    },
  ];
}

/** Whether a statement makes a class of `torch.autograd.Function`. */
function isFunctionClass(tree: SyntaxNode | null) {
  return childrenOf(tree, "bases").some((base) => importedPath(base)?.endsWith(".Function"));
}

/** A function of the old style: its methods are not static, and an instance of it is called. */
function nonStaticMethods(facts: RunFacts): Diagnosis[] {
  const { error } = facts;
  if (!error || !LEGACY_FUNCTION_ERROR.test(error.message)) return [];
  const step = facts.errorStep;
  const { program } = facts.trace;
  const classAround = (stmt: number) => statementTree(program, program.statements?.[stmt].parent);
  const forward = statementTrees(program).findIndex(
    (tree, k) =>
      tree?.kind === "FunctionDef" &&
      tree.value === "forward" &&
      isFunctionClass(classAround(k)) &&
      !childrenOf(tree, "decorator_list").some((node) => importedPath(node) === "builtins.staticmethod"),
  );
  if (forward < 0) return [];
  const name = String(classAround(forward)?.value);
  const cause = { line: program.statements?.[forward].line ?? 0, step };
  const findingFacts = {
    function: { code: name },
    forward: { code: "forward" },
    x: { code: name },
    code: facts.statementFact(step),
  };
  return [
    {
      variant: "legacy",
      cause,
      chain: [
        [cause, "made"],
        [step, "checked"],
      ],
      names: [findingFacts.function, findingFacts.forward],
      facts: findingFacts,
      fixes: [["static_methods", { name }]],
      explainsError: true,
    },
  ];
}

/** Forward went on to write what it had given to `save_for_backward`, which keeps the tensor as it is when forward
 * ends. */
function savedThenWritten(facts: RunFacts): Diagnosis[] {
  const out: Diagnosis[] = [];
  for (const nodeUid of facts.index.nodes.keys()) {
    if (facts.scan.initialFields(nodeUid)?.custom !== true || !facts.index.visitStepsByNode.has(nodeUid)) continue;
    const call = forwardCall(facts, nodeUid, facts.birthStep(nodeUid));
    const savedWrite = call ? writeAfterSave(facts, call) : null;
    if (savedWrite) out.push(savedThenWrittenDiagnosis(facts, nodeUid, savedWrite));
  }
  return out;
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

function savedThenWrittenDiagnosis(
  facts: RunFacts,
  nodeUid: string,
  { uid, saved, written }: { uid: string; saved: number; written: number },
): Diagnosis {
  const x = facts.nameFact(uid, written);
  const visit = facts.visitsOf(nodeUid)?.[0] ?? written;
  const findingFacts = { x, function: customFunctionName(facts, nodeUid), saved: facts.steps[saved].line };
  return {
    variant: "saved_written",
    severity: "warning",
    cause: written,
    chain: [
      [saved, "saved", [uid, nodeUid], { op: findingFacts.function }],
      [written, "written", [uid]],
      [visit, "starts", [nodeUid]],
    ],
    facts: findingFacts,
    fixes: [["out_of_place"], ["clone_before", { name: nameTextOfFact(x) }]],
  };
}
