/**
 * A learning rate that jumps back up where a scheduler is made for an optimizer that has trained, and an optimizer that
 * is made anew in each round and loses its moments.
 */

import { diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { addToList } from "../../trace/multimap.ts";
import { callArgument, calleeName, callsIn, methodCalls, receiver } from "../../syntax/expressions.ts";
import { learningRateAt } from "./scheduler_first.ts";
import { roundedNumber } from "./training_facts.ts";
import type { Optimizer } from "../facts/optimizers.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "rate_jumps",
    severity: "warning",
    of: rateJumps,
    once: ({ step }, facts) => facts.lineOf(step),
    say: jumpDiagnosis,
  }),
  diagnosis({
    kind: "rate_jumps",
    severity: "warning",
    of: optimizersMadeAnew,
    say: madeAnewDiagnosis,
  }),
  diagnosis({
    kind: "rate_jumps",
    severity: "warning",
    of: (facts) =>
      facts.findInStatements((tree) => methodCalls(tree, "load_state_dict").flatMap((call) => receiver(call) ?? [])),
    say: loadedForNothing,
  }),
];

/** Schedulers that begin with the rate that the optimizer was given; not those that are there to raise it. */
const SCHEDULER = /^(?!OneCycle|Cyclic).*LR$|schedule/;
const HAS_MOMENTS = /^(?:Adam|AdamW|Adamax|NAdam|RAdam|RMSprop|Adagrad|Adadelta|SGD)$/;
const MIN_REMADE = 3;
/** Of optimizers with more steps each, the training may go on with other data: that is a note. */
const FEW_STEPS = 2;

/** A scheduler's construction that raised the rate of an optimizer that had a lower one. */
interface RateJump {
  optimizer: Optimizer;
  step: number;
  /** the rate before and after, and the step at which it was lowered or loaded */
  before: number;
  after: number;
  lowered: number;
  /** the optimizer's next step */
  used: number;
}

function rateJumps(facts: RunFacts): RateJump[] {
  const constructions = facts.findInStatements((tree) =>
    callsIn(tree).flatMap((call) => (SCHEDULER.test(calleeName(call)) && callArgument(call, "optimizer", 0)) || []),
  );
  return constructions.flatMap(({ step, found }) => {
    const optimizer = facts.optimizerWith(facts.resolve(found, step) ?? "");
    return (optimizer && rateJumpAt(facts, optimizer, step)) || [];
  });
}

function rateJumpAt(facts: RunFacts, optimizer: Optimizer, step: number): RateJump | null {
  const rateAt = (at: number) => learningRateAt(facts, optimizer.uid, at);
  const [before, after, first] = [rateAt(step - 1), rateAt(step), rateAt(optimizer.made)];
  if (before === null || after === null || first === null || !(before < after && before > 0 && before < first))
    return null;
  const next = optimizer.steps.filter((each) => each > step).slice(0, 2);
  if (!next.length || !next.every((each) => (rateAt(each - 1) ?? 0) > before)) return null;
  const lowered = lastChange(facts, optimizer, step, before);
  const isLoaded = lowered !== null && methodCalls(facts.syntax(lowered), "load_state_dict").length > 0;
  const isScheduled = lowered !== null && methodCalls(facts.syntax(lowered), "step").length > 0;
  const isInLoop = (facts.steps[step].iter?.length ?? 0) > 0;
  if (lowered === null || !(isLoaded || (isScheduled && isInLoop))) return null;
  return { optimizer, step, before, after, lowered, used: next[0] };
}

/** The step at which an optimizer got the rate that it has before a step. */
function lastChange(facts: RunFacts, { uid, made }: Optimizer, step: number, rate: number): number | null {
  for (let at = step - 1; at > made; at--)
    if (learningRateAt(facts, uid, at - 1) !== rate) return learningRateAt(facts, uid, at) === rate ? at : null;
  return null;
}

function jumpDiagnosis(facts: RunFacts, { optimizer, step, before, after, lowered, used }: RateJump): Diagnosis {
  const x = facts.nameFact(optimizer.uid, step);
  const isLoaded = methodCalls(facts.syntax(lowered), "load_state_dict").length > 0;
  return {
    variant: isLoaded ? "loaded" : undefined,
    cause: step,
    chain: [
      [lowered, "written", [optimizer.uid], { rate: roundedNumber(before) }],
      [step, "moved", [optimizer.uid], { rate: roundedNumber(after) }],
      [used, "used", [optimizer.uid], { rate: roundedNumber(learningRateAt(facts, optimizer.uid, used - 1) ?? after) }],
    ],
    names: [x],
    facts: { optimizer: x, before: roundedNumber(before), after: roundedNumber(after), lowered: facts.lineOf(lowered) },
  };
}

/** Optimizers that one statement makes one after the other for the same parameters. */
function optimizersMadeAnew(facts: RunFacts): Optimizer[][] {
  const byStatement = new Map<unknown, Optimizer[]>();
  for (const optimizer of facts.optimizers) addToList(byStatement, facts.steps[optimizer.made].stmt, optimizer);
  return [...byStatement.values()].filter((all) => all.length >= MIN_REMADE && isOneTraining(facts, all));
}

function isOneTraining(facts: RunFacts, all: Optimizer[]): boolean {
  const held = all.map(({ uid, made }) => facts.parametersOf(uid, made));
  return all.every(({ uid, made, steps }, k) => {
    const { type } = facts.object(uid, made) ?? {};
    const before = all[k - 1]?.steps.at(-1);
    return (
      steps.length > 0 &&
      HAS_MOMENTS.test(type ?? "") &&
      (type !== "SGD" || hasMomentum(facts, uid, steps[0])) &&
      held[k].length > 0 &&
      held[k].join() === held[0].join() &&
      (before === undefined || held[k].every((parameter) => !isWrittenBetween(facts, parameter, before, made)))
    );
  });
}

/** Of an optimizer whose state is loaded, and in whose place another one steps that was made after the load. */
function loadedForNothing(
  facts: RunFacts,
  { step: loaded, found }: { step: number; found: SyntaxNode },
): Diagnosis | null {
  const uid = facts.resolve(found, loaded) ?? "";
  const optimizer = facts.optimizer(uid);
  if (!optimizer || optimizer.steps.some((step) => step > loaded) || !hasMomentum(facts, uid, loaded)) return null;
  const held = facts.parametersOf(uid, loaded).join();
  const other = facts.optimizers.find(
    (each) => each.made > loaded && each.steps.length > 0 && facts.parametersOf(each.uid, each.made).join() === held,
  );
  if (!other || !held) return null;
  const y = facts.nameFact(other.uid, other.made);
  return {
    variant: "state_left",
    cause: other.made,
    chain: [
      [loaded, "written", [uid], { optimizer: facts.nameFact(uid, loaded) }],
      [other.made, "moved", [other.uid]],
      [other.steps[0], "used", [other.uid]],
    ],
    names: [y],
    facts: { optimizer: y, lowered: facts.lineOf(loaded) },
  };
}

function hasMomentum(facts: RunFacts, uid: string, step: number): boolean {
  const state = facts.stateAt(step);
  const attrs = findEntity(state, uid, "object")?.attrs ?? {};
  const ref = attrs.state && typeof attrs.state === "object" && "ref" in attrs.state ? attrs.state.ref : null;
  return (findEntity(state, ref, "object")?.len ?? 0) > 0;
}

/** Whether numbers were given to a parameter after a step and before another: its training begins anew there. */
function isWrittenBetween(facts: RunFacts, uid: string, from: number, to: number): boolean {
  const storage = facts.storageOf(uid, to);
  return facts.writesOf(storage).some(({ step }) => step > from && step < to);
}

function madeAnewDiagnosis(facts: RunFacts, all: Optimizer[]): Diagnosis {
  const [first, second] = all;
  const x = facts.nameFact(second.uid, second.made);
  return {
    variant: "anew",
    severity: all.some(({ steps }) => steps.length > FEW_STEPS) ? "note" : "warning",
    cause: second.made,
    chain: [
      [first.steps[0], "used", [first.uid]],
      [second.made, "moved", [second.uid]],
      [second.steps[0], "used", [second.uid]],
    ],
    names: [x],
    facts: { optimizer: x, n: all.length },
  };
}
