/**
 * A recurrent layer that takes the first axis for the time, and a program that takes it for the batch: samples mix as
 * moments do.
 */

import { byLine, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { operationName } from "../facts/operation_name.ts";
import type { Operation } from "../facts/scan.ts";

export const FINDINGS = [
  diagnosis({
    kind: "samples_mixed",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(RECURRENT),
    once: byLine,
    say: sequenceOverBatch,
  }),
];

const RECURRENT = /^(?:lstm|gru|rnn_tanh|rnn_relu)$/;
const DROPS_AXIS = /^(?:select|mean|sum|amax|max)$/;
/** The second axis becomes a part of the features. */
const MERGES_AXIS = /^(?:view|reshape|_unsafe_view|flatten)$/;
const LOSS = /^(?:nll_loss\w*|cross_entropy_loss|mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*)$/;
const MAX_FOLLOWED = 60;
const MAX_STEPS_AHEAD = 60;

/** first: what the program takes for its samples, and the layer for moments; second: the other way round */
interface SequenceSizes {
  first: number;
  second: number;
}

function sequenceOverBatch(facts: RunFacts, op: Operation): Diagnosis | null {
  if (facts.isInsideBackward(op.step) || !op.requires_grad.some(Boolean)) return null;
  const sizes = sizesWithTimeFirst(facts, op);
  const readers = sizes && readersBySample(facts, op, sizes);
  return readers && diagnosisOf(facts, op, sizes, readers);
}

/**
 * The sizes of an input whose first axis the layer steps along: its initial state has one place for each of the second.
 */
function sizesWithTimeFirst(facts: RunFacts, { inputs, step }: Operation): SequenceSizes | null {
  const [input, state] = inputs.map((uid) => facts.handle(uid, step)?.shape ?? []);
  if (input?.length !== 3 || state?.length !== 3) return null;
  const [first, second] = input;
  return state[1] === second && first !== second && first > 1 && second > 1 ? { first, second } : null;
}

/** Where the second axis is given up, and the loss that then has a row for each of the first. */
function readersBySample(facts: RunFacts, op: Operation, { first, second }: SequenceSizes) {
  const whole = new Set([op.outputs[0]]);
  const rows = new Set<string>();
  let dropped: Operation | null = null;
  for (let i = op.step; i < Math.min(facts.steps.length, op.step + MAX_STEPS_AHEAD); i++) {
    if (facts.isInsideBackward(i)) continue;
    for (const other of facts.opsAt(i)) {
      const [output] = other.outputs;
      const name = operationName(other.name);
      if (rows.has(other.inputs[0]) && LOSS.test(name))
        return dropped && facts.handle(other.inputs[0], i)?.shape?.[0] === first ? { dropped, loss: other } : null;
      const shape = facts.handle(output, i)?.shape ?? [];
      if (other.inputs.some((uid) => rows.has(uid)) && shape[0] === first && rows.size < MAX_FOLLOWED) rows.add(output);
      if (!whole.has(other.inputs[0]) || other.step < op.step) continue;
      if (shape.length === 3 && shape[0] === first && shape[1] === second) whole.add(output);
      else if (shape.length === 2 && shape[0] === first && isGivenUp(facts, other, name, shape, second)) {
        dropped ??= other;
        rows.add(output);
      }
    }
  }
  return null;
}

/** Whether an operation leaves one of three axes out, or puts the second and the third into one. */
function isGivenUp(facts: RunFacts, op: Operation, name: string, shape: number[], second: number) {
  if (DROPS_AXIS.test(name)) return true;
  const features = (facts.handle(op.inputs[0], op.step)?.shape ?? [])[2];
  return MERGES_AXIS.test(name) && shape[1] === second * features;
}

function diagnosisOf(
  facts: RunFacts,
  op: Operation,
  { first, second }: SequenceSizes,
  { dropped, loss }: { dropped: Operation; loss: Operation },
): Diagnosis {
  const weight = op.inputs.find((uid) => facts.scan.initialFields(uid)?.type === "Parameter");
  const made = Math.max(0, facts.birthStep(weight ?? op.inputs[0]));
  const module = facts.index.moduleOfTensor.get(weight ?? "");
  const x = facts.nameFact(op.inputs[0], op.step);
  const findingFacts = {
    x,
    module: module ? facts.nameFact(module, op.step) : codeFact(operationName(op.name)),
    n: first,
    times: second,
    op: codeFact(operationName(op.name)),
    code: facts.statementFact(dropped.step),
    called: facts.place(op.step).line,
    reader: codeFact(operationName(loss.name)),
  };
  return {
    variant: "sequence",
    cause: made,
    chain: [
      [made, "made", [module]],
      [op.step, "used", [op.inputs[0]]],
      [dropped.step, "read", [dropped.outputs[0]]],
    ],
    names: [x, findingFacts.module, codeFact("batch_first")],
    facts: findingFacts,
    fixes: [["batch_first"]],
  };
}
