/**
 * A mask, or weights, for each element that meet a loss after it has become one number: they can't choose any more. So
 * do weights that are computed from that number.
 */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Diagnosis, Operation, RunFacts } from "../diagnosis.ts";
import { axesOf } from "../facts/axes.ts";
import { numel } from "../../trace/reads.ts";
import { shapeOf } from "./attentions.ts";

const MEETING = /^(?:mul_?|masked_fill_?|where|masked_select)$/;
const LOSS = /_loss\b|_loss_|^binary_cross_entropy\w*$|^kl_div$/;
const ONE_NUMBER = /^(?:mul|div|add|sub|neg|clone|sqrt|to)_?$/;
const TOTAL = /^(?:sum|mean)$/;
const MAX_OPERATIONS = 6;
const MEAN_OF_SAMPLES = /^(?:cross_entropy_loss|nll_loss\w*|binary_cross_entropy\w*)$/;
const CURVED = /^(?:exp|pow|log|sigmoid)$/;
const MAX_NUMBERS = 16;

export const FINDINGS = [
  diagnosis({
    kind: "loss_times_mask",
    severity: "warning",
    of: (facts) => facts.scan.operationsNamed(MEETING).filter(({ step }) => !facts.isInsideBackward(step)),
    once: statementOfCandidate,
    say: (facts, op) => {
      if (op.inputs.length < 2) return null;
      const loss = op.inputs.find((uid) => !shapeOf(facts, uid).length && facts.scan.initialFields(uid)?.requires_grad);
      const mask = op.inputs.find(
        (uid) => numel(shapeOf(facts, uid)) > 1 && !facts.scan.initialFields(uid)?.requires_grad,
      );
      const reduced = loss && mask ? reductionOf(facts, loss, numel(shapeOf(facts, mask))) : null;
      const total = reduced && totalReductionOf(facts, op);
      if (!loss || !mask || !reduced || !total) return null;
      const numbers = facts.numbersOf(mask, op.step);
      return numbers && new Set(numbers).size > 1 ? diagnosisOf(facts, op, loss, mask, reduced, total) : null;
    },
  }),
  diagnosis({
    kind: "loss_times_mask",
    severity: "warning",
    of: (facts) => facts.scan.operationsNamed(/^mul$/).filter(({ step }) => !facts.isInsideBackward(step)),
    once: statementOfCandidate,
    /** A factor of a mean over samples that is made of that mean, and not in proportion, as the focal loss's. */
    say: (facts, op) => {
      const [a, b] = op.inputs;
      const hasHistory = (uid: string) => facts.tensor(uid, op.step)?.requires_grad && !shapeOf(facts, uid).length;
      if (op.inputs.length < 2 || a === b || !hasHistory(a) || !hasHistory(b)) return null;
      const [behindA, behindB] = [scalarOperationsBehind(facts, a), scalarOperationsBehind(facts, b)];
      const reduced = [...behindA].find((each) => behindB.has(each) && MEAN_OF_SAMPLES.test(operationName(each.name)));
      const count = numel(shapeOf(facts, reduced?.inputs[1] ?? ""));
      const isCurved = [...behindA, ...behindB].some(({ name }) => CURVED.test(operationName(name)));
      if (!reduced || count < 2 || !isCurved) return null;
      const x = facts.nameFact(reduced.outputs[0], op.step);
      return {
        variant: "own",
        cause: op.step,
        chain: [
          [reduced.step, "made", reduced.outputs],
          [op.step, "used", op.inputs],
        ],
        facts: {
          x,
          n: count,
          made: facts.lineOf(reduced.step),
          op: codeFact(operationName(reduced.name).replace(/_nd$/, "")),
        },
      };
    },
  }),
];

/** The operations on numbers that one was made by, as far as the loss that gave the first. */
function scalarOperationsBehind(facts: RunFacts, uid: string): Set<Operation> {
  const found = new Set<Operation>();
  const uids = new Set([uid]);
  for (const each of uids) {
    const op = facts.producingOperation(each);
    if (!op || found.size > MAX_NUMBERS) continue;
    found.add(op);
    if (MEAN_OF_SAMPLES.test(operationName(op.name))) continue;
    for (const input of op.inputs) if (!shapeOf(facts, input).length) uids.add(input);
  }
  return found;
}

/** What made one number of as many losses as a mask has elements. */
function reductionOf(facts: RunFacts, loss: string, count: number): Operation | null {
  let uid = loss;
  for (let k = 0; k < MAX_OPERATIONS; k++) {
    const op = facts.producingOperation(uid);
    const name = operationName(op?.name ?? "");
    if (!op) return null;
    if (LOSS.test(name) || TOTAL.test(name)) {
      const counts = op.inputs.slice(0, 2).map((input) => numel(shapeOf(facts, input)));
      const shape = shapeOf(facts, op.inputs[0]);
      const isOfFirstAxes = shape.some((_, k) => numel(shape.slice(0, k + 1)) === count);
      return counts.includes(count) || (TOTAL.test(name) && isOfFirstAxes) ? op : null;
    }
    const next = op.inputs.find((input) => facts.scan.initialFields(input)?.requires_grad);
    if (!ONE_NUMBER.test(name) || !next || shapeOf(facts, next).length) return null;
    uid = next;
  }
  return null;
}

/** The sum or mean over all of what an operation gave, which is weighed by numbers or gets terms on the way. */
function totalReductionOf(facts: RunFacts, op: Operation): Operation | null {
  let [uid] = op.outputs;
  for (let k = 0; k < MAX_OPERATIONS; k++) {
    const readers = (facts.dataflow.edgesOutOf.get(uid) ?? []).flatMap((edge) => edge.op ?? []);
    const reader = readers.find(({ step }) => step >= op.step && !facts.isInsideBackward(step));
    const name = operationName(reader?.name ?? "");
    if (!reader) return null;
    if (TOTAL.test(name)) return shapeOf(facts, reader.outputs[0]).length ? null : reader;
    const isTerm = /^(?:add|sub)_?$/.test(name);
    const isByNumber = reader.inputs.every(
      (input) => input === uid || numel(shapeOf(facts, input)) === (isTerm ? numel(shapeOf(facts, uid)) : 1),
    );
    if (!ONE_NUMBER.test(name) || !isByNumber) return null;
    [uid] = reader.outputs;
  }
  return null;
}

function diagnosisOf(
  facts: RunFacts,
  op: Operation,
  loss: string,
  mask: string,
  reduced: Operation,
  total: Operation,
): Diagnosis {
  const named = axesOf(facts)
    .ancestors(mask)
    .find((uid) => facts.nameText(uid, op.step) && numel(shapeOf(facts, uid)) === numel(shapeOf(facts, mask)));
  const findingFacts = {
    x: facts.nameFact(loss, op.step),
    mask: facts.nameFact(named ?? mask, op.step),
    n: numel(shapeOf(facts, mask)),
    made: facts.place(reduced.step).line,
    op: operationName(reduced.name).replace(/_nd$/, ""),
  };
  const isOfAllAxes =
    TOTAL.test(operationName(reduced.name)) && numel(shapeOf(facts, reduced.inputs[0])) > findingFacts.n;
  return {
    variant: isOfAllAxes ? "all_axes" : undefined,
    cause: op.step,
    chain: [
      reduced.step < op.step && [reduced.step, "made", [loss]],
      [op.step, "used", [loss, named ?? mask]],
      total.step > op.step && [total.step, "read", total.outputs],
    ],
    names: [findingFacts.x, findingFacts.mask],
    facts: findingFacts,
  };
}
