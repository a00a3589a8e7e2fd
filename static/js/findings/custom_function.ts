/** A `torch.autograd.Function` that breaks its contract: it writes an input and does not say so, or gives wrong gradients back. */

import { contractBreaches } from "./custom_contract.ts";
import { fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { customFunctionNode, findRefusedWrite } from "./refused_write.ts";
import { operationName } from "./operation_name.ts";
import type { RunFacts } from "./run_facts.ts";
import { forwardCall, functionName } from "./function_call.ts";

const GRADIENT_COUNTS = /\(expected (\d+), got (\d+)\)/;
const WRONG_GRADIENTS =
  /returned an incorrect number of gradients|returned an invalid gradient at index (\d+)|expected shape compatible with/;

export function customFunction(facts: RunFacts): Diagnosis[] {
  return [...refusedWrites(facts), ...wrongGradients(facts), ...undeclaredWrites(facts), ...contractBreaches(facts)];
}

/** A write into the output of a custom function, such as the one that a full backward hook puts around a module. */
function refusedWrites(facts: RunFacts): Diagnosis[] {
  const write = facts.error ? findRefusedWrite(facts) : null;
  const custom = write?.op.grad_mode ? customFunctionNode(facts, write) : null;
  if (!write || !custom) return [];
  const { step, op } = write;
  const isModuleHook = /BackwardHookFunction/.test(facts.index.nodes.get(custom.node)?.name ?? "");
  const registrationStep = isModuleHook ? hookRegistration(facts, step) : null;
  const cause = registrationStep ?? step;
  const module =
    registrationStep === null
      ? ""
      : (/([\p{L}_][\w.[\]'"]*)\.register_full_backward/u.exec(facts.code(registrationStep))?.[1] ?? "");
  const findingFacts = {
    x: module ? { code: module } : facts.nameFact(custom.handle, step),
    write: operationName(op.name),
    function: functionName(facts, custom.node),
    code: facts.codeFact(step),
  };
  const chain = [link(facts.place(step), "checked", findingFacts, [custom.handle])];
  if (registrationStep !== null)
    chain.unshift(
      link(facts.place(registrationStep), "hooked", { ...findingFacts, code: facts.codeFact(registrationStep) }, []),
    );
  return [
    {
      variant: isModuleHook ? "hook" : "output",
      cause: facts.place(cause),
      chain,
      names: namesOf(findingFacts.x),
      facts: findingFacts,
      fixes: [fix("not_inplace", facts.place(step))],
      explainsError: true,
    },
  ];
}

/** The last step that registered a full backward hook. */
function hookRegistration(facts: RunFacts, step: number) {
  for (let i = step; i >= 0; i--)
    if (/\.register_full_backward(_pre)?_hook\(/.test(facts.code(i)) && facts.steps[i].kind === "statement") return i;
  return null;
}

/** Backward of a function gave too few gradients, too many, or one of the wrong shape. */
function wrongGradients(facts: RunFacts): Diagnosis[] {
  const match = WRONG_GRADIENTS.exec(facts.error?.message ?? "");
  const failed = facts.failedVisit;
  if (!match || !failed) return [];
  const { step, node } = failed;
  const birthStep = facts.birth(node);
  const returnStep = facts.steps.findLastIndex((row, i) => i <= step && row.kind === "return" && i > birthStep);
  const cause = returnStep >= 0 && facts.steps[returnStep].line ? returnStep : step;
  const [, expected, got] = GRADIENT_COUNTS.exec(facts.error?.message ?? "") ?? [];
  const findingFacts = {
    function: functionName(facts, node),
    inputs: Number(expected ?? 0),
    given: Number(got ?? 0),
    index: match[1] ?? "",
    code: facts.codeFact(cause),
    message: (facts.error?.message ?? "").split("\n")[0],
  };
  return [
    {
      variant: match[1] === undefined ? "count" : "shape",
      cause: facts.place(cause),
      chain: [
        link(
          facts.place(birthStep),
          "made",
          { ...findingFacts, code: facts.codeFact(birthStep), x: { code: findingFacts.function } },
          [node],
        ),
        link(facts.place(cause), "way", findingFacts, [node]),
        link(facts.place(step), "checked", { ...findingFacts, code: facts.codeFact(step) }, [node]),
      ],
      names: [{ code: findingFacts.function }],
      facts: findingFacts,
      fixes:
        match[1] === undefined ? [fix("count_gradients", facts.place(cause), { name: findingFacts.function })] : [],
      explainsError: true,
    },
  ];
}

/** Forward wrote into an input, whose history does not know of it: `mark_dirty` was not called. */
function undeclaredWrites(facts: RunFacts): Diagnosis[] {
  const out: Diagnosis[] = [];
  for (const [node, { name }] of facts.index.nodes) {
    const birthStep = facts.birth(node);
    if (facts.scan.initialFields(node)?.custom !== true || /BackwardHook/.test(name)) continue;
    const call = forwardCall(facts, node, birthStep);
    if (!call) continue;
    for (const [step, writtenStorage] of writesWithin(facts, call)) {
      const input = call.inputs.find(
        (uid) => facts.handle(uid, call.end)?.storage === writtenStorage && !isDirty(facts, uid, node, call.end),
      );
      if (input) {
        out.push(undeclaredDiagnosis(facts, { node, input, step, ...call }));
        break;
      }
    }
  }
  return out;
}

/** Steps of a call that wrote, each with the storage. */
function writesWithin(facts: RunFacts, { start, end }: { start: number; end: number }): [number, string][] {
  const out: [number, string][] = [];
  for (let i = start; i <= end; i++)
    for (const entry of facts.steps[i].log)
      if (entry.kind === "event" && entry.event === "written") out.push([i, entry.storage]);
  return out;
}

/** Whether a tensor's history leads to the node that wrote it. */
function isDirty(facts: RunFacts, uid: string, nodeUid: string, step: number) {
  const tensor = facts.tensor(uid, step);
  return tensor?.grad_fn === nodeUid || !tensor?.requires_grad;
}

function undeclaredDiagnosis(
  facts: RunFacts,
  { node, input, step, end }: { node: string; input: string; step: number; start: number; end: number },
): Diagnosis {
  const x = facts.nameFact(input, end);
  const innerName = facts.nameFact(input, step);
  const findingFacts = { x, y: innerName, function: functionName(facts, node), code: facts.codeFact(step) };
  const callFacts = { ...findingFacts, code: facts.codeFact(end) };
  return {
    variant: "mark_dirty",
    severity: "warning",
    cause: facts.place(step),
    chain: [
      link(facts.place(step), "written", { ...findingFacts, x: innerName }, [input]),
      link(facts.place(end), "used", callFacts, [input, node]),
    ],
    names: namesOf(x, innerName),
    facts: findingFacts,
    fixes: [
      fix("mark_dirty", facts.place(step), {
        name: typeof innerName === "object" && "code" in innerName ? innerName.code : "",
      }),
    ],
  };
}
