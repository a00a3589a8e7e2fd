/** Axes that stand where others belong: classes that are no layer's, offsets of positions that differ by sample. */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { axesOf, isKnown, isParameterAxis, sizeOfAxis, type Axis, type AxisUse } from "../facts/axes.ts";
import { attentionsOf, isSelfAttention } from "./attentions.ts";

/** a sum of a tensor and a table of positions: the axes along which they differ, and are attended to */
interface SumWithPositions {
  op: Operation;
  x: string;
  table: string;
}

export const FINDINGS = [
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    of: (facts) => facts.scan.operationsNamed(/^(?:batch|instance)_norm$/),
    once: statementOfCandidate,
    say: wrongChannelAxis,
  }),
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    of: (facts) => axesOf(facts).uses.filter(({ as }) => as === "classes"),
    once: ({ op }, facts) => statementOfCandidate(op, facts),
    say: wrongClassAxis,
  }),
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    of: (facts) => axesOf(facts).uses.filter(({ as, op }) => as === "rows" && op.inputs.length > 1),
    once: ({ op }, facts) => statementOfCandidate(op, facts),
    say: wrongRowOrder,
  }),
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    when: (facts) => attentionsOf(facts).some(isSelfAttention),
    of: (facts) =>
      facts.scan.operationsNamed(/^add_?$/).flatMap((op): SumWithPositions[] => {
        const [x, table] = op.inputs;
        if (op.inputs.length !== 2 || facts.isInsideBackward(op.step)) return [];
        return [
          { op, x, table },
          { op, x: table, table: x },
        ];
      }),
    once: ({ op }, facts) => statementOfCandidate(op, facts),
    say: wrongPositionAxis,
  }),
];

/** A batch norm that takes an axis of the data for the channels, where a layer's outputs of that size come after it. */
function wrongChannelAxis(facts: RunFacts, op: Operation): Diagnosis | null {
  const [uid] = op.inputs;
  const [, channels, features] = facts.isInsideBackward(op.step) ? [] : axesOf(facts).of(uid);
  if (!channels || !features || axesOf(facts).of(uid).length !== 3) return null;
  const isOfData = channels.length === 1 && channels[0].kind === "data" && !channels[0].part;
  if (!isOfData || !isParameterAxis(features) || sizeOfAxis(channels) !== sizeOfAxis(features)) return null;
  const x = facts.nameFact(uid, op.step);
  return {
    variant: "channels",
    cause: op.step,
    chain: [[op.step, "used", [uid]]],
    facts: { x, n: sizeOfAxis(channels), op: operationName(op.name).replace(/^_?(?:native_|cudnn_)?/, "") },
  };
}

/** A class loss whose second axis is one of the data, though a layer's outputs of that size are another one. */
function wrongClassAxis(facts: RunFacts, { op, uid, axis }: AxisUse): Diagnosis | null {
  const axes = axesOf(facts);
  const of = axes.of(uid);
  if (axis.length !== 1 || axis[0].kind !== "data" || axis[0].part || of.length < 3) return null;
  const place = of.findIndex((each) => isParameterAxis(each) && sizeOfAxis(each) === sizeOfAxis(axis));
  if (axes.displaced.has(axis) || place < 0 || of.filter(isParameterAxis).length !== 1) return null;
  const x = facts.nameFact(uid, op.step);
  return {
    variant: "classes",
    cause: op.step,
    chain: [[op.step, "used", [uid]]],
    facts: { x, n: sizeOfAxis(axis), op: operationName(op.name).replace(/_nd$/, ""), place },
  };
}

/** A loss whose rows run through the axes of the data in another order than those of its targets. */
function wrongRowOrder(facts: RunFacts, { op, uid, axis }: AxisUse): Diagnosis | null {
  const target = op.inputs[1];
  const [rows, ...rest] = axesOf(facts).of(target);
  const isPlain = (factors: Axis) =>
    factors.every(({ kind, part }) => (kind === "data" || kind === "repeated") && !part);
  if (axis !== axesOf(facts).of(uid)[0] || !rows || rest.some((each) => each.length)) return null;
  if (axis.length < 2 || axis.length !== rows.length || !isPlain(axis) || !isPlain(rows)) return null;
  const isOne = axis.concat(rows).every((factor) => factor.uid === rows[0].uid);
  const orders = [axis, rows].map((factors) => factors.map(isOne ? (each) => each.axis : (each) => each.size));
  const sorted = orders.map((order) => [...order].sort((a, b) => a - b));
  if (String(orders[0]) === String(orders[1]) || String(sorted[0]) !== String(sorted[1])) return null;
  if (new Set(orders[0]).size < orders[0].length) return null;
  const [x, y] = [uid, target].map((each) => facts.nameFact(each, op.step));
  return {
    variant: "rows",
    cause: op.step,
    chain: [[op.step, "used", [uid, target]]],
    facts: {
      x,
      y,
      op: operationName(op.name).replace(/_nd$/, ""),
      order: codeFact(`(${axis.map(({ size }) => size).join(", ")})`),
      other: codeFact(`(${rows.map(({ size }) => size).join(", ")})`),
    },
  };
}

/** Offsets cut from a table of positions that are added along another axis than the one that is attended along. */
function wrongPositionAxis(facts: RunFacts, { op, x, table }: SumWithPositions): Diagnosis | null {
  const met = positionAxes(facts, x, table);
  const attentions = attentionsOf(facts).filter((each) => isSelfAttention(each) && each.keys.length === 1);
  if (!met || attentions.some(({ keys }) => keys[0] === met.given)) return null;
  const attention = attentions.find(({ keys, op: { step } }) => keys[0] === met.attended && step >= op.step);
  if (!attention) return null;
  const named = axesOf(facts)
    .ancestors(table)
    .find((uid) => facts.nameText(uid, op.step));
  const findingFacts = {
    x: facts.nameFact(x, op.step),
    table: facts.nameFact(named ?? table, op.step),
    n: met.given.size,
    times: met.attended.size,
    read: facts.place(attention.op.step).line,
  };
  return {
    variant: "positions",
    cause: op.step,
    chain: [
      [op.step, "used", [x, table]],
      [attention.op.step, "read", []],
    ],
    names: [findingFacts.x, findingFacts.table],
    facts: findingFacts,
  };
}

/** The axis of a tensor along which a table of positions differs, and the one along which it is the same. */
function positionAxes(facts: RunFacts, x: string, table: string) {
  const [of, offsets] = [x, table].map((uid) => axesOf(facts).of(uid));
  if (of.length !== 3 || offsets.length < 2 || offsets.length > 3 || !of.every(isKnown)) return null;
  const [first, second] = [0, 1].map((d) => offsets[offsets.length - 3 + d] ?? []);
  const [own, same] = first.length ? [0, 1] : [1, 0];
  const [position] = own ? second : first;
  const [given, attended] = [of[own], of[same]].map((axis) => axis[0]);
  if (!position || (own ? first : second).length || !given || !attended || of[own].length > 1 || of[same].length > 1)
    return null;
  if (given.kind !== "data" || attended.kind !== "data" || !isTable(facts, position.uid, position.axis, position.size))
    return null;
  return { given, attended };
}

/** Whether an axis is a part of a longer one that the program made as a table, or counts from 0. */
function isTable(facts: RunFacts, uid: string, axis: number, size: number) {
  const shape = (facts.scan.initialFields(uid)?.shape ?? []) as number[];
  const maker = facts.producingOperation(uid);
  const name = operationName(maker?.name ?? "");
  if (name === "arange") return (facts.steps[maker?.step ?? 0].depth ?? 0) > 0;
  const isMade = facts.isParameter(uid) || /^(?:zeros|empty|ones|full)$/.test(name);
  return isMade && shape.length > 1 && (shape[axis] ?? 0) > size;
}
