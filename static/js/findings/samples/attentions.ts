/**
 * The attention of a run: each softmax whose result weighs a sum, what masked its scores before and its weights
 * afterwards, and along which axis it sums. Of what can't be followed from the one to the other there is none.
 */

import { operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { axesOf, isSameAxis, type Axis } from "../facts/axes.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";

/** how a mask takes part: its true elements are filled, it chooses, it is multiplied, added, or says what is seen */
type MaskUse = "fill" | "choose" | "times" | "plus" | "seen";

export interface Mask {
  op: Operation;
  uid: string;
  use: MaskUse;
}

export interface Attention {
  /** the softmax, or the operation that has one inside */
  op: Operation;
  /** what went into the softmax, and the product that made it */
  scores: string | null;
  scored: Operation | null;
  before: Mask[];
  after: Mask[];
  /** what sums up by the weights, and the weights as it took them */
  product: Operation;
  weights: string;
  /** dimensions, from the right: along which the weights add up to 1, and along which the product sums them */
  normalized: number;
  summed: number;
  /** the axes of queries and of keys; empty where they are not known */
  queries: Axis;
  keys: Axis;
}

const SOFTMAX = /^_?softmax$/;
const MASKING = /^(?:masked_fill|where|mul|add|sub|index_put)_?$/;
const SAME_SHAPE =
  /^(?:dropout|native_dropout|to|_to_copy|float|double|half|type_as|clone|contiguous|detach|div|nan_to_num|feature_dropout)_?$/;
const MOVED =
  /^(?:view|reshape|_unsafe_view|transpose|permute|unsqueeze|squeeze|flatten|unflatten|t|expand|contiguous|movedim|swapaxes|numpy_t|mt)$/;
const PRODUCT = /^(?:matmul|bmm|mm|einsum|baddbmm)$/;
const RANDOM = /^(?:rand\w*|bernoulli\w*|uniform_|normal_?|multinomial|native_dropout|dropout|exponential_)$/;
const MAX_FOLLOWED = 40;
/** what a score has to be below for its weight to be nothing */
export const MAX_MASKED_SCORE = -1000;

/** Every attention of a run's forward passes, in order. */
export const attentionsOf = memoizePerRun((facts: RunFacts): Attention[] =>
  facts.scan.operationsNamed(/^(?:_?softmax|scaled_dot_product_attention)$/).flatMap((op) => {
    if (facts.isInsideBackward(op.step) || op.failed || op.step > axesOf(facts).last) return [];
    return (SOFTMAX.test(operationName(op.name)) ? attentionOfSoftmax(facts, op) : fusedAttention(facts, op)) ?? [];
  }),
);

export function shapeOf(facts: RunFacts, uid: string): number[] {
  return (facts.scan.initialFields(uid)?.shape as number[] | undefined) ?? [];
}

/** How many different places a tensor has along a dimension, counted from the right. */
export function unbroadcastSize(facts: RunFacts, uid: string, dim: number): number {
  const stride = (facts.scan.initialFields(uid)?.stride ?? []) as number[];
  return stride.at(-dim) === 0 ? 1 : (shapeOf(facts, uid).at(-dim) ?? 1);
}

function fusedAttention(facts: RunFacts, op: Operation): Attention | null {
  const [q, k, , mask] = op.inputs;
  const [queries, keys] = [q, k].map((uid) => axesOf(facts).of(uid).at(-2) ?? []);
  const before: Mask[] = mask ? [{ op, uid: mask, use: isBoolean(facts, mask) ? "seen" : "plus" }] : [];
  return {
    op,
    scores: null,
    scored: op,
    before,
    after: [],
    product: op,
    weights: q,
    normalized: 1,
    summed: 1,
    queries,
    keys,
  };
}

function attentionOfSoftmax(facts: RunFacts, op: Operation): Attention | null {
  const shape = shapeOf(facts, op.outputs[0]);
  const dim = op.args?.dim;
  if (typeof dim !== "number" || shape.length < 2) return null;
  const normalized = dim < 0 ? -dim : shape.length - dim;
  const weighed = weighedSum(facts, op, normalized);
  if (!weighed) return null;
  const { scored, before } = scoresBefore(facts, op);
  const axes = axesOf(facts).of(op.outputs[0]);
  const keys = axes.at(-normalized) ?? [];
  const queries = axes.at(normalized === 1 ? -2 : -1) ?? [];
  return { op, scores: op.inputs[0], scored, before, normalized, queries, keys, ...weighed };
}

/** The sum that a softmax's result weighs, with what masked it on the way. */
function weighedSum(facts: RunFacts, softmax: Operation, normalized: number) {
  let [uid] = softmax.outputs;
  let after = softmax;
  let dim = normalized;
  const masks: Mask[] = [];
  for (let k = 0; k < MAX_FOLLOWED; k++) {
    const readers = readersOf(facts, uid, after);
    const product = readers.find((each) => isWeightedSum(facts, each, uid, dim));
    const next = readers.find((each) => MASKING.test(operationName(each.name)) || passesValuesOn(each));
    if (product && (!next || isBefore(product, next))) {
      const summed = summedDim(product, uid, dim);
      return summed === null
        ? null
        : { product, weights: uid, after: masks, summed: summed === dim ? normalized : summed };
    }
    if (!next) return null;
    const name = operationName(next.name);
    if (MASKING.test(name) && next.inputs.length > 1) {
      const mask = maskOf(facts, next, uid);
      if (!mask) return null;
      masks.push(mask);
    } else if (MASKING.test(name) || (/^div/.test(name) && next.inputs.length > 1)) return null;
    const moved = MOVED.test(name) ? movedDim(facts, next, uid, dim) : dim;
    if (moved === null) return null;
    [dim, uid, after] = [moved, next.outputs[0], next];
  }
  return null;
}

function passesValuesOn(op: Operation) {
  const name = operationName(op.name);
  return SAME_SHAPE.test(name) || MOVED.test(name);
}

function readersOf(facts: RunFacts, uid: string, after: Operation): Operation[] {
  const made = facts.dataflow.edgesOutOf.get(uid) ?? [];
  const written = facts.scan.inPlaceOperationsByTensor.get(uid) ?? [];
  return [...made.flatMap(({ op }) => op ?? []), ...written]
    .filter((op) => !facts.isInsideBackward(op.step) && !isBefore(op, after) && op.inputs.includes(uid))
    .sort((a, b) => a.step - b.step || a.at - b.at);
}

function isBefore(op: Operation, other: Operation) {
  return op.step < other.step || (op.step === other.step && op.at <= other.at);
}

/** Whether an operation sums something up by weights: a product of matrices, or a product that is summed at once. */
function isWeightedSum(facts: RunFacts, op: Operation, uid: string, dim: number) {
  const name = operationName(op.name);
  if (PRODUCT.test(name)) return op.inputs.length > 1;
  if (!/^mul_?$/.test(name) || op.inputs.length < 2) return false;
  const other = op.inputs.find((each) => each !== uid) ?? uid;
  return !isMaskTensor(facts, other, op.step) && sumOf(facts, op, dim) !== null;
}

/** The sum along a dimension of what an operation gave. */
function sumOf(facts: RunFacts, { outputs: [output] }: Operation, dim: number) {
  const rank = shapeOf(facts, output).length;
  for (const { op } of facts.dataflow.edgesOutOf.get(output) ?? []) {
    if (!op || operationName(op.name) !== "sum" || facts.isInsideBackward(op.step)) continue;
    const dims = [op.args?.dim ?? []].flat() as number[];
    if (dims.some((each) => (each < 0 ? -each : rank - each) === dim)) return op;
  }
  return null;
}

/** The dimension of weights along which a product sums, from the right. */
function summedDim(op: Operation, uid: string, dim: number): number | null {
  const name = operationName(op.name);
  if (name === "mul") return dim;
  const position = op.inputs.indexOf(uid);
  if (name !== "einsum") return position === (name === "baddbmm" ? 1 : 0) ? 1 : 2;
  const [terms, result] = String(op.args?.equation ?? "")
    .replace(/\s/g, "")
    .split("->");
  const operands = terms.split(",");
  const letters = operands[position] ?? "";
  const others = operands.filter((_, k) => k !== position).join("");
  const summed = [...letters].filter(
    (letter) => result !== undefined && !result.includes(letter) && others.includes(letter),
  );
  return summed.length === 1 && !letters.includes(".") ? letters.length - letters.indexOf(summed[0]) : null;
}

/** Where a dimension, counted from the right, is after a view; null where it can't be told. */
function movedDim(facts: RunFacts, op: Operation, uid: string, dim: number): number | null {
  const [from, to] = [uid, op.outputs[0]].map((each) => facts.scan.initialFields(each) ?? {});
  const [shape, moved] = [from, to].map((fields) => (fields.shape ?? []) as number[]);
  if (/^(?:transpose|permute|t|movedim|swapaxes|numpy_t|mt)$/.test(operationName(op.name))) {
    const [strides, others] = [from, to].map((fields) => (fields.stride ?? []) as number[]);
    const at = shape.length - dim;
    const found = others.flatMap((stride, d) => (stride === strides[at] && moved[d] === shape[at] ? [d] : []));
    return found.length === 1 ? moved.length - found[0] : null;
  }
  if (String(shape.slice(-dim)) === String(moved.slice(-dim))) return dim;
  const wide = (sizes: number[]) => sizes.filter((size) => size > 1);
  if (String(wide(shape)) !== String(wide(moved))) return null;
  const behind = wide(shape.slice(shape.length - dim)).length;
  for (let d = 1; d <= moved.length; d++)
    if (moved[moved.length - d] > 1 && wide(moved.slice(-d)).length === behind) return d;
  return null;
}

/** What masked the scores of a softmax, back to the product that made them. */
function scoresBefore(facts: RunFacts, softmax: Operation): { scored: Operation | null; before: Mask[] } {
  let [uid] = softmax.inputs;
  const before: Mask[] = [];
  for (let k = 0; k < MAX_FOLLOWED; k++) {
    for (const op of facts.scan.inPlaceOperationsByTensor.get(uid) ?? [])
      if (isBefore(op, softmax) && op.inputs[0] === uid && op.inputs.length > 1 && MASKING.test(operationName(op.name)))
        before.push(...[maskOf(facts, op, uid) ?? []].flat());
    const op = facts.producingOperation(uid);
    const name = operationName(op?.name ?? "");
    if (!op || name === "baddbmm") {
      if (op && isMaskTensor(facts, op.inputs[0], op.step)) before.push({ op, uid: op.inputs[0], use: "plus" });
      return { scored: op ?? null, before };
    }
    const isMasking = MASKING.test(name) && op.inputs.length > 1;
    if (!isMasking && !MASKING.test(name) && !passesValuesOn(op)) return { scored: op, before };
    const mask = isMasking ? maskOf(facts, op, null) : null;
    if (isMasking && !mask) return { scored: null, before };
    if (mask) before.push(mask);
    uid =
      op.inputs.find((each) => each !== mask?.uid && (!isMasking || !isMaskTensor(facts, each, op.step))) ??
      op.inputs[0];
  }
  return { scored: null, before };
}

/** The mask of an operation that masks; null where none of its operands is one. */
function maskOf(facts: RunFacts, op: Operation, masked: string | null): Mask | null {
  const name = operationName(op.name).replace(/_$/, "");
  if (name === "masked_fill") return { op, uid: op.inputs[1], use: "fill" };
  if (name === "index_put") return isBoolean(facts, op.inputs[1]) ? { op, uid: op.inputs[1], use: "fill" } : null;
  if (name === "where") return { op, uid: op.inputs[0], use: "choose" };
  const uid = op.inputs.find((each) => each !== masked && isMaskTensor(facts, each, op.step));
  return uid && name !== "sub" ? { op, uid, use: name === "mul" ? "times" : "plus" } : null;
}

export function isBoolean(facts: RunFacts, uid: string) {
  return /bool/.test(String(facts.scan.initialFields(uid)?.dtype ?? ""));
}

/** Whether a tensor is of truth values, of zeros and ones, or of zeros and numbers that take a score away; and no
 * parameter, result of parameters or chance has a part in it. */
export function isMaskTensor(facts: RunFacts, uid: string, step: number) {
  if (!isConstantInput(facts, uid)) return false;
  if (isBoolean(facts, uid)) return true;
  const numbers = facts.numbersOf(uid, step);
  if (numbers) return hasTwoValues(numbers);
  const range = facts.rangeOf(uid, step);
  return range !== null && range.max <= 1 && range.min <= MAX_MASKED_SCORE;
}

function hasTwoValues(numbers: number[]) {
  const values = new Set(numbers);
  return (
    values.size === 2 &&
    values.has(0) &&
    ([...values].includes(1) || [...values].some((each) => each <= MAX_MASKED_SCORE))
  );
}

/** Whether nothing that is learned or drawn anew takes part in a tensor. */
function isConstantInput(facts: RunFacts, uid: string) {
  return axesOf(facts)
    .ancestors(uid)
    .every((each) => {
      const fields = facts.scan.initialFields(each);
      const op = facts.producingOperation(each);
      const { iter, depth } = facts.steps[op?.step ?? 0];
      const isDrawnAnew = op && RANDOM.test(operationName(op.name)) && (iter?.length || depth);
      return !fields?.requires_grad && fields?.type !== "Parameter" && !isDrawnAnew;
    });
}

/** Whether queries and keys are the same positions. */
export function isSelfAttention({ queries, keys }: Attention) {
  return keys.length > 0 && isSameAxis(queries, keys) && keys.every(({ kind }) => kind === "data");
}
