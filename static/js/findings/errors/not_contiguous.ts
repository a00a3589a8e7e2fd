/** `view` was refused because the elements do not lie in that order: which operation left them like that. */

import { declareErrorDiagnosis, operationName, type RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import type { Tensor } from "../../trace/wire.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "not_contiguous",
    message:
      /view size is not compatible with input tensor's size and stride|input is not contiguous|expected contiguous|must be contiguous|contiguous tensor/i,
    say: (facts, raised) => {
      const op = facts.failedOperation;
      const step = op?.step ?? raised;
      const uid = op?.inputs.find((input) => !isTensorContiguous(facts.tensor(input, step))) ?? op?.inputs[0] ?? null;
      const origin = uid ? operationThatReordered(facts, uid, step) : null;
      const namedUid = uid ? nearestNamedSource(facts, uid, step) : null;
      const x = facts.nameFact(namedUid, step);
      const { shape, stride } = facts.tensor(uid, step) ?? {};
      const birthStep = facts.birthStep(namedUid);
      return {
        variant: origin ? undefined : "unknown",
        cause: step,
        chain: [
          origin &&
            origin.step < step && [
              origin.step,
              "made",
              [origin.outputs[0]],
              { x: facts.nameFact(origin.outputs[0], origin.step) },
            ],
          namedUid && birthStep > (origin?.step ?? -1) && birthStep < step && [birthStep, "way", [namedUid]],
          [step, "checked", [uid]],
        ],
        facts: {
          x,
          op: operationName(op?.name ?? "aten::view"),
          by: origin ? operationName(origin.name) : "",
          shape: tupleText(shape ?? []),
          stride: tupleText(stride ?? []),
          made_line: facts.lineOf(origin?.step ?? step),
        },
        fixes: [["reshape"], ["contiguous"]],
      };
    },
  }),
];

const MAX_OPERATIONS_BACK = 40;

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
