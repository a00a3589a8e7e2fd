/**
 * A `torch.autograd.Function` that breaks its contract: it writes an input and does not say so, or gives wrong
 * gradients back.
 */

import { codeFact, declareErrorDiagnosis, diagnosis, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, RunFacts } from "../diagnosis.ts";
import { customFunctionNodeOfTarget, findRefusedWrite } from "../memory/refused_write.ts";
import { importedPath, methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { childrenOf, statementTree } from "../../syntax/tree.ts";
import { forwardCall, customFunctionName } from "../facts/custom_function_call.ts";

const KIND = "custom_function";
const ONCE_ERROR = "differentiate twice a function that was marked with @once_differentiable";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({ kind: KIND, say: refusedWrite }),
  declareErrorDiagnosis({
    kind: KIND,
    message:
      /returned an incorrect number of gradients|returned an invalid gradient at index (\d+)|expected shape compatible with/,
    say: wrongGradients,
  }),
  declareErrorDiagnosis({
    kind: KIND,
    message: new RegExp(`${ONCE_ERROR}|does not require grad and does not have a grad_fn`),
    say: secondDerivativeRefused,
  }),
  diagnosis({ kind: KIND, severity: "error", of: customFunctionCalls, say: undeclaredWrite }),
];

/** A write into the output of a custom function, such as the one that a full backward hook puts around a module. */
function refusedWrite(facts: RunFacts): Diagnosis | null {
  const write = findRefusedWrite(facts);
  const custom = write?.op.grad_mode ? customFunctionNodeOfTarget(facts, write) : null;
  if (!write || !custom) return null;
  const { step, op } = write;
  const isModuleHook = /BackwardHookFunction/.test(facts.index.nodes.get(custom.node)?.name ?? "");
  const registrationStep = isModuleHook
    ? facts.steps.findLastIndex(({ kind }, i) => i <= step && kind === "statement" && hookRegistration(facts, i))
    : -1;
  const cause = registrationStep < 0 ? step : registrationStep;
  const module = registrationStep < 0 ? null : pathText(hookRegistration(facts, registrationStep));
  const findingFacts = {
    x: module ? { code: module } : facts.nameFact(custom.handle, step),
    write: operationName(op.name),
    function: customFunctionName(facts, custom.node),
    code: facts.statementFact(step),
  };
  return {
    variant: isModuleHook ? "hook" : "output",
    cause,
    chain: [registrationStep >= 0 && [registrationStep, "hooked"], [step, "checked", [custom.handle]]],
    facts: findingFacts,
    fixes: [["not_inplace", {}, step]],
  };
}

/** On what a step registers a full backward hook. */
function hookRegistration(facts: RunFacts, step: number) {
  const methods = ["register_full_backward_hook", "register_full_backward_pre_hook"];
  return methodCalls(facts.syntax(step), ...methods).map(receiver)[0] ?? null;
}

/** Backward of a function gave too few gradients, too many, or one of the wrong shape. */
function wrongGradients(facts: RunFacts, _: number, [, index]: RegExpExecArray): Diagnosis | null {
  const failed = facts.failedVisit;
  if (!failed) return null;
  const { step, node } = failed;
  const birthStep = facts.birthStep(node);
  const returnStep = facts.steps.findLastIndex((row, i) => i <= step && row.kind === "return" && i > birthStep);
  const cause = returnStep >= 0 && facts.steps[returnStep].line ? returnStep : step;
  const [, expected, got] = /\(expected (\d+), got (\d+)\)/.exec(facts.error?.message ?? "") ?? [];
  const findingFacts = {
    function: customFunctionName(facts, node),
    inputs: Number(expected ?? 0),
    given: Number(got ?? 0),
    index: index ?? "",
    message: (facts.error?.message ?? "").split("\n")[0],
  };
  return {
    variant: index === undefined ? "count" : "shape",
    cause,
    chain: [
      [birthStep, "made", [node], { x: { code: findingFacts.function } }],
      [cause, "way", [node]],
      [step, "checked", [node]],
    ],
    names: [{ code: findingFacts.function }],
    facts: findingFacts,
    fixes: index === undefined ? [["count_gradients", { name: findingFacts.function }]] : [],
  };
}

/**
 * A gradient was to be differentiated that came through a backward which its decorator lets be differentiated only
 * once.
 */
function secondDerivativeRefused(facts: RunFacts, step: number, { input: message }: RegExpExecArray): Diagnosis | null {
  const marked = functionsMarkedOnce(facts).filter(({ name }) => nodeUidOfFunction(facts, name));
  const [{ name, line, mark } = { name: "", line: 0, mark: "" }] = marked;
  const node = nodeUidOfFunction(facts, name);
  const first = facts.backwardCalls.find(({ createsGraph }) => createsGraph);
  if (marked.length !== 1 || !node) return null;
  const isDifferentiated = (facts.index.visitsByBackward.get(first?.uid ?? "") ?? []).some(
    ({ step: visit }) => facts.steps[visit].visit?.node === node,
  );
  if (!isDifferentiated && !message.includes(ONCE_ERROR)) return null;
  const called = facts.birthStep(node);
  return {
    variant: "once",
    cause: { line, step: called },
    chain: [
      [{ line, step: called }, "way", [node], { code: codeFact(`@${mark}`) }],
      [called, "made", [node], { x: { code: name } }],
      first && [first.step, "starts"],
      [step, "checked"],
    ],
    names: [{ code: name }],
    facts: { function: name, code: facts.statementFact(step), effect: facts.steps[step].line },
  };
}

/** The Functions of the program whose backward has the mark, each with its line and as it is written. */
function functionsMarkedOnce({ trace: { program } }: RunFacts): { name: string; line: number; mark: string }[] {
  return (program.statements ?? []).flatMap(({ parent }, stmt) => {
    const around = statementTree(program, parent);
    const marks = childrenOf(statementTree(program, stmt), "decorator_list").filter((node) =>
      importedPath(node)?.endsWith(".once_differentiable"),
    );
    return around?.kind === "ClassDef"
      ? marks.map(({ line, text }) => ({ name: String(around.value), line, mark: text }))
      : [];
  });
}

function nodeUidOfFunction(facts: RunFacts, name: string): string | undefined {
  return [...facts.index.nodes.keys()].find(
    (uid) => facts.scan.initialFields(uid)?.custom === true && customFunctionName(facts, uid) === name,
  );
}

/** The calls of the program's Functions, each with its node. */
function customFunctionCalls(facts: RunFacts) {
  return [...facts.index.nodes].flatMap(([node, { name }]) => {
    const isOwn = facts.scan.initialFields(node)?.custom === true && !/BackwardHook/.test(name);
    const call = isOwn ? forwardCall(facts, node, facts.birthStep(node)) : null;
    return call ? [{ node, ...call }] : [];
  });
}

type CustomFunctionCall = ReturnType<typeof customFunctionCalls>[number];

/** Forward wrote into an input, whose history does not know of it: `mark_dirty` was not called. */
function undeclaredWrite(facts: RunFacts, call: CustomFunctionCall): Diagnosis | null {
  const { node, inputs, end } = call;
  for (const [step, storage] of writesDuringCall(facts, call)) {
    const isWritten = (uid: string) => facts.handle(uid, end)?.storage === storage;
    const input = inputs.find((uid) => isWritten(uid) && !isWriteInHistory(facts, uid, node, end));
    if (!input) continue;
    const [x, y] = [facts.nameFact(input, end), facts.nameFact(input, step)];
    return {
      variant: "mark_dirty",
      severity: "warning",
      cause: step,
      chain: [
        [step, "written", [input], { x: y }],
        [end, "used", [input, node]],
      ],
      facts: { x, y, function: customFunctionName(facts, node) },
      fixes: [["mark_dirty", { name: nameTextOfFact(y) }]],
    };
  }
  return null;
}

/** Steps within a call that wrote, each with the storage: what its caller wrote before and after is none of it. */
function writesDuringCall(facts: RunFacts, { start, end }: { start: number; end: number }): [number, string][] {
  const out: [number, string][] = [];
  const { depth } = facts.steps[start];
  for (let i = start; i <= end; i++)
    for (const entry of facts.steps[i].log)
      if (entry.kind === "event" && entry.event === "written" && facts.steps[i].depth > depth)
        out.push([i, entry.storage]);
  return out;
}

/** Whether a tensor's history leads to the node that wrote it. */
function isWriteInHistory(facts: RunFacts, uid: string, nodeUid: string, step: number) {
  const tensor = facts.tensor(uid, step);
  return tensor?.grad_fn === nodeUid || !tensor?.requires_grad;
}
