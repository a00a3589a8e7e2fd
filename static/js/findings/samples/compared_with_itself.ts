/**
 * A result of the model that is compared with what the same weights have just computed from the same data: the two are
 * equal in every round, so the comparison says nothing.
 */

import { codeFact, diagnosis, madeBefore, operationName, statementOfCandidate } from "../diagnosis.ts";
import type { Operation, RunFacts } from "../diagnosis.ts";
import { addToList, groupBy } from "../../trace/multimap.ts";
import { dataSourcesOf } from "../modules/layer_calls.ts";
import { moduleCallsOf } from "../../trace/module_calls.ts";

export const FINDINGS = [
  diagnosis({
    kind: "compared_with_itself",
    severity: "warning",
    of: (facts) => facts.scan.operationsNamed(COMPARES_TWO),
    once: statementOfCandidate,
    say: (facts, { name, inputs, step }) => {
      const [uid, other] = inputs;
      if (inputs.length < 2 || uid !== other || facts.isInsideBackward(step)) return null;
      return {
        variant: "one",
        cause: step,
        chain: [madeBefore(facts, uid, step), [step, "used", [uid]]],
        facts: { x: facts.nameFact(uid, step), op: codeFact(operationName(name)) },
      };
    },
  }),
  diagnosis({
    kind: "compared_with_itself",
    severity: "warning",
    of: equalComparisons,
    once: ({ old }, facts) => facts.lineOf(facts.birthStep(old)),
    say: (facts, { step, current, old, rounds }) => {
      const [x, y] = [facts.nameFact(current, step), facts.nameFact(old, step)];
      const made = facts.birthStep(old);
      return {
        cause: made,
        chain: [
          [made, "made", [old]],
          [step, "used", [current, old]],
        ],
        facts: { x, y, n: rounds, compared: facts.lineOf(step), comparison: facts.statementFact(step) },
      };
    },
  }),
  diagnosis({
    kind: "compared_with_itself",
    severity: "warning",
    of: (facts) => groupBy(facts.scan.operationsNamed(DISTANCE), ({ step }) => facts.steps[step].stmt),
    /** Two results of the model that are equal in every round, as both were computed from the same data. */
    say: (facts, ops) => {
      const [{ inputs: uids, step }] = ops;
      if (ops.length < MIN_ROUNDS || !ops.every((op) => areTwins(facts, op))) return null;
      const [x, y] = uids.map((uid) => facts.nameFact(uid, step));
      const [first, second] = uids.map((uid) => facts.birthStep(uid));
      return {
        variant: "twins",
        cause: Math.max(first, second),
        chain: [
          [second, "made", [uids[1]]],
          [step, "used", uids.slice(0, 2)],
        ],
        facts: { x, y, n: ops.length, compared: facts.lineOf(step), comparison: facts.statementFact(step) },
      };
    },
  }),
];

const COMPARES_TWO =
  /^(?:minimum|maximum|fmin|fmax|min|max|mse_loss|l1_loss|smooth_l1_loss|huber_loss|pairwise_distance|cosine_similarity)$/;
const DISTANCE =
  /^(?:triplet_margin_loss|pairwise_distance|cosine_similarity|cosine_embedding_loss|margin_ranking_loss)$/;
const COMPARISON = /^(?:sub|div|rsub|mse_loss|l1_loss|smooth_l1_loss|huber_loss)$/;
const MIN_ROUNDS = 3;

/** Whether two inputs of an operation are equal, number for number, and both have a history of their own. */
function areTwins(facts: RunFacts, { inputs: [a, b], step }: Operation): boolean {
  const [numbers, others] = [a, b].map((uid) => facts.numbersOf(uid, step));
  const isOfModel = [a, b].every((uid) => facts.tensor(uid, step)?.requires_grad);
  return a !== b && isOfModel && new Set(numbers).size > 1 && `${numbers}` === `${others}`;
}

/** The last of an operation's runs: `current` has a history, `old` has none. */
interface Comparison {
  step: number;
  current: string;
  old: string;
  rounds: number;
}

function equalComparisons(facts: RunFacts): Comparison[] {
  const steps = facts.optimizers.flatMap((optimizer) => optimizer.steps);
  if (steps.length < MIN_ROUNDS - 1) return [];
  const byPlace = new Map<string, Operation[]>();
  const countAt = new Map<number, number>();
  for (const op of facts.scan.operationsNamed(COMPARISON)) {
    if (facts.steps[op.step].visit || op.inputs.length < 2) continue;
    const place = countAt.get(op.step) ?? 0;
    countAt.set(op.step, place + 1);
    addToList(byPlace, `${facts.steps[op.step].stmt} ${place}`, op);
  }
  return [...byPlace.values()].flatMap((ops) => comparisonOf(facts, ops, steps) ?? []);
}

function comparisonOf(facts: RunFacts, ops: Operation[], steps: number[]): Comparison | null {
  const isRound = ({ step }: Operation, k: number) => !k || steps.some((each) => each > ops[k - 1].step && each < step);
  if (ops.length < MIN_ROUNDS || !ops.every(isRound)) return null;
  let before = "";
  const data = new Set<string>();
  for (const { inputs, step } of ops) {
    const [a, b] = inputs;
    const numbers = facts.numbersOf(a, step);
    const [hasHistory, hadHistory] = [a, b].map((uid) => facts.tensor(uid, step)?.requires_grad === true);
    if (!numbers || hasHistory === hadHistory || new Set(numbers).size < 2) return null;
    const others = facts.numbersOf(b, step);
    if (numbers.length !== others?.length || !numbers.every((number, k) => Object.is(number, others[k]))) return null;
    if (`${numbers}` === before) return null;
    before = `${numbers}`;
    const [current, old] = hasHistory ? [a, b] : [b, a];
    const source = sourceOfCalls(facts, old, current);
    if (!source) return null;
    data.add(source);
  }
  if (data.size !== 1) return null;
  const { inputs, step } = ops[ops.length - 1];
  const [current, old] = facts.tensor(inputs[0], step)?.requires_grad ? inputs : [inputs[1], inputs[0]];
  // both in one statement: a term that is zero on purpose
  if (facts.steps[facts.birthStep(old)]?.stmt === facts.steps[step].stmt) return null;
  return { step, current, old, rounds: ops.length };
}

/**
 * The only data that the modules were called with from which a tensor comes, by its place in memory; null where there
 * are others, where the memory is written later, and where the tensor comes from another one without a call of its own.
 */
function sourceOfCalls(facts: RunFacts, uid: string, other: string): string | null {
  const seen = facts.dataflow.ancestors([uid]);
  if (seen.has(other)) return null;
  const calls = [...moduleCallsOf(facts.opened).calls.values()].filter(
    ({ within, outputs }) => within === null && outputs.some((output) => seen.has(output)),
  );
  const sources = new Set(calls.flatMap(({ inputs }) => inputs.flatMap((input) => [...dataSourcesOf(facts, input)])));
  const floats = [...sources].filter((source) => !isOfIntegers(facts, source));
  const [storage] = floats[0]?.split(" ") ?? [];
  const birth = facts.birthStep(storage);
  const isKept = facts.writesOf(storage).every(({ step }) => step <= birth);
  return calls.length && floats.length === 1 && isKept ? floats[0] : null;
}

function isOfIntegers(facts: RunFacts, source: string): boolean {
  const [storage] = source.split(" ");
  const cells = facts.scan.initialFields(storage)?.cells ?? {};
  return Object.keys(cells).some((dtype) => /^u?int|^bool/.test(dtype));
}
