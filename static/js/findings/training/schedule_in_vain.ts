/**
 * A schedule that brings the learning rate to nearly nothing early on, and one whose rates no step uses, as its
 * optimizer was replaced.
 */

import { codeFact, diagnosis, type Diagnosis, type Link, type RunFacts } from "../diagnosis.ts";
import { addToList, groupBy } from "../../trace/multimap.ts";
import { learningRateAt } from "./scheduler_first.ts";
import { roundedNumber } from "./training_facts.ts";
import { callArgument, calleeName, callsIn, pathText, receiver } from "../../syntax/expressions.ts";
import { mentionedNames } from "../../syntax/name_uses.ts";
import { assignments, bareExpression } from "../../syntax/statements.ts";
import { statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import type { Optimizer } from "../facts/optimizers.ts";

const KIND = {
  kind: "scheduler_first",
  severity: "warning",
  when: ({ ranToItsEnd }: RunFacts) => ranToItsEnd,
} as const;

export const FINDINGS = [
  diagnosis({ ...KIND, of: (facts) => facts.optimizers, say: vanishedRate }),
  diagnosis({
    ...KIND,
    of: (facts) => groupBy(callsForReplacedOptimizers(facts), ({ made }) => facts.steps[made].stmt),
    say: (facts, calls) => (calls.length < MIN_LOST_CHANGES ? null : replacedDiagnosis(facts, calls[0])),
  }),
  diagnosis({
    kind: "rate_jumps",
    severity: "note",
    when: ({ ranToItsEnd }) => ranToItsEnd,
    of: (facts) => facts.findInStatements(schedulerAssignments),
    say: risingCosine,
  }),
  diagnosis({
    kind: "rate_jumps",
    severity: "warning",
    of: (facts) => facts.findInStatements(schedulerAssignments),
    say: squaredRate,
  }),
];

/** A rate below so much of the largest one trains no more, */
const VANISHED = 1e-3;
/** where so many steps at least, and half of all, are made with it. */
const MIN_VANISHED_STEPS = 8;
const MIN_LOST_CHANGES = 2;
/** A rate that is back at so much of the first one has risen again. */
const RISEN = 0.25;
const MAX_STATEMENTS = 2000;
/** How the names of torch's schedulers end. */
const SCHEDULERS = ["LR", "ReduceLROnPlateau", "WarmRestarts"];

/** A statement like `scheduler.step()` that gave an optimizer another learning rate. */
interface RateChange {
  optimizer: string;
  step: number;
  before: number;
  after: number;
}

const rateChanges = memoizePerRun((facts: RunFacts): RateChange[] => {
  const optimizers = facts.optimizers;
  const updates = new Set(optimizers.flatMap(({ steps }) => steps));
  const out: RateChange[] = [];
  let seen = 0;
  for (const { step } of facts.findInStatements(steppedNodes)) {
    if (updates.has(step)) continue;
    if (seen++ > MAX_STATEMENTS) break;
    for (const { uid, made } of optimizers) {
      if (made >= step || facts.deathStep(uid) <= step) continue;
      const [before, after] = [learningRateAt(facts, uid, step - 1), learningRateAt(facts, uid, step)];
      if (before !== null && after !== null && before !== after) out.push({ optimizer: uid, step, before, after });
    }
  }
  return out;
});

/** Of a statement like `scheduler.step()`: the scheduler. */
function steppedNodes(tree: SyntaxNode): SyntaxNode[] {
  const call = bareExpression(tree);
  const stepped = call && calleeName(call) === "step" ? receiver(call) : null;
  return stepped ? [stepped] : [];
}

/** Of `scheduler = StepLR(optimizer, …)`: what it is assigned to, and the optimizer. */
export function schedulerAssignments(tree: SyntaxNode) {
  return assignments(tree).flatMap(({ target, value }) => {
    const name = value ? calleeName(value) : "";
    const optimizer = value && SCHEDULERS.some((end) => name.endsWith(end)) && callArgument(value, "optimizer", 0);
    return optimizer ? { target, optimizer, value } : [];
  });
}

function vanishedRate(facts: RunFacts, { uid, made, steps }: Optimizer): Diagnosis | null {
  const own = rateChanges(facts).filter(({ optimizer }) => optimizer === uid);
  if (!own.length || own.some(({ before, after }) => after > before)) return null;
  const ofRounds = ratesOfRounds(facts);
  const ofSteps = steps.map((step) => learningRateAt(facts, uid, step - 1) ?? Number.NaN);
  const rates = ofRounds ?? ofSteps;
  const [largest] = rates;
  const from = rates.findIndex((rate) => rate < VANISHED * largest);
  if (from < 1 || rates.some((rate, k) => !(rate <= (rates[k - 1] ?? largest)))) return null;
  const used = steps[ofSteps.findIndex((rate) => rate < VANISHED * largest)] ?? steps[steps.length - 1];
  const lowering = own.findLast(({ step }) => step < used) ?? own[0];
  const { useful, vain } = ofRounds ? { useful: from, vain: rates.length - from } : countsOfSteps(facts, uid, used);
  if (vain < MIN_VANISHED_STEPS || vain < useful) return null;
  const optimizer = facts.nameFact(uid, lowering.step);
  return {
    variant: "vanished",
    cause: lowering.step,
    chain: [
      [made, "made", [uid]],
      [lowering.step, "written", [uid], { first: roundedNumber(lowering.after) }],
      [used, "used", [uid]],
    ],
    names: [optimizer],
    facts: {
      optimizer,
      vain,
      total: useful + vain,
      last: roundedNumber(rates.at(-1) ?? 0),
      code: facts.statementFact(lowering.step),
      first: roundedNumber(largest),
    },
    fixes: [["out_of_loop"]],
  };
}

/** The rate in each round, recorded or not, of the one optimizer of a run; null where there are more, or more rates. */
function ratesOfRounds({ trace: { rounds }, optimizers }: RunFacts): number[] | null {
  if (!rounds || rounds.optimizers !== 1 || optimizers.length !== 1 || rounds.every !== 1) return null;
  const isSimple = rounds.rounds.every(({ lr, backwards }) => lr.length === 1 && backwards === 1);
  return isSimple && rounds.rounds.length === rounds.count ? rounds.rounds.map(({ lr: [rate] }) => Number(rate)) : null;
}

/**
 * How often an optimizer stepped before a step and from it on; of those that were not recorded, before where it can't
 * be told.
 */
function countsOfSteps(facts: RunFacts, optimizer: string, from: number) {
  const counts = { useful: 0, vain: 0 };
  const uids = facts.optimizer(optimizer)?.uids;
  let last = -1;
  for (const event of facts.eventsOfKind("optimizer_stepped")) {
    if (!uids?.has(event.optimizer ?? "")) continue;
    const isVain = event.unrecorded ? last >= from : event.step >= from;
    counts[isVain ? "vain" : "useful"] += event.unrecorded ?? 1;
    last = event.step;
  }
  return counts;
}

/** A call of a scheduler whose optimizer has made its last step, while another one goes on with its parameters. */
interface CallForReplacedOptimizer {
  optimizer: string;
  step: number;
  /** made: the step that made the other optimizer; next: its next step */
  successor: string;
  made: number;
  next: number;
}

/** Where no rate that a schedule set was used, since its optimizer was replaced. */
function callsForReplacedOptimizers(facts: RunFacts): CallForReplacedOptimizer[] {
  return [...callsByOptimizer(facts)].flatMap(([optimizer, calls]) => {
    const last = facts.optimizer(optimizer)?.steps.at(-1) ?? -1;
    if (calls.some((step) => step < last)) return [];
    return calls.flatMap((step) => callForReplacedOptimizer(facts, optimizer, step) ?? []);
  });
}

/**
 * The steps at which a scheduler of an optimizer was called: those that changed its rate, and where it is out of sight
 * those that say so.
 */
function callsByOptimizer(facts: RunFacts): Map<string, number[]> {
  const out = new Map<string, number[]>();
  for (const { optimizer, step } of rateChanges(facts)) addToList(out, optimizer, step);
  /** by the scheduler's path: its optimizer */
  const scheduled = new Map<string, string>();
  for (const { step, found } of facts.findInStatements((tree) => [
    ...schedulerAssignments(tree),
    ...steppedNodes(tree),
  ])) {
    if ("optimizer" in found) {
      const path = pathText(found.target);
      if (path) scheduled.set(path, facts.resolve(found.optimizer, step) ?? "");
      continue;
    }
    const optimizer = scheduled.get(pathText(found) ?? "");
    const death = facts.deathStep(optimizer);
    if (optimizer && death <= step) addToList(out, optimizer, step);
  }
  return out;
}

function callForReplacedOptimizer(facts: RunFacts, optimizer: string, step: number): CallForReplacedOptimizer | null {
  const known = facts.optimizer(optimizer);
  if (!known) return null;
  const params = new Set(facts.parametersOf(optimizer, known.made));
  for (const { uid: successor, made, steps } of facts.optimizers) {
    const next = steps.find((other) => other > step);
    if (next === undefined || successor === optimizer || made < (known.steps.at(-1) ?? known.made)) continue;
    const held = facts.parametersOf(successor, made);
    if (held.length && held.every((param) => params.has(param))) return { optimizer, step, successor, made, next };
  }
  return null;
}

function replacedDiagnosis(
  facts: RunFacts,
  { optimizer, step, successor, made, next }: CallForReplacedOptimizer,
): Diagnosis {
  const x = facts.nameFact(successor, next);
  const names = {
    optimizer: x,
    used: roundedNumber(learningRateAt(facts, successor, next) ?? Number.NaN),
    schedule: facts.statementFact(step),
    scheduled: facts.place(step).line,
    step: facts.place(next).line,
  };
  return {
    variant: "replaced",
    cause: made,
    chain: [
      [made, "made", [successor]],
      [step, "read", [optimizer], { code: names.schedule }],
      [next, "used", [successor], { first: names.used }],
    ],
    names: [x],
    facts: names,
  };
}

/** A cosine that is over before the training is: from `T_max` on the rate rises again, as it fell. */
function risingCosine(
  facts: RunFacts,
  {
    step: made,
    found: { optimizer: given, value },
  }: { step: number; found: ReturnType<typeof schedulerAssignments>[number] },
) {
  const optimizer = facts.optimizers.find(({ uid }) => uid === facts.resolve(given, made));
  const turn = callArgument(value, "T_max", 1);
  if (!optimizer || !turn || calleeName(value) !== "CosineAnnealingLR") return null;
  const rates = optimizer.steps.map((step) => learningRateAt(facts, optimizer.uid, step - 1) ?? Number.NaN);
  const lowest = rates.findIndex((rate, k) => rates[k + 1] > rate);
  const highest = Math.max(...rates.slice(lowest));
  if (lowest < 1 || !(highest > RISEN * rates[0]) || rates[lowest] > highest / 2) return null;
  const x = facts.nameFact(optimizer.uid, made);
  return {
    variant: "cosine",
    cause: made,
    chain: [
      [made, "made", [optimizer.uid]],
      [optimizer.steps[lowest], "written", [optimizer.uid], { rate: roundedNumber(rates[lowest]) }],
      [optimizer.steps[rates.length - 1], "used", [optimizer.uid], { rate: roundedNumber(rates[rates.length - 1]) }],
    ],
    names: [x],
    facts: {
      optimizer: x,
      turn: codeFact(`T_max=${turn.text}`),
      before: roundedNumber(rates[lowest]),
      after: roundedNumber(highest),
    },
  } satisfies Diagnosis;
}

/** A function that gives `LambdaLR` the rate itself, which is then multiplied by it. */
function squaredRate(
  facts: RunFacts,
  { step: made, found }: { step: number; found: ReturnType<typeof schedulerAssignments>[number] },
): Diagnosis | null {
  const optimizer = facts.optimizers.find(({ uid }) => uid === facts.resolve(found.optimizer, made));
  const factor = callArgument(found.value, "lr_lambda", 1);
  if (!optimizer || !factor || calleeName(found.value) !== "LambdaLR") return null;
  const [before, after] = [learningRateAt(facts, optimizer.uid, made - 1), learningRateAt(facts, optimizer.uid, made)];
  if (before === null || after === null || before === 1) return null;
  if (Math.abs(after - before * before) > 1e-9 * before * before) return null;
  const given = callsIn(facts.syntax(optimizer.made)).flatMap((call) => callArgument(call, "lr", 1) ?? [])[0];
  // a warm-up may begin with that very number: the function has to speak of the rate
  const name = given ? pathText(given) : null;
  if (!name || !statementsOfCallable(facts, factor).some((tree) => mentionedNames(tree).has(name.split(".")[0])))
    return null;
  const used = optimizer.steps[0] ?? made;
  const x = facts.nameFact(optimizer.uid, made);
  return {
    variant: "squared",
    cause: made,
    chain: [
      [optimizer.made, "made", [optimizer.uid], { rate: roundedNumber(before) }],
      [made, "moved", [optimizer.uid], { rate: roundedNumber(after) }],
      ...(used > made ? [[used, "used", [optimizer.uid], { rate: roundedNumber(after) }] satisfies Link] : []),
    ],
    names: [x],
    facts: {
      optimizer: x,
      before: roundedNumber(before),
      after: roundedNumber(after),
      rate: codeFact(name),
      code: facts.statementFact(made),
    },
  };
}

/** Of a lambda itself; of a name, all that stand in the function that it is. */
function statementsOfCallable({ trace: { program } }: RunFacts, callable: SyntaxNode): SyntaxNode[] {
  if (callable.kind === "Lambda") return [callable];
  const trees = statementTrees(program).filter((tree) => tree !== null);
  const definition = trees.find(({ kind, value }) => kind.endsWith("FunctionDef") && value === pathText(callable));
  return definition ? trees.filter(({ start, end }) => start > definition.start && end <= definition.end) : [];
}
