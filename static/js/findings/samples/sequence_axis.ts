/**
 * A recurrent layer or an attention that takes the first axis for the time, and a program that takes it for the batch:
 * samples mix as moments do.
 */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { axesOf, isSameAxis, RECURRENT, sizeOfAxis, originFactorsOf, type Axis, type AxisUse } from "../facts/axes.ts";
import { attentionsOf, isSelfAttention } from "./attentions.ts";

export const FINDINGS = [
  diagnosis({
    kind: "samples_mixed",
    severity: "warning",
    of: (facts) => [...recurrences(facts), ...attended(facts)],
    once: ({ op }, facts) => statementOfCandidate(op, facts),
    say: (facts, sequence) => {
      const readers = readersBySample(facts, sequence);
      return readers && diagnosisOf(facts, sequence, readers);
    },
  }),
];

/** an operation that lets what lies along one axis of its input depend on one another, and the other axis of data */
interface SequenceOperation {
  op: Operation;
  /** what it ran over, and the parameter that weighs it */
  input: string;
  weight: string | undefined;
  along: Axis;
  other: Axis;
}

function recurrences(facts: RunFacts): SequenceOperation[] {
  return axesOf(facts).uses.flatMap(({ op, uid, axis, as }) => {
    if (as !== "sequence" || !op.requires_grad.some(Boolean)) return [];
    const [first, second] = axesOf(facts).of(uid);
    const other = axis === first ? second : first;
    const weight = op.inputs.find((each) => facts.isParameter(each));
    return isOfData(axis) && isOfData(other) ? [{ op, input: uid, weight, along: axis, other }] : [];
  });
}

function attended(facts: RunFacts): SequenceOperation[] {
  return attentionsOf(facts).flatMap((attention) => {
    const { op, keys: along, weights } = attention;
    const factors = dataFactors(axesOf(facts).of(weights));
    const [other] = factors.filter((factor) => factor !== along[0]).map((factor) => [factor]);
    if (!isSelfAttention(attention) || along.length !== 1 || factors.length !== 2 || !other) return [];
    const scored = attention.scored ?? op;
    const weight = axesOf(facts)
      .of(scored.inputs[scored.inputs.length > 2 && scored !== op ? 1 : 0])
      .flat()
      .flatMap(originFactorsOf)
      .find(({ kind }) => kind === "parameter")?.uid;
    return [{ op, input: weights, weight, along, other }];
  });
}

function isOfData(axis: Axis) {
  return axis.length === 1 && axis[0].kind === "data" && !axis[0].part;
}

/** The axes of data that a tensor counts along, each once. */
function dataFactors(axes: Axis[]) {
  return [...new Set(axes.flat().flatMap(originFactorsOf))].filter(
    ({ kind }) => kind !== "parameter" && kind !== "repeated",
  );
}

/** Where the other axis is given up, and what then takes each place along the sequence for a sample. */
function readersBySample(facts: RunFacts, { op, along, other }: SequenceOperation) {
  const axes = axesOf(facts);
  for (const use of axes.uses) {
    if (use.op.step < op.step || (use.as !== "features" && !isLossOfRows(use))) continue;
    const of = axes.of(use.uid).filter((axis) => use.as !== "features" || axis !== use.axis);
    const left = dataFactors(of);
    if (left.length !== 1 || left[0] !== along[0] || !isSameAxis(of[0], along)) continue;
    let dropped = facts.producingOperation(use.uid);
    while (dropped && !dataFactors(axes.of(dropped.inputs[0])).includes(other[0]))
      dropped = facts.producingOperation(dropped.inputs[0]);
    if (!dropped || dropped.step < op.step || !isAfter(facts, op, dropped)) continue;
    return { dropped, reader: use.op };
  }
  return null;
}

function isLossOfRows({ as, op }: AxisUse) {
  return as === "rows" && operationName(op.name) !== "mean";
}

/** Whether what gives an axis up was computed from the results of an operation. */
function isAfter(facts: RunFacts, op: Operation, dropped: Operation) {
  return op.outputs.some((uid) => facts.dataflow.descendants(uid, dropped.step).has(dropped.inputs[0]));
}

/** The parameter of a layer that one was copied from with its own, as an encoder copies its layer; else itself. */
function parameterCopiedFrom(facts: RunFacts, weight: string | undefined) {
  const storageOf = (uid: string) => facts.scan.initialFields(uid)?.storage;
  const typeOf = (uid: string) => facts.scan.initialFields(facts.index.moduleOfTensor.get(uid))?.type;
  const copied = new Set(
    axesOf(facts)
      .ancestors(weight ?? "")
      .map(storageOf),
  );
  const isOriginal = (uid: string) => copied.has(storageOf(uid)) && typeOf(uid) === typeOf(weight ?? "");
  return [...facts.index.moduleOfTensor.keys()].find(isOriginal) ?? weight;
}

function diagnosisOf(
  facts: RunFacts,
  { op, input, weight, along, other }: SequenceOperation,
  { dropped, reader }: { dropped: Operation; reader: Operation },
): Diagnosis {
  const isRecurrent = RECURRENT.test(operationName(op.name));
  const module = facts.index.moduleOfTensor.get(weight ?? "");
  const canSay = isRecurrent || String(facts.scan.initialFields(module)?.type ?? "").includes("MultiheadAttention");
  const made = canSay ? Math.max(0, facts.birthStep(parameterCopiedFrom(facts, weight) ?? input)) : op.step;
  const x = facts.nameFact(input, op.step);
  const findingFacts = {
    x,
    module: module ? facts.nameFact(module, op.step) : codeFact(operationName(op.name)),
    n: sizeOfAxis(along),
    times: sizeOfAxis(other),
    op: codeFact(operationName(op.name)),
    code: facts.statementFact(dropped.step),
    called: facts.place(op.step).line,
    reader: operationName(reader.name),
  };
  return {
    variant: isRecurrent ? "sequence" : canSay ? "attended" : "attended_own",
    cause: made,
    chain: [
      canSay && [made, "made", [module]],
      [op.step, "used", [input]],
      [dropped.step, "read", [dropped.outputs[0]]],
    ],
    names: canSay ? [x, findingFacts.module, codeFact("batch_first")] : [x],
    facts: findingFacts,
    fixes: canSay ? [["batch_first"]] : [],
  };
}
