/**
 * An operation was refused because of the sizes of its operands: which dimensions do not fit, and where each has its
 * size from.
 */

import { completeDiagnosis, declareErrorDiagnosis, operationName } from "../diagnosis.ts";
import type { Diagnosis, Link, Operation, RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { tensorsReadByStatement } from "../statements/mentioned_entities.ts";
import { operandsOf, type Operand } from "./operands.ts";
import { forwardOfFailedVisit } from "./failed_call.ts";
import { batchSqueeze } from "./property_origin.ts";
import { fixesForErrorMessage, shapeMismatchFixes, type ShapeMismatch } from "./shape_fixes.ts";
import { numel } from "../../trace/reads.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "shape_mismatch", say: shapeMismatch })];

const SHAPE_ERROR =
  /mat1 and mat2|size mismatch|must match (?:the )?(?:size|existing)|Sizes of tensors must match|shapes? .*(?:cannot|invalid|mismatch|must)|shape '.*' is invalid|equal size|inconsistent tensor size|Expected .*(?:channels|size|batch_size|dimension)|doesn't match the broadcast shape|is not broadcastable|expected (?:input|\d+D|m1|hidden)|Given groups=|input\.size\(-1\) must be equal|target size|Mismatch in shape|expand\(|dimensions? specified|number of dimensions|unflatten|same number of dimensions|should contain \d+ elements|incompatible/i;
const SINGLE_VALUE_ERROR = /more than 1 (?:value per channel|spatial element) when training/;
const PRODUCT_OPERATIONS = /^(?:matmul|mm|bmm|mv|dot|addmm|addmv|baddbmm|linear|einsum|__matmul__|inner|addbmm)$/;
const ELEMENTWISE_OPERATIONS =
  /^(?:add|sub|rsub|mul|div|true_divide|pow|eq|ne|lt|le|gt|ge|where|maximum|minimum|atan2|remainder|fmod|lerp|addcmul|addcdiv|mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy|binary_cross_entropy_with_logits|broadcast_tensors|copy|logical_and|logical_or|bitwise_and|bitwise_or|masked_fill|cosine_similarity|fill)_?$/;

function shapeMismatch(facts: RunFacts): Diagnosis | null {
  const { message = "", type = "" } = facts.error ?? {};
  if (!/^(?:RuntimeError|ValueError|IndexError)$/.test(type)) return null;
  if (/loading state_dict|found invalid values/.test(message)) return null;
  const op = facts.failedOperation ?? forwardOfFailedVisit(facts);
  if (op?.inputs.some((uid) => facts.tensor(uid, op.step)?.wraps)) return null;
  const operands = op ? operandsOf(facts, op) : [];
  const mismatch = op ? firstMismatch(operationName(op.name), operands) : null;
  const isShapeError = SHAPE_ERROR.test(message) && !/dtype|scalar type/i.test(message);
  if (!isShapeError && !(mismatch && /size|shape|dimension/i.test(message))) return null;
  const diagnosis =
    mismatch && op ? operandPairDiagnosis(facts, op, mismatch) : diagnosisWithoutPair(facts, op, operands);
  return withSqueezedBatch(facts, diagnosis, op, operands);
}

/** The same, where a `squeeze()` took the batch dimension away: that is its cause. */
function withSqueezedBatch(
  facts: RunFacts,
  diagnosis: Diagnosis,
  op: Operation | null,
  operands: Operand[],
): Diagnosis {
  const change = op && batchSqueeze(facts, operands, op.step);
  if (!change) return diagnosis;
  const tensor = facts.tensor(change.uid, change.step);
  const squeeze = {
    before: tupleText(change.before?.shape ?? []),
    after: tupleText(tensor?.shape ?? []),
    error_line: facts.error?.line ?? 0,
  };
  const { chain, ...squeezed } = completeDiagnosis(facts, {
    ...diagnosis,
    variant: "squeezed",
    cause: change.step,
    chain: [[change.step, "counted", [change.uid]], ...diagnosis.chain],
    facts: { ...diagnosis.facts, ...squeeze },
    fixes: [],
  });
  return { ...squeezed, chain: chain.sort((a, b) => a.step - b.step) };
}

function operandPairDiagnosis(facts: RunFacts, op: Operation, mismatch: ShapeMismatch): Diagnosis {
  const { variant, a, b, dimA, dimB } = mismatch;
  const { step } = op;
  const originLinks = [a, b]
    .map((operand) => ({ operand, ...sizeOrigin(facts, operand, operand === a ? dimA : dimB, step) }))
    .filter(({ made }) => made < step)
    .sort((first, second) => first.made - second.made)
    .map(({ operand, uid, made }): Link => {
      const x = uid === operand.uid ? operand.name : facts.nameFact(uid, step);
      return [made, "made", [uid], { x, x_shape: tupleText(facts.tensor(uid, step)?.shape ?? operand.shape) }];
    });
  return {
    variant,
    cause: step,
    chain: [...originLinks, [step, "checked", [a.uid, b.uid]]],
    names: [a.name, b.name],
    facts: {
      x: a.name,
      y: b.name,
      x_shape: tupleText(a.shape),
      y_shape: tupleText(b.shape),
      x_size: a.shape[dimA] ?? 1,
      y_size: b.shape[dimB] ?? 1,
      x_dim: dimA,
      y_dim: dimB,
      op: operationName(op.name).replace(/^__|__$|_$/g, ""),
    },
    fixes: shapeMismatchFixes(facts, mismatch, facts.place(step)),
  };
}

/** An operand and the step that made it, or the tensor of the same size that the same statement made it from. */
function sizeOrigin(facts: RunFacts, operand: Operand, dim: number, step: number) {
  let { uid, made } = operand;
  const size = operand.shape[dim];
  for (let k = 0; k < 20 && made >= step; k++) {
    const op = facts.producingOperation(uid);
    const sourceUid = op?.inputs.find((input) => facts.tensor(input, step)?.shape?.includes(size));
    if (!sourceUid) break;
    uid = sourceUid;
    made = Math.max(0, facts.birthStep(sourceUid));
  }
  return { uid, made };
}

/** Which dimensions do not fit. */
function firstMismatch(op: string, operands: Operand[]): ShapeMismatch | null {
  const [a, b, c] = operands;
  if (!a || !b) return null;
  if (op === "linear")
    return a.shape.at(-1) === b.shape[1] ? null : pairMismatch("linear", a, b, a.shape.length - 1, 1);
  if (/^(?:addmm|addmv|baddbmm)$/.test(op) && c) return matmulMismatch(b, c);
  if (PRODUCT_OPERATIONS.test(op)) return matmulMismatch(a, b);
  if (/^conv\d?d?|^convolution/.test(op))
    return a.shape[1] === b.shape[1] ? null : pairMismatch("channels", a, b, 1, 1);
  if (/^(?:cat|concat|concatenate|stack|hstack|vstack)$/.test(op)) return concatenationMismatch(operands);
  if (/^(?:cross_entropy_loss|nll_loss|nll_loss_nd)$/.test(op))
    return a.shape[0] === b.shape[0] ? null : pairMismatch("batch", a, b, 0, 0);
  return ELEMENTWISE_OPERATIONS.test(op) ? broadcastMismatch(a, b) : null;
}

function pairMismatch(variant: string, a: Operand, b: Operand, dimA: number, dimB: number): ShapeMismatch {
  return { variant, a, b, dimA, dimB };
}

function matmulMismatch(a: Operand, b: Operand) {
  const dimB = Math.max(0, b.shape.length - 2);
  return a.shape.at(-1) === b.shape[dimB] ? null : pairMismatch("product", a, b, a.shape.length - 1, dimB);
}

function broadcastMismatch(a: Operand, b: Operand) {
  for (let k = 1; k <= Math.min(a.shape.length, b.shape.length); k++) {
    const [n, m] = [a.shape[a.shape.length - k], b.shape[b.shape.length - k]];
    if (n !== m && n !== 1 && m !== 1) return pairMismatch("broadcast", a, b, a.shape.length - k, b.shape.length - k);
  }
  if (a.shape.length < b.shape.length || a.shape.some((n, k) => n === 1 && (b.shape.at(k - a.shape.length) ?? 1) > 1))
    return pairMismatch("into", a, b, 0, 0);
  return null;
}

function concatenationMismatch(operands: Operand[]) {
  const [a] = operands;
  for (const b of operands.slice(1)) {
    const differing = a.shape.flatMap((size, k) => (size === b.shape[k] ? [] : [k]));
    if (differing.length || a.shape.length !== b.shape.length)
      return pairMismatch("join", a, b, differing.at(-1) ?? 0, differing.at(-1) ?? 0);
  }
  return null;
}

/** Sizes that do not fit otherwise: what went in is named with its shape. */
function diagnosisWithoutPair(facts: RunFacts, op: Operation | null, operands: Operand[]): Diagnosis {
  const step = op?.step ?? facts.errorStep;
  const uid = operands[0]?.uid ?? tensorsReadByStatement(facts, step)[0]?.uid ?? null;
  const shape = operands[0]?.shape ?? facts.tensor(uid, step)?.shape ?? [];
  const x = operands[0]?.name ?? facts.nameFact(uid, step);
  const wantedShape = /shape '([^']*)' is invalid/.exec(facts.error?.message ?? "")?.[1];
  const findingFacts = {
    x,
    x_shape: tupleText(shape),
    n: numel(shape),
    wanted: wantedShape ?? "",
    given: /torch\.Size\(\[(.*?)\]\)/.exec(facts.error?.message ?? "")?.[1] ?? "",
    op: op ? operationName(op.name) : "",
    message: (facts.error?.message ?? "").split("\n")[0],
  };
  const birthStep = facts.birthStep(uid);
  return {
    variant: SINGLE_VALUE_ERROR.test(findingFacts.message)
      ? "one_value"
      : wantedShape
        ? "count"
        : uid
          ? "general"
          : "unknown",
    cause: step,
    chain: [birthStep >= 0 && birthStep < step && [birthStep, "made", [uid]], [step, "checked", [uid]]],
    facts: findingFacts,
    fixes: fixesForErrorMessage(facts, facts.place(step), shape),
  };
}
