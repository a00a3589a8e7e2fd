/** Where a reader lands after a run, and where a program is stopped before one of its lines. */

import { callDepthByStep } from "./stepping.ts";
import { EVENTS } from "../registry.ts";
import { commonLines, lineAfterEdit } from "./step_after_edit.ts";
import { doesBackwardFailIn } from "../saved_slots.ts";
import { pictureOfRun } from "../run_picture.ts";
import type { OpenTrace } from "../state.ts";
import type { Event, Step, Trace } from "../wire.ts";

/** A saved value that changed, as the table of events ranks it: worth more than any gradient that arrives. */
const GRAVEST_RANK = 2;

const hasEvent = ({ log }: Step, isMeant: (name: string) => boolean) =>
  log.some((entry) => entry.kind === "event" && isMeant(entry.event));

/**
 * The step at which a reader first looks at a run of his own, before anything is known of its findings: what raised; a
 * saved value that changed, unless no backward fails for it; else the first gradient that arrives in a `.grad`; else
 * the first write, or the first cut of the graph, that the program itself makes; else the last step that left
 * something. Never the inside of a call: what a layer writes to its own memory is not what its reader asked. A net that
 * is drawn as a list: the last visit of its first backward, else the last step of its first call.
 */
export function landingStep(opened: OpenTrace): number {
  const { steps } = opened.trace;
  const certain = errorStep(opened.trace) ?? landingStepOfList(opened);
  if (certain !== null) return certain;
  const depths = callDepthByStep(steps);
  const rankOf = (name: string) => EVENTS[name]?.opening ?? Number.POSITIVE_INFINITY;
  const isGrave = (entry: Event) =>
    rankOf(entry.event) <= GRAVEST_RANK && (entry.event !== "saved_stale" || doesBackwardFailIn(steps, entry.node));
  const firstStep = (isMeant: (step: Step, i: number) => boolean) => {
    const i = steps.findIndex(isMeant);
    return i < 0 ? null : i;
  };
  const withRank = (isMeant: (rank: number) => boolean) =>
    firstStep((step, i) => !depths[i] && hasEvent(step, (name) => isMeant(rankOf(name))));
  return (
    firstStep((step) => step.log.some((entry) => entry.kind === "event" && isGrave(entry))) ??
    firstStep((step) => hasEvent(step, (name) => name === "grad_accumulated")) ??
    withRank((rank) => rank === GRAVEST_RANK + 1) ??
    withRank((rank) => rank < Number.POSITIVE_INFINITY) ??
    lastTellingStep(steps) ??
    steps.length - 1
  );
}

/**
 * The step at which a reader first sees a run that he did not start: where it raised; of a list, as above; else the
 * first slot that broke, write or cut, else the last; -1 where there are no steps.
 */
export function openingStep(opened: OpenTrace): number {
  const { trace } = opened;
  const certain = errorStep(trace) ?? landingStepOfList(opened);
  if (certain !== null) return certain;
  let best = { rank: Number.POSITIVE_INFINITY, step: trace.steps.length - 1 };
  trace.steps.forEach(({ log }, i) => {
    for (const entry of log) {
      const rank = entry.kind === "event" ? EVENTS[entry.event]?.opening : undefined;
      if (rank !== undefined && rank < best.rank) best = { rank, step: i };
    }
  });
  return best.step;
}

/** Whether a reader first looks at the whole run, not at a step: at a training that did not raise. */
export function isLandingOnWholeRun(trace: Trace) {
  return (trace.rounds?.count ?? 0) > 1 && !trace.outcome.error;
}

function errorStep({ steps, outcome }: Trace): number | null {
  const step = outcome.error?.step;
  return typeof step === "number" && step < steps.length ? step : null;
}

type LogPosition = { step: number; at: number };

/** Of a net that is drawn as a list. */
function landingStepOfList(opened: OpenTrace): number | null {
  if (pictureOfRun(opened) !== "list") return null;
  const [visits] = opened.index.visitsByBackward.values();
  if (visits) return visits[visits.length - 1].step;
  const { eventPlacesByName } = opened.index;
  const [begun, ended] = ["module_called", "module_returned"].map((name) => eventPlacesByName.get(name) ?? []);
  // the first call ends where as many have ended as have begun
  const isAfter = (a: LogPosition, b: LogPosition) => a.step > b.step || (a.step === b.step && a.at > b.at);
  return ended.find((place, k) => !begun[k + 1] || isAfter(begun[k + 1], place))?.step ?? null;
}

/**
 * The last step that leaves something: a loop that has found no more to do, and a program that has ended, say nothing
 * of what it did.
 */
function lastTellingStep(steps: Step[]) {
  const i = steps.findLastIndex(
    ({ kind, log, set, value }) =>
      kind !== "end" && (log.length > 0 || value !== undefined || Object.values(set).some(hasFieldsBesideLine)),
  );
  return i < 0 ? null : i;
}

const hasFieldsBesideLine = (fields: object) => Object.keys(fields).some((field) => field !== "line");

/**
 * Where a statement that a fix was for now passes: as often executed as before; null where no statement stands in its
 * place. `from` is the step of the run before at which it failed, or that its reader looked at.
 */
export function stepOfFixedStatement(before: Trace, after: Trace, from: number): number | null {
  const failed = before.steps[from];
  if (!failed || !after.steps.length || after.outcome.status !== "finished") return null;
  const line = lineAfterEdit(commonLines(before.program.source, after.program.source), failed.line);
  const runsLine = (step: Step, number: number) => step.line === number && step.kind === "statement";
  const executionsBefore = before.steps.slice(0, from).filter((step) => runsLine(step, failed.line)).length;
  const executions = after.steps.flatMap((step, i) => (runsLine(step, line) ? [i] : []));
  return executions.length ? executions[Math.min(executionsBefore, executions.length - 1)] : null;
}

/** The step before a line, given by its text, first runs; null where it doesn't run. */
export function stepBeforeLine({ program, steps }: Trace, text: string): number | null {
  const line = program.source.split("\n").findIndex((other) => other.trim() === text) + 1;
  const step = line ? steps.findIndex((other) => other.line === line) : -1;
  return step > 0 ? step - 1 : null;
}
