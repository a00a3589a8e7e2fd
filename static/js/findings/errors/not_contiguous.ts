/** `view` was refused because the elements do not lie in that order: which operation left them like that. */

import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import type { Tensor } from "../../trace/wire.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "not_contiguous", severity: "error", diagnose: diagnoseViewOfNonContiguous, onError: true },
];

const NOT_CONTIGUOUS_ERROR =
  /view size is not compatible with input tensor's size and stride|input is not contiguous|expected contiguous|must be contiguous|contiguous tensor/i;
const MAX_OPERATIONS_BACK = 40;

function diagnoseViewOfNonContiguous(facts: RunFacts): Diagnosis[] {
  if (!NOT_CONTIGUOUS_ERROR.test(facts.error?.message ?? "")) return [];
  const op = facts.failedOperation;
  const step = op?.step ?? facts.errorStep;
  const uid = op?.inputs.find((input) => !isTensorContiguous(facts.tensor(input, step))) ?? op?.inputs[0] ?? null;
  const origin = uid ? operationThatReordered(facts, uid, step) : null;
  const namedUid = uid ? nearestNamedSource(facts, uid, step) : null;
  const x = facts.nameFact(namedUid, step);
  const tensor = facts.tensor(uid, step);
  const findingFacts = {
    x,
    op: operationName(op?.name ?? "aten::view"),
    by: origin ? operationName(origin.name) : "",
    shape: tupleText(tensor?.shape),
    stride: tupleText(tensor?.stride),
    made_line: facts.lineOf(origin?.step ?? step),
    code: facts.statementFact(step),
  };
  const chain = [chainLink(facts.place(step), "checked", findingFacts, [uid])];
  const birthStep = facts.birthStep(namedUid);
  if (namedUid && birthStep > (origin?.step ?? -1) && birthStep < step)
    chain.unshift(
      chainLink(facts.place(birthStep), "way", { ...findingFacts, code: facts.statementFact(birthStep) }, [namedUid]),
    );
  if (origin && origin.step < step)
    chain.unshift(
      chainLink(
        facts.place(origin.step),
        "made",
        { ...findingFacts, x: facts.nameFact(origin.outputs[0], origin.step), code: facts.statementFact(origin.step) },
        [origin.outputs[0]],
      ),
    );
  return [
    {
      variant: origin ? undefined : "unknown",
      cause: facts.place(step),
      chain,
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [fixHint("reshape", facts.place(step)), fixHint("contiguous", facts.place(step))],
      explainsError: true,
    },
  ];
}

function isTensorContiguous(tensor: Tensor | undefined) {
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
function operationThatReordered(facts: RunFacts, uid: string, step: number) {
  let current = uid as string | undefined;
  let reordering = null;
  for (let k = 0; current && k < MAX_OPERATIONS_BACK; k++) {
    if (isTensorContiguous(facts.tensor(current, step))) return reordering;
    const op = facts.producingOperation(current);
    if (!op) return reordering;
    reordering = op;
    current = op.inputs.find((input) => !isTensorContiguous(facts.tensor(input, op.step))) ?? "";
  }
  return reordering;
}

/** The nearest tensor with a name that one was made from. */
function nearestNamedSource(facts: RunFacts, uid: string, step: number) {
  let current = uid as string | undefined;
  for (let k = 0; current && k < MAX_OPERATIONS_BACK; k++) {
    if (facts.nameText(current, step)) return current;
    current = facts.producingOperation(current)?.inputs[0];
  }
  return uid;
}

function tupleText(sizes: number[] | null | undefined) {
  return `(${(sizes ?? []).join(", ")}${sizes?.length === 1 ? "," : ""})`;
}
