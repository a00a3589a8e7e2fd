/**
 * A `torch.autograd.Function` that breaks its contract: it writes an input and does not say so, or gives wrong
 * gradients back.
 */

import { codeFact, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, DiagnosisRow, RunFacts } from "../diagnosis.ts";
import { diagnoseFunctionContractBreaches } from "./custom_contract.ts";
import { customFunctionNodeOfTarget, findRefusedWrite } from "../memory/refused_write.ts";
import { importedPath, methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { childrenOf, statementTree } from "../../syntax/tree.ts";
import { forwardCall, customFunctionName } from "../facts/custom_function_call.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "custom_function", severity: "error", diagnose: diagnoseCustomFunctionMistakes },
];

const GRADIENT_COUNTS_IN_ERROR = /\(expected (\d+), got (\d+)\)/;
const WRONG_GRADIENTS_ERROR =
  /returned an incorrect number of gradients|returned an invalid gradient at index (\d+)|expected shape compatible with/;
const ONCE_ERROR = /differentiate twice a function that was marked with @once_differentiable/;

function diagnoseCustomFunctionMistakes(facts: RunFacts): Diagnosis[] {
  return [
    ...refusedWrites(facts),
    ...wrongGradients(facts),
    ...secondDerivativesRefused(facts),
    ...undeclaredWrites(facts),
    ...diagnoseFunctionContractBreaches(facts),
  ];
}

/** A write into the output of a custom function, such as the one that a full backward hook puts around a module. */
function refusedWrites(facts: RunFacts): Diagnosis[] {
  const write = facts.error ? findRefusedWrite(facts) : null;
  const custom = write?.op.grad_mode ? customFunctionNodeOfTarget(facts, write) : null;
  if (!write || !custom) return [];
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
  return [
    {
      variant: isModuleHook ? "hook" : "output",
      cause,
      chain: [registrationStep >= 0 && [registrationStep, "hooked"], [step, "checked", [custom.handle]]],
      facts: findingFacts,
      fixes: [["not_inplace", {}, step]],
      explainsError: true,
    },
  ];
}

/** On what a step registers a full backward hook. */
function hookRegistration(facts: RunFacts, step: number) {
  const methods = ["register_full_backward_hook", "register_full_backward_pre_hook"];
  return methodCalls(facts.syntax(step), ...methods).map(receiver)[0] ?? null;
}

/** Backward of a function gave too few gradients, too many, or one of the wrong shape. */
function wrongGradients(facts: RunFacts): Diagnosis[] {
  const match = WRONG_GRADIENTS_ERROR.exec(facts.error?.message ?? "");
  const failed = facts.failedVisit;
  if (!match || !failed) return [];
  const { step, node } = failed;
  const birthStep = facts.birthStep(node);
  const returnStep = facts.steps.findLastIndex((row, i) => i <= step && row.kind === "return" && i > birthStep);
  const cause = returnStep >= 0 && facts.steps[returnStep].line ? returnStep : step;
  const [, expected, got] = GRADIENT_COUNTS_IN_ERROR.exec(facts.error?.message ?? "") ?? [];
  const findingFacts = {
    function: customFunctionName(facts, node),
    inputs: Number(expected ?? 0),
    given: Number(got ?? 0),
    index: match[1] ?? "",
    message: (facts.error?.message ?? "").split("\n")[0],
  };
  return [
    {
      variant: match[1] === undefined ? "count" : "shape",
      cause,
      chain: [
        [birthStep, "made", [node], { x: { code: findingFacts.function } }],
        [cause, "way", [node]],
        [step, "checked", [node]],
      ],
      names: [{ code: findingFacts.function }],
      facts: findingFacts,
      fixes: match[1] === undefined ? [["count_gradients", { name: findingFacts.function }]] : [],
      explainsError: true,
    },
  ];
}

/**
 * A gradient was to be differentiated that came through a backward which its decorator lets be differentiated only
 * once.
 */
function secondDerivativesRefused(facts: RunFacts): Diagnosis[] {
  const { message = "" } = facts.error ?? {};
  if (!ONCE_ERROR.test(message) && !/does not require grad and does not have a grad_fn/.test(message)) return [];
  const marked = functionsMarkedOnce(facts).filter(({ name }) => nodeUidOfFunction(facts, name));
  const [{ name, line, mark } = { name: "", line: 0, mark: "" }] = marked;
  const node = nodeUidOfFunction(facts, name);
  const first = facts.backwardCalls.find(({ createsGraph }) => createsGraph);
  if (marked.length !== 1 || !node) return [];
  const isDifferentiated = (facts.index.visitsByBackward.get(first?.uid ?? "") ?? []).some(
    ({ step: visit }) => facts.steps[visit].visit?.node === node,
  );
  if (!isDifferentiated && !ONCE_ERROR.test(message)) return [];
  const step = facts.errorStep;
  const called = facts.birthStep(node);
  return [
    {
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
      explainsError: true,
    },
  ];
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

/** Forward wrote into an input, whose history does not know of it: `mark_dirty` was not called. */
function undeclaredWrites(facts: RunFacts): Diagnosis[] {
  const out: Diagnosis[] = [];
  for (const [node, { name }] of facts.index.nodes) {
    const birthStep = facts.birthStep(node);
    if (facts.scan.initialFields(node)?.custom !== true || /BackwardHook/.test(name)) continue;
    const call = forwardCall(facts, node, birthStep);
    if (!call) continue;
    for (const [step, writtenStorage] of writesDuringCall(facts, call)) {
      const input = call.inputs.find(
        (uid) =>
          facts.handle(uid, call.end)?.storage === writtenStorage && !isWriteInHistory(facts, uid, node, call.end),
      );
      if (input) {
        out.push(undeclaredWriteDiagnosis(facts, { node, input, step, ...call }));
        break;
      }
    }
  }
  return out;
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

function undeclaredWriteDiagnosis(
  facts: RunFacts,
  { node, input, step, end }: { node: string; input: string; step: number; start: number; end: number },
): Diagnosis {
  const x = facts.nameFact(input, end);
  const innerName = facts.nameFact(input, step);
  return {
    variant: "mark_dirty",
    severity: "warning",
    cause: step,
    chain: [
      [step, "written", [input], { x: innerName }],
      [end, "used", [input, node]],
    ],
    names: [x, innerName],
    facts: { x, y: innerName, function: customFunctionName(facts, node) },
    fixes: [["mark_dirty", { name: nameTextOfFact(innerName) }]],
  };
}
