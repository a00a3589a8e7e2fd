/** When a text that is being edited is run: a state and what happens to it, without clocks or requests of its own. */

import type { RequestProblem } from "../requests/trace_source.ts";

/** Milliseconds without a key after which a text is run. */
export const DEBOUNCE_MS = 40;
/**
 * Milliseconds without a key after which what is wrong with a text is told, and what looks unfinished is tried all the
 * same.
 */
export const READER_RESTS_AFTER_MS = 1300;
/** The part of a run's time that costs the next one no delay, in milliseconds; a slow program is run less often. */
const RUN_TIME_WITHOUT_DELAY_MS = 120;
const MAX_RUN_DELAY_MS = 1500;

/** show: it replaces the picture at once; rest: once its reader has stopped typing; tell: it never does, what
 * happened is told */
export type ResultHandling = "show" | "rest" | "tell";

interface LiveSchedule {
  isOn: boolean;
  /** the picture is of the text */
  isCurrent: boolean;
  /** the text looks like one that is being written */
  isUnfinished: boolean;
  /** when the text is to be sent */
  due: number | null;
  /** when its reader counts as resting; null: he does */
  restsAt: number | null;
  /** the request whose answer is awaited */
  asked: { id: number; at: number } | null;
  /** how many there were */
  requests: number;
  /** what became of the one that came back, until it is shown */
  answer: ResultHandling | null;
  /** why none came back */
  problem: RequestProblem | null;
  /** the answer, or the problem, is told */
  isTold: boolean;
  /** milliseconds that the last answer took */
  took: number;
  /** when the server takes another one */
  notBefore: number;
}

/** replaced: another run has been asked for, or shown; retryAfter: milliseconds, null where only another text is
 * worth a try */
export type ScheduleEvent =
  | { type: "switched"; on: boolean }
  | { type: "edited"; isCurrent: boolean; isUnfinished: boolean }
  | { type: "replaced" }
  | { type: "ticked" }
  | { type: "answered"; id: number; verdict: ResultHandling }
  | { type: "failed"; id: number; problem: RequestProblem; retryAfter: number | null };

/** show: the answer that is held, or has just come */
type ScheduleEffect = "send" | "abort" | "show";

export function initialLiveSchedule(isOn: boolean): LiveSchedule {
  return {
    isOn,
    isCurrent: true,
    isUnfinished: false,
    due: null,
    restsAt: null,
    asked: null,
    requests: 0,
    answer: null,
    problem: null,
    isTold: false,
    took: 0,
    notBefore: 0,
  };
}

/** What happens, and what is to be done about it. */
export function advanceSchedule(
  schedule: LiveSchedule,
  event: ScheduleEvent,
  now: number,
): { state: LiveSchedule; effects: ScheduleEffect[] } {
  switch (event.type) {
    case "switched":
      return scheduleAfterSwitch(schedule, event.on, now);
    case "edited":
      return scheduleAfterEdit(schedule, event, now);
    case "replaced":
      return withNothingPending({ ...schedule, isCurrent: true });
    case "ticked":
      return scheduleAfterTick(schedule, now);
    case "answered":
      return event.id === schedule.asked?.id
        ? scheduleAfterAnswer(schedule, event, now)
        : scheduleWithoutEffects(schedule);
    case "failed":
      return event.id === schedule.asked?.id
        ? scheduleAfterFailure(schedule, event, now)
        : scheduleWithoutEffects(schedule);
  }
}

/** When something is due next; null: nothing is. */
export function timeOfNextTick({ due, restsAt }: LiveSchedule) {
  if (due === null || restsAt === null) return due ?? restsAt;
  return Math.min(due, restsAt);
}

function scheduleWithoutEffects(schedule: LiveSchedule): { state: LiveSchedule; effects: ScheduleEffect[] } {
  return { state: schedule, effects: [] };
}

/** Nothing is awaited, due or held any more. */
function withNothingPending(schedule: LiveSchedule): { state: LiveSchedule; effects: ScheduleEffect[] } {
  const nextSchedule = {
    ...schedule,
    due: null,
    restsAt: null,
    asked: null,
    answer: null,
    problem: null,
    isTold: false,
  };
  return { state: nextSchedule, effects: schedule.asked ? ["abort"] : [] };
}

function scheduleAfterSwitch(schedule: LiveSchedule, on: boolean, now: number) {
  const { state: nextSchedule, effects } = withNothingPending({ ...schedule, isOn: on });
  if (on && !nextSchedule.isCurrent) Object.assign(nextSchedule, { due: now, restsAt: now });
  return { state: nextSchedule, effects };
}

function scheduleAfterEdit(schedule: LiveSchedule, text: { isCurrent: boolean; isUnfinished: boolean }, now: number) {
  const { state: nextSchedule, effects } = withNothingPending({ ...schedule, ...text });
  if (!nextSchedule.isOn || nextSchedule.isCurrent) return { state: nextSchedule, effects };
  const delay = Math.max(DEBOUNCE_MS, Math.min(MAX_RUN_DELAY_MS, nextSchedule.took - RUN_TIME_WITHOUT_DELAY_MS));
  nextSchedule.due = nextSchedule.isUnfinished ? null : now + delay;
  nextSchedule.restsAt = now + Math.max(READER_RESTS_AFTER_MS, delay);
  return { state: nextSchedule, effects };
}

function scheduleAfterTick(schedule: LiveSchedule, now: number): { state: LiveSchedule; effects: ScheduleEffect[] } {
  const nextSchedule = { ...schedule };
  if (nextSchedule.restsAt !== null && nextSchedule.restsAt <= now) {
    nextSchedule.restsAt = null;
    if (nextSchedule.answer) return showOrTellHeldAnswer(nextSchedule);
    if (!nextSchedule.asked && nextSchedule.due === null && !nextSchedule.isCurrent) nextSchedule.due = now;
  }
  if (nextSchedule.due === null || nextSchedule.due > now) return scheduleWithoutEffects(nextSchedule);
  if (nextSchedule.notBefore > now) return scheduleWithoutEffects({ ...nextSchedule, due: nextSchedule.notBefore });
  nextSchedule.requests += 1;
  nextSchedule.asked = { id: nextSchedule.requests, at: now };
  nextSchedule.due = null;
  return { state: nextSchedule, effects: ["send"] };
}

function scheduleAfterAnswer(schedule: LiveSchedule, { verdict }: { verdict: ResultHandling }, now: number) {
  const nextSchedule = { ...schedule, took: now - (schedule.asked?.at ?? now), asked: null, answer: verdict };
  return verdict === "show" || nextSchedule.restsAt === null
    ? showOrTellHeldAnswer(nextSchedule)
    : scheduleWithoutEffects(nextSchedule);
}

/** The answer that is held is shown or told. */
function showOrTellHeldAnswer(schedule: LiveSchedule): { state: LiveSchedule; effects: ScheduleEffect[] } {
  if (schedule.answer === "tell") return scheduleWithoutEffects({ ...schedule, isTold: true });
  const nextSchedule = { ...schedule, due: null, restsAt: null, answer: null, isTold: false, isCurrent: true };
  return { state: nextSchedule, effects: ["show"] };
}

function scheduleAfterFailure(
  schedule: LiveSchedule,
  { problem, retryAfter }: { problem: RequestProblem; retryAfter: number | null },
  now: number,
) {
  const nextSchedule: LiveSchedule = { ...schedule, asked: null };
  if (retryAfter !== null)
    return scheduleWithoutEffects({ ...nextSchedule, notBefore: now + retryAfter, due: now + retryAfter });
  Object.assign(nextSchedule, { answer: "tell", problem });
  return nextSchedule.restsAt === null ? showOrTellHeldAnswer(nextSchedule) : scheduleWithoutEffects(nextSchedule);
}
