/** Inputs and targets that were shuffled by two draws: no sample has its own target any more. */

import { addToList } from "../../trace/multimap.ts";
import { diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";

export const FINDINGS = [
  diagnosis({
    kind: "two_shuffles",
    severity: "warning",
    of: shuffledPairs,
    once: ({ target }, facts) => facts.lineOf(target.step),
    say: (facts, { input, target, loss }) => {
      const [x, y] = [input, target].map(({ inputs, step }) => facts.nameFact(inputs[0], step));
      return {
        cause: Math.max(input.step, target.step),
        chain: [
          [input.step, "made", input.outputs],
          [target.step, "made", target.outputs],
          [loss.step, "used", loss.inputs.slice(0, 2)],
        ],
        facts: {
          x,
          y,
          shuffled: facts.lineOf(input.step),
          other: facts.lineOf(target.step),
          loss: facts.lineOf(loss.step),
        },
      };
    },
  }),
];

const LOSS =
  /^(?:cross_entropy_loss|nll_loss\w*|mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*|sub)$/;
const MAX_TENSORS = 2000;

/** the operations that index what a loss compares, each by a permutation of its own */
interface ShuffledPair {
  loss: Operation;
  input: Operation;
  target: Operation;
}

function shuffledPairs(facts: RunFacts): ShuffledPair[] {
  const byPermutation = new Map<string, Operation[]>();
  for (const op of facts.scan.operationsNamed(/^(?:index|index_select)$/)) {
    const permutation = permutationOf(facts, op.inputs[1]);
    if (permutation) addToList(byPermutation, permutation, op);
  }
  if (byPermutation.size < 2) return [];
  const shuffles = new Map(
    [...byPermutation].flatMap(([permutation, ops]) => ops.map((op) => [op.outputs[0], { op, permutation }] as const)),
  );
  return facts.scan.operationsNamed(LOSS).flatMap((loss): ShuffledPair[] => {
    const [isOfModel, hasHistory] = loss.inputs.map((uid) => facts.scan.initialFields(uid)?.requires_grad === true);
    if (facts.isInsideBackward(loss.step) || !isOfModel || hasHistory) return [];
    const [given, wanted] = loss.inputs.slice(0, 2).map((uid) => shufflesBehind(facts, uid, shuffles));
    const [input, target] = [given?.[0], wanted?.[0]];
    const isShared = given?.some(({ permutation }) => wanted?.some((other) => other.permutation === permutation));
    const isOfEqualLength = input && target && lengthOf(facts, input.op) === lengthOf(facts, target.op);
    const isOfOne = input?.op.inputs[0] === target?.op.inputs[0];
    return input && isOfEqualLength && !isShared && !isOfOne ? [{ loss, input: input.op, target: target.op }] : [];
  });
}

/** The result of `randperm` that indices are, or are cut from. */
function permutationOf(facts: RunFacts, uid: string | undefined): string | null {
  const storage = facts.scan.initialFields(uid)?.storage ?? "";
  const first = [...facts.index.placements.values()].find((each) => each.storage === storage)?.uid ?? uid ?? "";
  return operationName(facts.producingOperation(first)?.name ?? "") === "randperm" ? first : null;
}

function lengthOf(facts: RunFacts, { inputs, step }: Operation) {
  return (facts.tensor(inputs[0], step) ?? facts.scan.initialFields(inputs[0]))?.shape?.[0];
}

/** The shuffles that a tensor comes from, apart from what made parameters. */
function shufflesBehind<T>(facts: RunFacts, uid: string | undefined, shuffles: ReadonlyMap<string, T>): T[] {
  const seen = new Set(uid ? [uid] : []);
  const found: T[] = [];
  for (const tensor of seen) {
    const shuffle = shuffles.get(tensor);
    if (shuffle) found.push(shuffle);
    else if (seen.size < MAX_TENSORS && !facts.isParameter(tensor))
      for (const { from } of facts.dataflow.edgesInto.get(tensor) ?? []) seen.add(from);
  }
  return found;
}
