/** `view` was refused because the elements do not lie in that order: which operation left them like that. */

import { fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { operationName } from "./operation_name.ts";
import type { Tensor } from "../trace/wire.ts";
import type { RunFacts } from "./run_facts.ts";

const MESSAGE =
  /view size is not compatible with input tensor's size and stride|input is not contiguous|expected contiguous|must be contiguous|contiguous tensor/i;
const MAX_OPERATIONS_BACK = 40;

export function notContiguous(facts: RunFacts): Diagnosis[] {
  if (!MESSAGE.test(facts.error?.message ?? "")) return [];
  const op = facts.failedOperation;
  const step = op?.step ?? facts.errorStep;
  const uid = op?.inputs.find((input) => !isContiguous(facts.tensor(input, step))) ?? op?.inputs[0] ?? null;
  const origin = uid ? reorderedBy(facts, uid, step) : null;
  const namedUid = uid ? nearestNamed(facts, uid, step) : null;
  const x = facts.nameFact(namedUid, step);
  const tensor = facts.tensor(uid, step);
  const findingFacts = {
    x,
    op: operationName(op?.name ?? "aten::view"),
    by: origin ? operationName(origin.name) : "",
    shape: tuple(tensor?.shape),
    stride: tuple(tensor?.stride),
    made_line: facts.lineOf(origin?.step ?? step),
    code: facts.codeFact(step),
  };
  const chain = [link(facts.place(step), "checked", findingFacts, [uid])];
  const birthStep = facts.birth(namedUid);
  if (namedUid && birthStep > (origin?.step ?? -1) && birthStep < step)
    chain.unshift(
      link(facts.place(birthStep), "way", { ...findingFacts, code: facts.codeFact(birthStep) }, [namedUid]),
    );
  if (origin && origin.step < step)
    chain.unshift(
      link(
        facts.place(origin.step),
        "made",
        { ...findingFacts, x: facts.nameFact(origin.outputs[0], origin.step), code: facts.codeFact(origin.step) },
        [origin.outputs[0]],
      ),
    );
  return [
    {
      variant: origin ? undefined : "unknown",
      cause: facts.place(step),
      chain,
      names: namesOf(x),
      facts: findingFacts,
      fixes: [fix("reshape", facts.place(step)), fix("contiguous", facts.place(step))],
      explainsError: true,
    },
  ];
}

function isContiguous(tensor: Tensor | undefined) {
  const { shape, stride } = tensor ?? {};
  if (!shape || !stride) return true;
  let expectedStride = 1;
  for (let k = shape.length - 1; k >= 0; k--) {
    if (shape[k] !== 1 && stride[k] !== expectedStride) return false;
    expectedStride *= shape[k];
  }
  return true;
}

/** The operation on the way to a tensor whose result first lay out of order; what follows kept the order. */
function reorderedBy(facts: RunFacts, uid: string, step: number) {
  let current = uid as string | undefined;
  let reordering = null;
  for (let k = 0; current && k < MAX_OPERATIONS_BACK; k++) {
    if (isContiguous(facts.tensor(current, step))) return reordering;
    const op = facts.producer(current);
    if (!op) return reordering;
    reordering = op;
    current = op.inputs.find((input) => !isContiguous(facts.tensor(input, op.step))) ?? "";
  }
  return reordering;
}

/** The nearest tensor with a name that one was made from. */
function nearestNamed(facts: RunFacts, uid: string, step: number) {
  let current = uid as string | undefined;
  for (let k = 0; current && k < MAX_OPERATIONS_BACK; k++) {
    if (facts.nameText(current, step)) return current;
    current = facts.producer(current)?.inputs[0];
  }
  return uid;
}

function tuple(sizes: number[] | null | undefined) {
  return `(${(sizes ?? []).join(", ")}${sizes?.length === 1 ? "," : ""})`;
}
