/**
 * Live: runs the text while it is edited, keeps the last good picture meanwhile, and says at the stage's foot how it
 * stands.
 */

import { commonLines } from "../trace/steps/step_after_edit.ts";
import { programMessages } from "../program/program_messages.ts";
import { articleOfProgram, doesTraceMatchText, isTraceUpToDate } from "../page_state/selectors.ts";
import { areSettingsEqual } from "../page_state/settings.ts";
import { hasChangedField } from "../browser/store.ts";
import { problemOfResponse, runForTrace, TraceRequestError } from "../requests/trace_source.ts";
import { resultHandling } from "./result_handling.ts";
import { firstChangedStep, entitiesChangedBetweenSteps } from "./outdated_parts.ts";
import { createLiveStatusStrip, type ReasonWithoutPicture } from "./status_strip.ts";
import { advanceSchedule, initialLiveSchedule, timeOfNextTick, type ScheduleEvent } from "./schedule.ts";
import type { Action } from "../page_state/actions.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

/**
 * Milliseconds for which a picture may be older than the text before it is marked as that: an answer is mostly quicker.
 */
const MARK_OLDER_AFTER_MS = 450;

interface LiveStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

interface LivePicture {
  editor: { unfinishedLine: () => number | null; markUnfinished: (line: number | null, words: string) => void };
  /** marks what is drawn of these as older than the text, nothing where there are none */
  markOutdated: (older: { uids: Set<string>; names: Set<string> } | null) => void;
}

/** The strip stands in the stage's foot. */
export function createLiveRunner(
  foot: HTMLElement,
  store: LiveStore,
  say: Locale["say"],
  { editor, markOutdated }: LivePicture,
) {
  let schedule = initialLiveSchedule(store.state().isLive);
  const strip = createLiveStatusStrip(foot, say);
  /** the answer that is held */
  let heldAnswer: { trace: Trace; source: string; settings: PageState["settings"] } | null = null;
  let liveRequest = new AbortController();
  let tickTimer = 0;
  let markTimer = 0;
  /** The picture is marked as older than the text. */
  let isMarked = false;

  function handleEvent(event: ScheduleEvent) {
    const { state, effects } = advanceSchedule(schedule, event, performance.now());
    schedule = state;
    if (effects.includes("abort")) liveRequest.abort();
    if (effects.includes("send")) void sendText(schedule.asked?.id ?? 0);
    if (effects.includes("show") && heldAnswer) store.dispatch({ type: "liveAnswered", ...heldAnswer });
    clearTimeout(tickTimer);
    const nextTickAt = timeOfNextTick(schedule);
    if (nextTickAt !== null)
      tickTimer = window.setTimeout(() => handleEvent({ type: "ticked" }), Math.max(0, nextTickAt - performance.now()));
    showStrip();
  }

  async function sendText(id: number) {
    const { text: source, settings } = store.state();
    const article = articleOfProgram(store.state(), source);
    liveRequest = new AbortController();
    const { signal } = liveRequest;
    const requestOf = (text: string) => runForTrace({ source: text, ...settings }, signal, { live: true });
    try {
      let trace = await requestOf(article ?? source);
      if (article !== null && trace.program.source !== source) trace = await requestOf(source);
      heldAnswer = { trace, source, settings };
      handleEvent({
        type: "answered",
        id,
        verdict: resultHandling(trace, source, store.state().opened?.trace ?? null),
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TraceRequestError)) throw error;
      const retryAfter = error.status === 429 ? Math.max(1, error.problem.retry_after ?? 1) * 1000 : null;
      handleEvent({
        type: "failed",
        id,
        problem: problemOfResponse(error.status, error.problem),
        retryAfter,
      });
    }
  }

  /** Mark what the picture has of the text before, once that has lasted. */
  function markOlderSoon(older: boolean) {
    if (!older) {
      clearTimeout(markTimer);
      markTimer = 0;
      if (isMarked) markOutdated(null);
      isMarked = false;
      editor.markUnfinished(null, "");
    } else if (isMarked) showMarks();
    else if (!markTimer) {
      markTimer = window.setTimeout(() => {
        isMarked = true;
        showMarks();
        showStrip();
      }, MARK_OLDER_AFTER_MS);
    }
  }

  function showMarks() {
    const state = store.state();
    const { opened, step } = state;
    if (!opened?.count || isTraceUpToDate(state)) return;
    const firstOlderStep = doesTraceMatchText(state) ? 0 : firstChangedStep(opened.trace, state.text).step;
    markOutdated(entitiesChangedBetweenSteps(opened, firstOlderStep, step));
    const line = schedule.isUnfinished || schedule.answer === "rest" ? lineBeingWritten(state) : null;
    editor.markUnfinished(line, say("live_unfinished"));
  }

  /** The line that is being written. */
  function lineBeingWritten({ opened, text }: PageState) {
    const error = heldAnswer?.source === text ? heldAnswer.trace.outcome.error : null;
    const { head } = commonLines(opened?.trace.program.source ?? "", text);
    return editor.unfinishedLine() ?? error?.line ?? head + 1;
  }

  function showStrip() {
    const state = store.state();
    if (!state.isLive || isTraceUpToDate(state) || state.pending || !isMarked) return strip.hide();
    if (schedule.isTold) return strip.showReason(reasonWithoutPicture(state.text));
    if (schedule.notBefore > performance.now())
      return strip.showReason({ text: say("live_waits"), line: null, kind: "later" });
    const line =
      state.opened && !doesTraceMatchText(state) ? firstChangedStep(state.opened.trace, state.text).line : null;
    if (schedule.asked && schedule.restsAt === null) return strip.running(line);
    const isUnfinished = schedule.isUnfinished || schedule.answer !== null;
    strip.typing(line, isUnfinished);
  }

  /** Why the text has no picture. */
  function reasonWithoutPicture(text: string): ReasonWithoutPicture {
    const { problem } = schedule;
    if (problem) return { text: say(problem.key, problem.args), line: null, kind: "failed" };
    if (heldAnswer?.source !== text) return { text: "", line: null, kind: "failed" };
    const { status, stopped } = heldAnswer.trace.outcome;
    if (status === "stopped" && stopped) {
      const what = say(`live_limit_${stopped.limit}`, { value: stopped.value });
      return { text: say("live_stopped", { what }), line: stopped.line ?? null, kind: "stopped" };
    }
    if (status !== "refused") return { text: say("live_lost"), line: null, kind: "stopped" };
    const firstError = programMessages(heldAnswer.trace, say, () => {}).find(({ kind }) => kind === "error");
    return {
      text: say("live_refused", { message: firstError?.text ?? say("refused") }),
      line: firstError?.line ?? null,
      kind: "refused",
    };
  }

  function render(state: PageState, before: PageState) {
    if (hasChangedField(state, before, "isLive")) handleEvent({ type: "switched", on: state.isLive });
    const isOpened = hasChangedField(state, before, "opened");
    if (isOpened || hasChangedField(state, before, "pending")) handleEvent({ type: "replaced" });
    const isEdited = isOpened
      ? !doesTraceMatchText(state)
      : hasChangedField(state, before, "text", "settings") || isLeftOver(state, before);
    if (isEdited && !state.text.trim()) {
      handleEvent({ type: "replaced" }); // an emptied editor waits for a program, and so does the picture
    } else if (isEdited && !state.pending && !isAsNeverRun(state)) {
      const isUnfinished = editor.unfinishedLine() !== null;
      handleEvent({ type: "edited", isCurrent: isTraceUpToDate(state), isUnfinished });
    }
    if (hasChangedField(state, before, "text", "settings", "opened", "step", "isLive"))
      markOlderSoon(state.isLive && !isTraceUpToDate(state));
    showStrip();
  }

  /** A run that was asked for brought nothing, and the text was edited meanwhile. */
  function isLeftOver({ pending, text, settings }: PageState, { pending: requestBefore }: PageState) {
    return (
      requestBefore !== null &&
      !pending &&
      (requestBefore.text !== text || !areSettingsEqual(requestBefore.settings, settings))
    );
  }

  /** A program that came with a link is first run by a key or a button. */
  function isAsNeverRun({ waiting, opened }: PageState) {
    return waiting || opened === null;
  }

  store.subscribe(render);
  if (!store.state().pending && !isAsNeverRun(store.state()) && store.state().text.trim()) {
    handleEvent({ type: "edited", isCurrent: isTraceUpToDate(store.state()), isUnfinished: false });
    markOlderSoon(store.state().isLive && !isTraceUpToDate(store.state()));
  }
}
