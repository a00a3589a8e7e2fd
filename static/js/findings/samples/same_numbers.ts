/** A random call that draws the same numbers in every round of a training, as a seed is set before each. */

import { codeFact, diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { calleeName, calleePath, callsIn } from "../../syntax/expressions.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { ancestorsOfRoots } from "../modules/layer_calls.ts";
import { cellAsNumber } from "../facts/cell_values.ts";

export const FINDINGS = [
  diagnosis({
    kind: "same_numbers",
    severity: "warning",
    when: (facts) => stepsThatSetGenerator(facts).length >= MIN_ROUNDS - 1,
    of: repeatedDraws,
    once: ({ setter }, facts) => facts.lineOf(setter),
    say: (facts, { draws, period, setter }) => {
      const [first, again] = [draws[0], draws[period]];
      return {
        variant: period > 1 ? "pass" : undefined,
        cause: setter,
        chain: [
          [first.op.step, "made", [first.uid]],
          [setter, "written"],
          [again.op.step, "used", [again.uid]],
        ],
        names: namesGivenTo(facts, again),
        facts: {
          n: Math.floor(draws.length / period),
          seed: facts.statementFact(setter),
          drawn: facts.lineOf(again.op.step),
          draw: facts.statementFact(again.op.step),
        },
      };
    },
  }),
];

const RANDOM_OPERATION =
  /^(?:rand|randn|randint|randperm|rand_like|randn_like|randint_like|normal|normal_|uniform_|random_|bernoulli|bernoulli_|exponential_|multinomial|dropout)$/;
const SETS_GENERATOR = /seed|^set_(?:rng_)?state$/i;
const NOT_TORCH = /^(?:numpy|random|os)\./;
const MIN_ROUNDS = 3;
/** So many whole numbers, or places that dropout may leave out, have to be the same again. */
const MIN_DISCRETE = 32;

interface RandomDraw {
  op: Operation;
  uid: string;
  /** null where it is not known */
  values: (number | null)[];
}

interface RepeatedDraws {
  draws: RandomDraw[];
  /** so many draws come again */
  period: number;
  /** the step that sets the generator back */
  setter: number;
}

function repeatedDraws(facts: RunFacts): RepeatedDraws[] {
  const setters = stepsThatSetGenerator(facts);
  return drawsByPlace(facts).flatMap((draws) => (draws.length >= MIN_ROUNDS && periodOf(facts, draws, setters)) || []);
}

/** The steps whose statements set a generator of torch, by whatever is called so, outside of a backward. */
const stepsThatSetGenerator = memoizePerRun((facts: RunFacts): number[] => {
  const isSetter = (step: number) =>
    callsIn(facts.syntax(step)).some(
      (call) => SETS_GENERATOR.test(calleeName(call)) && !NOT_TORCH.test(calleePath(call) ?? ""),
    );
  return [...facts.steps.keys()].filter((step) => !facts.steps[step].visit && isSetter(step));
});

/** What each place of the program drew, in order: by its statement and which of the statement's draws it is. */
function drawsByPlace(facts: RunFacts): RandomDraw[][] {
  const out = new Map<string, RandomDraw[]>();
  const countAt = new Map<number, number>();
  for (const op of facts.scan.operationsNamed(RANDOM_OPERATION)) {
    const { visit, stmt } = facts.steps[op.step];
    const [uid] = op.outputs;
    if (visit || !uid || op.failed) continue;
    const place = countAt.get(op.step) ?? 0;
    countAt.set(op.step, place + 1);
    addToList(out, `${stmt} ${op.name} ${place}`, { op, uid, values: [] });
  }
  return [...out.values()];
}

/** Null where the numbers differ, where no optimizer steps between, or where no loss comes of them. */
function periodOf(facts: RunFacts, draws: RandomDraw[], setters: number[]): RepeatedDraws | null {
  const optimizers = facts.optimizers.filter(({ made }) => made < draws[0].op.step);
  const again = draws.findIndex(
    ({ op }, k) => k > 0 && setters.some((step) => step > draws[k - 1].op.step && step <= op.step),
  );
  if (again < 1 || draws.length < 2 * again) return null;
  for (const draw of draws.slice(0, MIN_ROUNDS * again)) draw.values = valuesOf(facts, draw);
  const pairs = draws.slice(again, MIN_ROUNDS * again).map((draw, k) => ({ draw, before: draws[k] }));
  const trainsOn = ({ steps }: { steps: number[] }) =>
    steps.some((step) => step > draws[draws.length - 1].op.step) &&
    pairs.every(({ draw, before }) => steps.some((step) => step > before.op.step && step < draw.op.step));
  if (!optimizers.some(trainsOn) || !pairs.every(({ draw, before }) => areSame(before, draw, pairs.length)))
    return null;
  const trained = ancestorsOfRoots(facts);
  if (!draws.every(({ uid }) => trained.has(uid))) return null;
  const setter = setters.findLast((step) => step <= draws[again].op.step && step > draws[again - 1].op.step);
  return setter === undefined ? null : { draws, period: again, setter };
}

/** What was drawn; of dropout which numbers it left out. */
function valuesOf(facts: RunFacts, { op, uid }: RandomDraw): (number | null)[] {
  const numbers = (facts.cellsOf(uid, op.step) ?? []).map(cellAsNumber);
  if (operationName(op.name) !== "dropout") return numbers;
  const input = (facts.cellsOf(op.inputs[0], op.step) ?? []).map(cellAsNumber);
  return numbers.map((number, k) => (input[k] ? Number(number === 0) : null));
}

/** Whether numbers are the same that would not be by chance. */
function areSame(before: RandomDraw, draw: RandomDraw, pairs: number): boolean {
  const [a, b] = [before.values, draw.values];
  const known = a.filter((value, k) => value !== null && b[k] !== null).length;
  if (
    !known ||
    a.length !== b.length ||
    a.some((value, k) => value !== null && b[k] !== null && !Object.is(value, b[k]))
  )
    return false;
  const isDiscrete = a.every((value) => value === null || Number.isInteger(value));
  if (new Set(a).size < 2 && (isDiscrete || a.length > 1)) return false;
  return !isDiscrete || known * pairs >= MIN_DISCRETE || (operationName(draw.op.name) === "randperm" && known > 5);
}

/** The names that the statement of a draw gives, and that of what was drawn. */
function namesGivenTo(facts: RunFacts, { op, uid }: RandomDraw) {
  const vars = facts.steps[op.step].set[facts.steps[op.step].frame ?? ""]?.vars ?? {};
  return [...Object.keys(vars).map(codeFact), facts.nameFact(uid, op.step)];
}
