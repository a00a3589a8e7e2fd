/**
 * Padding that takes part: positions that an embedding's `padding_idx` marks, and that a loss counts as targets, a mean
 * divides by, or a recurrent layer goes on over to its last state.
 */

import { diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { axesOf, isSameAxis, RECURRENT, type Axis } from "../facts/axes.ts";
import { paddedEmbeddingLookups } from "../modules/padding_row.ts";

export const FINDINGS = [
  diagnosis({
    kind: "padding_takes_part",
    severity: "note",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: readingsOfPadding,
    once: ({ op }, facts) => facts.lineOf(op.step),
    say: (facts, { variant, op, uid, lookup, n, total, value }) => ({
      variant,
      cause: op.step,
      chain: [
        [lookup.step, "made", [lookup.index]],
        [op.step, "used", [uid]],
      ],
      facts: {
        x: facts.nameFact(uid, op.step),
        n,
        total,
        value,
        op: operationName(op.name),
        embedded: facts.lineOf(lookup.step),
      },
    }),
  }),
];

const TAKES_VALUES =
  /^(?:view|reshape|flatten|squeeze|unsqueeze|contiguous|clone|to|_to_copy|transpose|permute|t|select|slice|narrow|index|index_select)$/;

/** a batch of texts of equal length: which of its positions are padding */
interface PaddedBatch {
  index: string;
  step: number;
  row: number;
  isPadding: boolean[];
  shape: number[];
}

/** n: of `total` targets, texts or positions, those that are padding or end with it */
interface ReadingOfPadding {
  variant: "loss" | "mean" | "last" | "state";
  op: Operation;
  uid: string;
  lookup: PaddedBatch;
  n: number;
  total: number;
  value: number;
}

function readingsOfPadding(facts: RunFacts): ReadingOfPadding[] {
  const batches = paddedBatches(facts);
  return batches.length ? [...facts.scan.allOperations()].flatMap((op) => readingOf(facts, op, batches) ?? []) : [];
}

function paddedBatches(facts: RunFacts): PaddedBatch[] {
  return paddedEmbeddingLookups(facts).flatMap(({ row, step, index }) => {
    const shape = facts.tensor(index, step)?.shape ?? [];
    const isPadding = (facts.numbersOf(index, step) ?? []).map((number) => number === row);
    const isPadded = shape.length === 2 && isPadding.includes(true) && isPadding.includes(false);
    return isPadded ? [{ index, step, row, isPadding, shape }] : [];
  });
}

function readingOf(facts: RunFacts, op: Operation, batches: PaddedBatch[]): ReadingOfPadding | null {
  const name = operationName(op.name);
  if (facts.isInsideBackward(op.step) || op.failed) return null;
  if (name === "cross_entropy_loss") return lossOfPadding(facts, op, batches);
  if (name === "mean") return meanOverPadding(facts, op, batches);
  return RECURRENT.test(name) ? stateAfterPadding(facts, op, batches) : null;
}

/** A class loss of which targets are padding of the same texts, and are not ignored. */
function lossOfPadding(facts: RunFacts, op: Operation, batches: PaddedBatch[]): ReadingOfPadding | null {
  const [, target, weight] = op.inputs;
  const { attrs } = facts.scan.initialFields(facts.tensor(op.outputs[0], op.step)?.grad_fn) ?? {};
  const numbers = target && !weight ? facts.numbersOf(target, op.step) : null;
  if (!numbers || attrs?.ignore_index === undefined || attrs.reduction === 0) return null;
  const source = sourceOfValues(facts, target);
  const lookup = batches.findLast(({ index, step }) => step < op.step && sourceOfValues(facts, index) === source);
  const n = numbers.filter((number) => number === lookup?.row).length;
  if (!lookup || !n || n === numbers.length || attrs.ignore_index === lookup.row) return null;
  return { variant: "loss", op, uid: target, lookup, n, total: numbers.length, value: lookup.row };
}

/** The memory that a tensor's numbers were taken from, by views, indices and copies. */
function sourceOfValues(facts: RunFacts, uid: string): string {
  const op = facts.producingOperation(uid);
  return op?.inputs.length && TAKES_VALUES.test(operationName(op.name))
    ? sourceOfValues(facts, op.inputs[0])
    : (facts.scan.initialFields(uid)?.storage ?? uid);
}

/** A mean along the positions of padded texts, of what no mask has met: after one the program may correct the mean. */
function meanOverPadding(facts: RunFacts, op: Operation, batches: PaddedBatch[]): ReadingOfPadding | null {
  const [uid] = op.inputs;
  const axes = axesOf(facts).of(uid);
  const dims = [op.args?.dim ?? []].flat().map((dim) => Number(dim) + (Number(dim) < 0 ? axes.length : 0));
  const maker = operationName(facts.producingOperation(uid)?.name ?? "");
  const hasHistory = facts.scan.initialFields(uid)?.requires_grad === true; // the mask itself has none
  if (!hasHistory || dims.length !== 1 || axes.length !== 3 || /^(?:mul|where|masked_fill)_?$/.test(maker)) return null;
  const found = batchAlong(facts, axes, dims[0], op, batches);
  if (!found) return null;
  const { lookup, texts } = found;
  const n = texts.filter((text) => text.includes(true)).length;
  return { variant: "mean", op, uid, lookup, n, total: texts.length, value: texts[0].length };
}

/** The last state of a recurrent layer, or its result at the last position, of texts that end with padding. */
function stateAfterPadding(facts: RunFacts, op: Operation, batches: PaddedBatch[]): ReadingOfPadding | null {
  const axes = axesOf(facts).of(op.inputs[0]);
  const time = op.args?.batch_first === true ? 1 : 0;
  const found = axes.length === 3 ? batchAlong(facts, axes, time, op, batches) : null;
  const n = found?.texts.filter((text) => text.at(-1)).length;
  if (!found || !n) return null;
  const { edgesOutOf } = facts.dataflow;
  const rest = { op, lookup: found.lookup, n, total: found.texts.length, value: found.texts[0].length };
  const last = (edgesOutOf.get(op.outputs[0]) ?? []).find(
    ({ op: reader, to }) => reader && isLastPosition(facts, reader, op.outputs[0], to, time),
  );
  if (last?.op) return { ...rest, variant: "last", op: last.op, uid: op.outputs[0] };
  const state = op.outputs[1];
  return state && edgesOutOf.has(state) && !edgesOutOf.has(op.outputs[0])
    ? { ...rest, variant: "state", uid: state }
    : null;
}

/** Whether an operation takes the last index of an axis and drops the axis. */
function isLastPosition(facts: RunFacts, { name, step }: Operation, from: string, to: string, time: number): boolean {
  if (operationName(name) !== "select") return false;
  const [whole, part] = [facts.tensor(from, step), facts.scan.initialFields(to)];
  const [stride, size] = [whole?.stride?.[time] ?? 0, whole?.shape?.[time] ?? 0];
  const isDropped = part?.shape?.length === 2 && part.shape[0] === whole?.shape?.[1 - time];
  return isDropped && size > 1 && (part?.offset as number) - (whole?.offset ?? 0) === stride * (size - 1);
}

/** The padded batch whose positions run along an axis of three, with the padding of each of its texts. */
function batchAlong(facts: RunFacts, axes: Axis[], time: number, op: Operation, batches: PaddedBatch[]) {
  const lookup = batches.findLast(({ index, step }) => {
    const own = axesOf(facts).of(index);
    return (
      step <= op.step &&
      own.some(
        (axis, d) =>
          axis.length > 0 &&
          isSameAxis(axis, axes[time]) &&
          [0, 1].some((k) => k !== time && isSameAxis(own[1 - d], axes[k])),
      )
    );
  });
  if (!lookup) return null;
  const [rows, columns] = lookup.shape;
  const isAlongColumns = isSameAxis(axesOf(facts).of(lookup.index)[1], axes[time]);
  const texts = Array.from({ length: isAlongColumns ? rows : columns }, (_, k) =>
    lookup.isPadding.filter((_, at) => (isAlongColumns ? Math.floor(at / columns) : at % columns) === k),
  );
  return { lookup, texts };
}
