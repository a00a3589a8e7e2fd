/** When a text that is being edited is run: a state and what happens to it, without clocks or requests of its own. */

/** Milliseconds without a key after which a text is run. */
export const DEBOUNCE_MS = 40;
/** Milliseconds without a key after which what is wrong with a text is told, and what looks unfinished is tried all the same. */
export const REST_MS = 1300;
/** The part of a run's time that costs the next one no delay, in milliseconds; a slow program is run less often. */
const FREE_MS = 120;
const MAX_DELAY_MS = 1500;

/**
 * @typedef {import("../page_state/page_state.js").Problem} Problem   a sentence's key and facts
 * @typedef {"show" | "rest" | "tell"} Verdict
 *   show: it replaces the picture at once; rest: once its reader has stopped typing; tell: it never does, what happened is told
 * @typedef {object} Schedule
 * @property {boolean} isOn
 * @property {boolean} isCurrent the picture is of the text
 * @property {boolean} isUnfinished the text looks like one that is being written
 * @property {number | null} due when the text is to be sent
 * @property {number | null} restsAt when its reader counts as resting; null: he does
 * @property {{id: number, at: number} | null} asked the request whose answer is awaited
 * @property {number} requests how many there were
 * @property {Verdict | null} answer what became of the one that came back, until it is shown
 * @property {Problem | null} problem why none came back
 * @property {boolean} isTold the answer, or the problem, is told
 * @property {number} took milliseconds that the last answer took
 * @property {number} notBefore when the server takes another one
 *
 * @typedef {{type: "switched", on: boolean}
 *   | {type: "edited", isCurrent: boolean, isUnfinished: boolean}
 *   | {type: "replaced"}
 *   | {type: "ticked"}
 *   | {type: "answered", id: number, verdict: Verdict}
 *   | {type: "failed", id: number, problem: Problem, retryAfter: number | null}} Event
 *   replaced: another run has been asked for, or shown; retryAfter: milliseconds, null where only another text is worth a try
 * @typedef {"send" | "abort" | "show"} Effect   show: the answer that is held, or has just come
 */

/** @param {boolean} isOn @returns {Schedule} */
export function initialSchedule(isOn) {
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

/** What happens, and what is to be done about it. @param {Schedule} schedule @param {Event} event @param {number} now
 * @returns {{state: Schedule, effects: Effect[]}} */
export function advance(schedule, event, now) {
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

/** When something is due next; null: nothing is. @param {Schedule} state */
export function nextTick({ due, restsAt }) {
  if (due === null || restsAt === null) return due ?? restsAt;
  return Math.min(due, restsAt);
}

/** @param {Schedule} schedule @returns {{state: Schedule, effects: Effect[]}} */
function unchanged(schedule) {
  return { state: schedule, effects: [] };
}

/** Nothing is awaited, due or held any more. @param {Schedule} schedule @returns {{state: Schedule, effects: Effect[]}} */
function withoutAnswer(schedule) {
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

/** @param {Schedule} schedule @param {boolean} on @param {number} now */
function onSwitched(schedule, on, now) {
  const { state: nextSchedule, effects } = withoutAnswer({ ...schedule, isOn: on });
  if (on && !nextSchedule.isCurrent) Object.assign(nextSchedule, { due: now, restsAt: now });
  return { state: nextSchedule, effects };
}

/** @param {Schedule} schedule @param {{isCurrent: boolean, isUnfinished: boolean}} text @param {number} now */
function onEdited(schedule, text, now) {
  const { state: nextSchedule, effects } = withoutAnswer({ ...schedule, ...text });
  if (!nextSchedule.isOn || nextSchedule.isCurrent) return { state: nextSchedule, effects };
  const delay = Math.max(DEBOUNCE_MS, Math.min(MAX_DELAY_MS, nextSchedule.took - FREE_MS));
  nextSchedule.due = nextSchedule.isUnfinished ? null : now + delay;
  nextSchedule.restsAt = now + Math.max(REST_MS, delay);
  return { state: nextSchedule, effects };
}

/** @param {Schedule} schedule @param {number} now @returns {{state: Schedule, effects: Effect[]}} */
function onTicked(schedule, now) {
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

/** @param {Schedule} schedule @param {{verdict: Verdict}} answer @param {number} now */
function onAnswered(schedule, { verdict }, now) {
  const nextSchedule = { ...schedule, took: now - (schedule.asked?.at ?? now), asked: null, answer: verdict };
  return verdict === "show" || nextSchedule.restsAt === null ? releaseAnswer(nextSchedule) : unchanged(nextSchedule);
}

/** The answer that is held is shown or told. @param {Schedule} schedule @returns {{state: Schedule, effects: Effect[]}} */
function releaseAnswer(schedule) {
  if (schedule.answer === "tell") return unchanged({ ...schedule, isTold: true });
  const nextSchedule = { ...schedule, due: null, restsAt: null, answer: null, isTold: false, isCurrent: true };
  return { state: nextSchedule, effects: ["show"] };
}

/** @param {Schedule} schedule @param {{problem: Problem, retryAfter: number | null}} failure @param {number} now */
function onFailed(schedule, { problem, retryAfter }, now) {
  /** @type {Schedule} */
  const nextSchedule = { ...schedule, asked: null };
  if (retryAfter !== null) return unchanged({ ...nextSchedule, notBefore: now + retryAfter, due: now + retryAfter });
  Object.assign(nextSchedule, { answer: "tell", problem });
  return nextSchedule.restsAt === null ? releaseAnswer(nextSchedule) : unchanged(nextSchedule);
}
