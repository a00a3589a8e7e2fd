/** When a text that is being edited is run: a state and what happens to it, without clocks or requests of its own. */

import type { Problem } from "../requests/trace_source.ts";

/** Milliseconds without a key after which a text is run. */
export const DEBOUNCE_MS = 40;
/** Milliseconds without a key after which what is wrong with a text is told, and what looks unfinished is tried all the same. */
export const REST_MS = 1300;
/** The part of a run's time that costs the next one no delay, in milliseconds; a slow program is run less often. */
const FREE_MS = 120;
const MAX_DELAY_MS = 1500;

/** show: it replaces the picture at once; rest: once its reader has stopped typing; tell: it never does, what
 * happened is told */
export type Verdict = "show" | "rest" | "tell";

interface Schedule {
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
  answer: Verdict | null;
  /** why none came back */
  problem: Problem | null;
  /** the answer, or the problem, is told */
  isTold: boolean;
  /** milliseconds that the last answer took */
  took: number;
  /** when the server takes another one */
  notBefore: number;
}

/** replaced: another run has been asked for, or shown; retryAfter: milliseconds, null where only another text is
 * worth a try */
export type Event =
  | { type: "switched"; on: boolean }
  | { type: "edited"; isCurrent: boolean; isUnfinished: boolean }
  | { type: "replaced" }
  | { type: "ticked" }
  | { type: "answered"; id: number; verdict: Verdict }
  | { type: "failed"; id: number; problem: Problem; retryAfter: number | null };

/** show: the answer that is held, or has just come */
type Effect = "send" | "abort" | "show";

export function initialSchedule(isOn: boolean): Schedule {
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
export function advance(schedule: Schedule, event: Event, now: number): { state: Schedule; effects: Effect[] } {
  switch (event.type) {
    case "switched":
      return onSwitched(schedule, event.on, now);
    case "edited":
      return onEdited(schedule, event, now);
    case "replaced":
      return withoutAnswer({ ...schedule, isCurrent: true });
    case "ticked":
      return onTicked(schedule, now);
    case "answered":
      return event.id === schedule.asked?.id ? onAnswered(schedule, event, now) : unchanged(schedule);
    case "failed":
      return event.id === schedule.asked?.id ? onFailed(schedule, event, now) : unchanged(schedule);
  }
}

/** When something is due next; null: nothing is. */
export function nextTick({ due, restsAt }: Schedule) {
  if (due === null || restsAt === null) return due ?? restsAt;
  return Math.min(due, restsAt);
}

function unchanged(schedule: Schedule): { state: Schedule; effects: Effect[] } {
  return { state: schedule, effects: [] };
}

/** Nothing is awaited, due or held any more. */
function withoutAnswer(schedule: Schedule): { state: Schedule; effects: Effect[] } {
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

function onSwitched(schedule: Schedule, on: boolean, now: number) {
  const { state: nextSchedule, effects } = withoutAnswer({ ...schedule, isOn: on });
  if (on && !nextSchedule.isCurrent) Object.assign(nextSchedule, { due: now, restsAt: now });
  return { state: nextSchedule, effects };
}

function onEdited(schedule: Schedule, text: { isCurrent: boolean; isUnfinished: boolean }, now: number) {
  const { state: nextSchedule, effects } = withoutAnswer({ ...schedule, ...text });
  if (!nextSchedule.isOn || nextSchedule.isCurrent) return { state: nextSchedule, effects };
  const delay = Math.max(DEBOUNCE_MS, Math.min(MAX_DELAY_MS, nextSchedule.took - FREE_MS));
  nextSchedule.due = nextSchedule.isUnfinished ? null : now + delay;
  nextSchedule.restsAt = now + Math.max(REST_MS, delay);
  return { state: nextSchedule, effects };
}

function onTicked(schedule: Schedule, now: number): { state: Schedule; effects: Effect[] } {
  const nextSchedule = { ...schedule };
  if (nextSchedule.restsAt !== null && nextSchedule.restsAt <= now) {
    nextSchedule.restsAt = null;
    if (nextSchedule.answer) return releaseAnswer(nextSchedule);
    if (!nextSchedule.asked && nextSchedule.due === null && !nextSchedule.isCurrent) nextSchedule.due = now;
  }
  if (nextSchedule.due === null || nextSchedule.due > now) return unchanged(nextSchedule);
  if (nextSchedule.notBefore > now) return unchanged({ ...nextSchedule, due: nextSchedule.notBefore });
  nextSchedule.requests += 1;
  nextSchedule.asked = { id: nextSchedule.requests, at: now };
  nextSchedule.due = null;
  return { state: nextSchedule, effects: ["send"] };
}

function onAnswered(schedule: Schedule, { verdict }: { verdict: Verdict }, now: number) {
  const nextSchedule = { ...schedule, took: now - (schedule.asked?.at ?? now), asked: null, answer: verdict };
  return verdict === "show" || nextSchedule.restsAt === null ? releaseAnswer(nextSchedule) : unchanged(nextSchedule);
}

/** The answer that is held is shown or told. */
function releaseAnswer(schedule: Schedule): { state: Schedule; effects: Effect[] } {
  if (schedule.answer === "tell") return unchanged({ ...schedule, isTold: true });
  const nextSchedule = { ...schedule, due: null, restsAt: null, answer: null, isTold: false, isCurrent: true };
  return { state: nextSchedule, effects: ["show"] };
}

function onFailed(
  schedule: Schedule,
  { problem, retryAfter }: { problem: Problem; retryAfter: number | null },
  now: number,
) {
  const nextSchedule: Schedule = { ...schedule, asked: null };
  if (retryAfter !== null) return unchanged({ ...nextSchedule, notBefore: now + retryAfter, due: now + retryAfter });
  Object.assign(nextSchedule, { answer: "tell", problem });
  return nextSchedule.restsAt === null ? releaseAnswer(nextSchedule) : unchanged(nextSchedule);
}
