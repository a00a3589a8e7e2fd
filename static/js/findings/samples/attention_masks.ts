/**
 * Attention by its numbers: masks that come after the softmax, that hide queries in place of keys, that keep what is
 * to be hidden, that hide nothing, that show what comes later; and weights that add up to 1 along another axis than
 * the one they are summed along.
 */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fact, Facts, RunFacts } from "../diagnosis.ts";
import { axesOf, isKnown, sizeOfAxis, originFactorsOf } from "../facts/axes.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { sumsAlong } from "../facts/tensor_values.ts";
import {
  attentionsOf,
  isBoolean,
  isMaskTensor,
  isSelfAttention,
  MAX_MASKED_SCORE,
  shapeOf,
  unbroadcastSize,
} from "./attentions.ts";
import type { Attention, Mask } from "./attentions.ts";

export const FINDINGS = [
  diagnosis({
    kind: "attention_weights",
    severity: "warning",
    of: attentionsOf,
    once: ({ op }, facts) => statementOfCandidate(op, facts),
    say: (facts, attention) => {
      const fault = attentionFault(facts, attention);
      return fault && diagnosisOf(facts, attention, fault);
    },
  }),
];

/** what is wrong with an attention: which sentences, the mask if one has a part in it, and their facts */
interface AttentionFault {
  variant: string;
  mask?: Mask;
  facts?: Facts;
}

/** Differences of scores beyond which a weight counts for nothing. */
const MAX_FELT_DIFFERENCE = 15;

function attentionFault(facts: RunFacts, attention: Attention): AttentionFault | null {
  const { normalized, summed, before, after } = attention;
  if (normalized !== summed) return wrongSoftmaxAxis(facts, attention);
  const isTrained = facts.eventsOfKind("optimizer_stepped").length > 0;
  const late = isTrained ? after.find((mask) => masksOnlyPartsOfRows(facts, attention, mask)) : undefined;
  if (late) return { variant: "after_softmax", mask: late, facts: { dim: -normalized } };
  const filled = isTrained ? after.find((mask) => mask.use === "fill" && isFilledAsScores(facts, mask)) : undefined;
  if (filled) return { variant: "filled_weights", mask: filled };
  if (after.length || before.length !== 1) return null;
  const [mask] = before;
  const direction = triangleDirection(facts, attention, mask);
  if (direction === "later") return looksBothWays(facts) ? null : { variant: "later", mask };
  if (typeof direction === "number")
    return direction > 0 ? { variant: "future", mask, facts: { ahead: direction } } : null;
  if (direction) return null;
  if (isMaskSameForAllKeys(facts, attention, mask)) return { variant: "queries", mask };
  if (isMaskIneffective(facts, attention, mask)) return { variant: "no_effect", mask };
  return keepsPadding(facts, attention, mask) ? { variant: "inverted", mask } : null;
}

/** Whether another attention of the run sees the earlier positions: one that sees the later ones is then meant. */
const looksBothWays = memoizePerRun((facts: RunFacts) =>
  attentionsOf(facts).some((each) => each.before.some((mask) => triangleDirection(facts, each, mask) === "earlier")),
);

/** Weights that add up to 1 along the queries, or along heads, where keys are summed: only of positions that attend to
 * one another. A product that sums heads mixes them; it weighs no positions. */
function wrongSoftmaxAxis(facts: RunFacts, attention: Attention): AttentionFault | null {
  const { scored, normalized, summed, after, op } = attention;
  const axes = axesOf(facts).of(op.outputs[0]);
  const [of, along] = [axes.at(-normalized) ?? [], axes.at(-summed) ?? []];
  if (summed > 2 || !scored || after.length || !of.length || !along.length || !isKnown(of) || !isKnown(along))
    return null;
  if (!/^(?:matmul|bmm|einsum|baddbmm)$/.test(operationName(scored.name)) || scored.inputs.length < 2) return null;
  const [queries, keys] = [axes.at(-2) ?? [], axes.at(-1) ?? []];
  const isSelf = queries.length > 0 && keys.every((factor, k) => factor === queries[k]);
  if (!isSelf || !scored.inputs.every((uid) => facts.scan.initialFields(uid)?.requires_grad)) return null;
  return { variant: "axis", facts: { wrong: codeFact(`dim=${op.args?.dim}`), right: codeFact(`dim=${-summed}`) } };
}

/** Whether a mask takes a part of rows of weights that had none hidden, and leaves a part. */
function masksOnlyPartsOfRows(facts: RunFacts, { op, normalized, before }: Attention, mask: Mask) {
  const shape = shapeOf(facts, mask.uid);
  if ((shape.at(-normalized) ?? 1) < 2) return false;
  const sums = rowSums(facts, mask, normalized);
  if (sums) return sums.some((sum) => sum > 1e-3 && sum < 1 - 1e-3) && !isRescaled(sums);
  const [numbers, least] = [facts.numbersOf(mask.uid, mask.op.step), facts.rangeOf(op.outputs[0], op.step)?.min];
  if (!numbers || !least || least <= 0 || before.length) return false;
  const kept = sumsAlong(numbers.map(Number), shape, shape.length - normalized);
  return kept.some((count) => count > 0 && count < (shape.at(-normalized) ?? 0));
}

/** Whether weights were filled with a number that hides a key only as a score. */
function isFilledAsScores(facts: RunFacts, { op }: Mask) {
  const [before, after] = [op.inputs[0], op.outputs[0]].map((uid) => facts.rangeOf(uid, op.step));
  return (before?.min ?? -1) >= 0 && (after?.min ?? 0) <= MAX_MASKED_SCORE;
}

/** Sums above 1 are those of weights that were scaled, as dropout does. */
function isRescaled(sums: number[]) {
  return sums.some((sum) => sum > 1 + 1e-3);
}

function rowSums(facts: RunFacts, { op }: Mask, normalized: number): number[] | null {
  const [output] = op.outputs;
  const [numbers, shape] = [facts.numbersOf(output, op.step), shapeOf(facts, output)];
  return numbers ? sumsAlong(numbers, shape, shape.length - normalized) : null;
}

/** Whether a mask is the same for all keys of a query, though queries and keys are the same positions. */
function isMaskSameForAllKeys(facts: RunFacts, attention: Attention, mask: Mask) {
  if (mask.use === "times" || !isSelfAttention(attention) || !suppressesScores(facts, attention, mask)) return false;
  const queries = attention.normalized === 1 ? 2 : 1;
  return unbroadcastSize(facts, mask.uid, attention.normalized) === 1 && unbroadcastSize(facts, mask.uid, queries) > 1;
}

/** Whether a mask gives the scores that it is for so little that their weights count for nothing. */
function suppressesScores(facts: RunFacts, { scores }: Attention, { op, uid, use }: Mask) {
  if (use === "seen") return true;
  const range =
    facts.rangeOf(use === "plus" ? uid : op.outputs[0], op.step) ?? (scores ? facts.rangeOf(scores, op.step) : null);
  return range !== null && !(range.min > MAX_MASKED_SCORE);
}

/** Whether a mask leaves what it is to hide with a share, as 0 and 1e-9 do, for which `exp` is 1. */
function isMaskIneffective(facts: RunFacts, attention: Attention, mask: Mask) {
  const { op, scores, normalized } = attention;
  if (unbroadcastSize(facts, mask.uid, normalized) < 2 || mask.use === "seen") return false;
  const numbers = facts.numbersOf(mask.uid, mask.op.step);
  if (!numbers?.some((each) => each === numbers[0]) || numbers.every((each) => each === numbers[0])) return false;
  if (numbers.some((each) => each !== 0 && each !== 1)) return false;
  if (mask.use === "plus") return isMadeFromBooleans(facts, mask.uid) && !isBoolean(facts, mask.uid);
  const range = scores ? facts.rangeOf(scores, op.step) : null;
  return range !== null && range.max - range.min < MAX_FELT_DIFFERENCE;
}

/** Whether a tensor was made from truth values, or of a triangle. */
function isMadeFromBooleans(facts: RunFacts, uid: string) {
  return (
    axesOf(facts)
      .ancestors(uid)
      .some((each) => isBoolean(facts, each)) || isTriangle(facts, uid)
  );
}

function isTriangle(facts: RunFacts, uid: string) {
  return axesOf(facts)
    .ancestors(uid)
    .some((each) => /^tri[lu]_?$/.test(operationName(facts.producingOperation(each)?.name ?? "")));
}

/** Which elements a mask hides, in its own shape; null where its numbers are not listed. */
function hiddenBy(facts: RunFacts, { uid, use, op }: Mask): boolean[] | null {
  const numbers = facts.numbersOf(uid, op.step);
  if (use === "plus")
    return numbers?.some((each) => each <= MAX_MASKED_SCORE) ? numbers.map((each) => each <= MAX_MASKED_SCORE) : null;
  return numbers?.map((each) => (use === "fill") === Boolean(each)) ?? null;
}

/**
 * What a triangle lets each position see: earlier ones and itself, so many later ones, or later ones alone; null for a
 * mask that is none.
 */
function triangleDirection(
  facts: RunFacts,
  attention: Attention,
  mask: Mask,
): "earlier" | "later" | "other" | number | null {
  const shape = shapeOf(facts, mask.uid);
  const size = sizeOfAxis(attention.keys);
  if (attention.normalized !== 1 || shape.at(-1) !== size || shape.at(-2) !== size || size < 3) return null;
  if (!isSelfAttention(attention) || !isTriangle(facts, mask.uid)) return null;
  const hidden = hiddenBy(facts, mask);
  if (!hidden || (mask.use !== "seen" && !suppressesScores(facts, attention, mask))) return null;
  const first = hidden.slice(0, size * size);
  const sees = (isSeen: (i: number, j: number) => boolean) =>
    first.every((isHidden, k) => isHidden !== isSeen(Math.floor(k / size), k % size));
  if (sees((i, j) => j >= i) || sees((i, j) => j > i)) return "later";
  for (let ahead = 0; ahead < size - 1; ahead++) if (sees((i, j) => j <= i + ahead)) return ahead || "earlier";
  return "other";
}

/**
 * Whether a mask hides the tokens and keeps the padding: what it keeps is one id at the end of the rows; or it hides
 * the beginning of each row up to its length.
 */
function keepsPadding(facts: RunFacts, attention: Attention, mask: Mask) {
  if (
    attention.normalized !== 1 ||
    unbroadcastSize(facts, mask.uid, 2) !== 1 ||
    !suppressesScores(facts, attention, mask)
  )
    return false;
  const plain = behindViews(facts, mask.uid);
  const [rows, columns] = shapeOf(facts, plain).filter((size) => size > 1);
  const hidden = hiddenBy(facts, { ...mask, uid: plain });
  if (!hidden || hidden.length !== rows * columns || columns !== sizeOfAxis(attention.keys)) return false;
  const hiddenRows = Array.from({ length: rows }, (_, row) => hidden.slice(row * columns, (row + 1) * columns));
  const beginnings = hiddenRows.map((row) => (row.includes(false) ? row.indexOf(false) : columns));
  if (hiddenRows.some((row, k) => row.lastIndexOf(true) >= beginnings[k])) return false;
  if (new Set(beginnings).size < 2 || beginnings.some((count) => count === 0)) return false;
  const ids = idsOf(facts, attention, mask, rows * columns);
  if (!ids) return beginnings.includes(columns) && comparesPositions(facts, plain);
  const kept = new Set(ids.filter((_, k) => !hidden[k]));
  const removed = new Set(ids.filter((_, k) => hidden[k]));
  return kept.size === 1 && removed.size > 1 && !removed.has([...kept][0]) && Math.min(...beginnings) < columns - 1;
}

/** The tensor that was only viewed, or repeated, on the way to a mask. */
function behindViews(facts: RunFacts, uid: string) {
  let current = uid;
  for (let op = facts.producingOperation(uid); op; op = facts.producingOperation(current)) {
    if (
      !/^(?:view|reshape|_unsafe_view|unsqueeze|squeeze|expand\w*|to|clone|contiguous|repeat\w*)$/.test(
        operationName(op.name),
      )
    )
      break;
    current = op.inputs[0];
  }
  return current;
}

/** The ids of the tokens that are the keys. */
function idsOf(facts: RunFacts, { keys }: Attention, mask: Mask, count: number): number[] | null {
  const uid = keys.flatMap(originFactorsOf)[0]?.uid;
  const fields = facts.scan.initialFields(uid);
  if (!/^u?int/.test(String(fields?.dtype ?? ""))) return null;
  const numbers = facts.numbersOf(uid, mask.op.step);
  return numbers?.length === count ? numbers : null;
}

function comparesPositions(facts: RunFacts, uid: string) {
  const makers = axesOf(facts)
    .ancestors(uid)
    .map((each) => operationName(facts.producingOperation(each)?.name ?? ""));
  return (
    makers.includes("arange") &&
    makers.some((name) => /^(?:lt|le|gt|ge)$/.test(name)) &&
    !makers.some((name) => /^(?:sub|rsub)$/.test(name))
  );
}

/** The nearest mask with a name that a mask was made of; itself where there is none. */
function namedMask(facts: RunFacts, { uid, op: { step } }: Mask) {
  const isNamed = (each: string) => facts.nameText(each, step) && isMaskTensor(facts, each, step);
  return axesOf(facts).ancestors(uid).find(isNamed) ?? uid;
}

function diagnosisOf(
  facts: RunFacts,
  attention: Attention,
  { variant, mask, facts: more = {} }: AttentionFault,
): Diagnosis {
  const { op, product } = attention;
  const at = mask?.op ?? op;
  const masked = ["after_softmax", "axis"].includes(variant) ? at.outputs[0] : (attention.scores ?? op.inputs[0]);
  const named = mask ? namedMask(facts, mask) : null;
  const made = named ? Math.max(0, facts.birthStep(named)) : at.step;
  const x = facts.nameFact(masked, at.step);
  const findingFacts: Facts = {
    x,
    ...(named ? { mask: facts.nameFact(named, at.step) } : {}),
    softmax: facts.place(op.step).line,
    read: facts.place(product.step).line,
    ...more,
  };
  return {
    variant,
    cause: at.step,
    chain: [
      made < at.step && facts.place(made).line !== facts.place(at.step).line && [made, "made", [named]],
      [at.step, "used", [masked, named]],
      product.step > at.step && [product.step, "read", [attention.weights]],
    ],
    names: [attention.scores ? x : undefined, findingFacts.mask as Fact | undefined],
    facts: findingFacts,
    fixes:
      variant === "axis" && attention.summed === 1 ? [["softmax_of_positions", { wrong: Number(op.args?.dim) }]] : [],
  };
}
