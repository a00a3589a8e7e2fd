/**
 * The page's state as plain data, and the reducer through which alone it changes. Nothing here touches the document.
 */

import { focusOfRound, stepOfRound } from "../trace/steps/training_rounds.ts";
import { nextStepAtLine } from "../captions/captions.ts";
import { firstStepAtLine, stepAfterEdit } from "../trace/steps/step_after_edit.ts";
import {
  articleOfProgram,
  doesTraceMatchText,
  isSavedProgram,
  isWholeRunList,
  programTextForAddress,
  shownFocus,
  skippedIterationsBeforeStep,
} from "./selectors.ts";
import { textAfterFix, editedTextAfterFix, textAfterRepair } from "../program/repair.ts";
import { wasTraceMadeWith, normalizeSettings, areSettingsEqual, type Settings } from "./settings.ts";
import { stepOfPinClick } from "../trace/saved_slots.ts";
import {
  isLandingOnWholeRun,
  landingStep,
  openingStep,
  stepBeforeLine,
  stepOfFixedStatement,
} from "../trace/steps/landing.ts";
import * as skippedIterations from "../trace/steps/skipped_iterations.ts";
import * as predictMode from "./predict_mode.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import { openTrace } from "../trace/state.ts";
import { stepOfCellClick } from "../trace/cell_writers.ts";
import type { Focus, Trace } from "../trace/wire.ts";
import type { Action } from "./actions.ts";
import type { Address } from "./url.ts";
import type { ServedPage, TraceRequest, PageState } from "./state.ts";

/** Nothing is shown yet: `pageOpened` comes next. */
export function initialState(page: ServedPage): PageState {
  const source = withUnixLineEnds(page.source);
  return {
    page: { ...page, source },
    text: source,
    settings: normalizeSettings({}, page.devices),
    opened: null,
    step: 0,
    view: "step",
    isViewChosen: false,
    isViewFromAddress: false,
    question: null,
    selection: null,
    pending: null,
    growing: null,
    ahead: null,
    requests: 0,
    requestedStep: null,
    waiting: false,
    linkedFocus: null,
    revealed: null,
    problem: null,
    landing: null,
    onCpu: null,
    keptForCuda: null,
    isLive: page.isLive ?? false,
    predict: null,
    cardLine: null,
  };
}

/** Returns the same object where nothing changes. */
export function reduce(state: PageState, action: Action): PageState {
  const transition = TRANSITION_BY_ACTION[action.type] as (state: PageState, action: Action) => PageState;
  return transition(state, action);
}

const TRANSITION_BY_ACTION: {
  [T in Action["type"]]: (state: PageState, action: Extract<Action, { type: T }>) => PageState;
} = {
  pageOpened: (state, { address }) => openPageWithAddress(state, address),
  linkOpened: (state, { address }) => followLink(state, address),
  programEdited: (state, { text }) => ({
    ...state,
    text,
    cardLine: null,
    isViewChosen: state.isViewChosen && !(state.isViewFromAddress && text !== state.text),
  }),
  settingsChanged: (state, { settings }) => ({ ...state, settings }),
  liveSwitched: (state, { on }) => (on === state.isLive ? state : { ...state, isLive: on }),
  liveAnswered(state, { source, settings, trace }) {
    if (state.pending || state.text !== source || !areSettingsEqual(state.settings, settings)) return state;
    const step =
      firstStepAtLine(trace, state.cardLine) ?? stepAfterEdit(state.opened?.trace ?? null, trace, state.step);
    return { ...showTrace(state, trace, step), text: trace.program.source, problem: null };
  },
  pageProgramChosen(state, { stopsBefore }) {
    const { page } = state;
    const shown = { ...state, page: { ...page, stopsBefore }, settings: normalizeSettings({}, page.devices) };
    return showPageTrace(
      { ...withoutPendingRequest(shown), text: page.source, view: "step", waiting: false, problem: null },
      null,
    );
  },
  findingMade(state, { trace, step }) {
    if (state.opened?.trace !== trace || state.predict || state.landing === null) return state;
    return state.step === state.landing ? { ...goToStep(state, step), view: "step", landing: null } : state;
  },
  // what was pasted is run again as it was pasted: it holds the article's outputs
  runRequested: (state) => requestEditedRun(state, "run", state.text),
  repairRequested: (state, { repair, shape }) =>
    state.opened
      ? requestRun(state, "repair", { source: textAfterRepair(state.opened.trace.program, repair, shape) })
      : state,
  fixApplied(state, { edits }) {
    if (!state.opened) return state;
    const source = editedTextAfterFix(state.opened.trace.program, state.text, edits);
    return source === null ? { ...state, problem: { key: "fix_edited" } } : requestEditedRun(state, "repair", source);
  },
  siblingChosen: (state, { edits, line }) =>
    state.opened ? requestEditedRun(state, "sibling", textAfterFix(state.opened.trace.program, edits), line) : state,
  cardChanged: (state, { line }) =>
    state.isLive && state.opened && !state.pending
      ? { ...state, cardLine: line }
      : requestEditedRun(state, "card", state.text, line),
  iterationRequested(state, { index }) {
    const gap = skippedIterationsBeforeStep(state);
    if (!gap || state.predict) return state;
    return requestRun(state, "iteration", {
      source: programTextForAddress(state),
      focus: skippedIterations.iterationFocus(gap, index),
    });
  },
  roundRequested(state, { n }) {
    const focus = state.opened && focusOfRound(state.opened.trace, n);
    if (!focus || state.predict) return state;
    if (!doesTraceMatchText(state)) return { ...state, problem: { key: "round_edited" } };
    return requestRun(state, "round", { source: programTextForAddress(state), focus, at: n });
  },
  elementsRequested(state, { storage, at }) {
    if (!doesTraceMatchText(state) || state.predict) return state;
    const focus = skippedIterations.focusAroundElement(storage, at, state.step);
    return requestRun(state, "elements", { source: programTextForAddress(state), focus, at });
  },
  runQueued: (state, { id, ahead }) => (state.pending?.id === id ? { ...state, ahead } : state),
  runStarted: (state, { id }) => (state.pending?.id === id ? { ...state, ahead: null } : state),
  stepsArrived: (state, { id, trace }) =>
    state.pending?.id === id && GROWING_REASONS.has(state.pending.reason) && !state.predict && trace.steps.length
      ? showStepsSoFar(state, state.pending, trace)
      : state,
  traceArrived(state, { id, trace }) {
    if (state.pending?.id !== id) return state;
    const before = stateBeforeGrowth(state);
    const next =
      runWithoutArticle(before, state.pending, trace) ??
      runOnCpuInstead(before, state.pending, trace) ??
      showRequestedTrace(before, state.pending, trace);
    const isStepChosen = state.growing !== null && !isAtEndOfGrowth(state);
    return isStepChosen && next.opened?.trace === trace
      ? { ...goToStep(next, state.step), view: "step", landing: null }
      : next;
  },
  cpuRunUndone(state) {
    if (!state.onCpu) return state;
    const { before } = state.onCpu;
    const { source, pasted } = before.program;
    return { ...showTrace(state, before, null), text: source, onCpu: null, keptForCuda: pasted ?? source };
  },
  traceMissing: (state, { id }) =>
    state.pending?.id === id ? restoreDraftWithoutResult(withoutPendingRequest(state)) : state,
  runFailed: (state, { id, problem }) =>
    state.pending?.id === id ? { ...withoutPendingRequest(state), problem } : state,
  runCancelled: (state, { id }) => (state.pending?.id === id ? withoutPendingRequest(state) : state),
  stepChosen: (state, { step }) => goToStep(state, step),
  lineChosen(state, { line }) {
    if (!state.opened || !doesTraceMatchText(state)) return state;
    return goToStep(state, nextStepAtLine(state.opened.trace.steps, line, state.step));
  },
  cellChosen(state, { storage, index, dtype }) {
    return state.opened ? goToStep(state, stepOfCellClick(state.opened, storage, index, dtype, state.step)) : state;
  },
  pinChosen(state, { node, slot }) {
    return state.opened ? goToStep(state, stepOfPinClick(state.opened.index, node, slot, state.step)) : state;
  },
  selectionChanged: (state, { key }) => (key === state.selection ? state : { ...state, selection: key }),
  questionAsked: (state, { uid }) =>
    state.opened?.count && !predictMode.areStepsHidden(state.predict)
      ? { ...state, question: { uid, step: state.step } }
      : state,
  questionClosed: (state) => (state.question ? { ...state, question: null } : state),
  predictSwitched: (state, { on }) => predictMode.switchPredictMode(stateBeforeGrowth(state), on, null),
  questionsMade: (state, { whole, questions, kept }) => predictMode.withQuestions(state, whole, questions, kept),
  predictionMade: (state, { given }) => predictMode.withReaderAnswer(state, given),
  predictContinued: (state) => predictMode.skipToNextQuestion(state),
  predictRestarted: (state) => predictMode.restartPrediction(state),
  viewChosen: (state, { view }) =>
    (view === state.view && state.isViewChosen) || state.growing // there is no whole run yet
      ? state
      : { ...state, view, isViewChosen: true, isViewFromAddress: false, landing: null },
  pictureUsed: (state) => (state.landing === null ? state : { ...state, landing: null }),
  problemFound: (state, { problem }) => ({ ...state, problem }),
};

/** As CodeMirror has them. */
function withUnixLineEnds(text: string) {
  return text.replace(/\r\n?/g, "\n");
}

/** Another step of the trace; -1, for "none", changes nothing. */
function goToStep(state: PageState, step: number): PageState {
  if (!state.opened?.count || step === -1) return state;
  if (state.predict && step >= state.opened.count) return predictMode.revealNextStepOrAsk(state);
  const clamped = Math.max(0, Math.min(step, state.opened.count - 1));
  if (clamped === state.step && state.landing === null && !isWholeRunList(state)) return state;
  // of a picture that is the same at all steps, a step leads to its own
  return { ...state, step: clamped, landing: null, view: isWholeRunList(state) ? "step" : state.view };
}

/** Nothing is asked for any more. */
function withoutPendingRequest(state: PageState): PageState {
  return { ...stateBeforeGrowth(state), pending: null, ahead: null };
}

/** Why a run is asked for whose steps are shown as they arrive: it is looked at from its beginning. */
const GROWING_REASONS = new Set<TraceRequest["reason"]>(["run", "repair", "sibling", "card"]);

/** The reader stands at the last step that has arrived, and goes on with the run. */
function isAtEndOfGrowth({ opened, step }: PageState) {
  return step === (opened?.count ?? 0) - 1;
}

/** The steps of a run that goes on: the last one, unless the reader looks at an earlier one. */
function showStepsSoFar(state: PageState, request: TraceRequest, trace: Trace): PageState {
  const opened = openTrace(trace);
  const isUnedited = state.text === request.text;
  const text = isUnedited ? trace.program.source : state.text;
  return {
    ...state,
    text,
    pending: isUnedited ? { ...request, text } : request,
    growing: state.growing ?? { before: state.opened, step: state.step, waiting: state.waiting },
    opened,
    step: state.growing && !isAtEndOfGrowth(state) ? state.step : opened.count - 1,
    view: "step",
    landing: null,
    question: null,
    selection: state.growing ? state.selection : null,
    waiting: false,
    revealed: null,
  };
}

/** What was shown before the steps of a run that goes on. */
function stateBeforeGrowth(state: PageState): PageState {
  const { growing } = state;
  if (!growing) return state;
  const { before, step, waiting } = growing;
  return { ...state, growing: null, opened: before, step, waiting };
}

interface RunRequest {
  source: string;
  /** as in TraceRequest */
  program?: string | null;
  /** left out, it is that of the link */
  focus?: Focus | null;
  at?: number;
}

/** Ask for a trace, in place of one that was asked for before. */
function requestRun(
  state: PageState,
  reason: TraceRequest["reason"],
  { source, program = null, focus = focusOfLinkedProgram(state, source), at = 0 }: RunRequest,
): PageState {
  const { text, settings } = state;
  const id = state.requests + 1;
  const pending = { id, reason, text, source, program, settings, focus, at };
  return {
    ...stateBeforeGrowth(state),
    pending,
    requests: id,
    ahead: null,
    problem: reason === "page" ? state.problem : null,
  };
}

/** Ask for the run of an edited program, within the article that it was pasted with where that can be edited. */
function requestEditedRun(state: PageState, reason: TraceRequest["reason"], source: string, at = 0): PageState {
  const article = articleOfProgram(state, source);
  return requestRun(state, reason, article ? { source: article, program: source, at } : { source, at });
}

/** Where an article did not have the program that its reader edited, that is run by itself; null: it had. */
function runWithoutArticle(state: PageState, request: TraceRequest, trace: Trace): PageState | null {
  const { program } = request;
  if (program === null || trace.program.source === program) return null;
  const id = state.requests + 1;
  return { ...state, pending: { ...request, id, source: program, program: null }, requests: id, ahead: null };
}

/** What a link's program is to show besides, where that program is the one that is run. */
function focusOfLinkedProgram(state: PageState, source: string) {
  const { linkedFocus, text } = state;
  return linkedFocus && [source, text, programTextForAddress(state)].includes(linkedFocus.source)
    ? linkedFocus.focus
    : null;
}

/**
 * Shows a trace at a step, null: the opening one. `isLanding`: it is a run of the reader's, who goes on to what is
 * found
 * in it.
 */
function showTrace(state: PageState, trace: Trace, step: number | null, isLanding = false): PageState {
  const opened = openTrace(trace);
  const last = Math.max(0, opened.count - 1);
  const shownStep = Math.max(0, Math.min(step ?? (isLanding ? landingStep(opened) : openingStep(opened)), last));
  const staysInView = state.isViewChosen && !(isLanding && state.opened && trace.outcome.error);
  const opensWholeRun =
    step === null && !state.predict && isLandingOnWholeRun(trace) && (isLanding || pictureOfRun(opened) === "list");
  const leadsOn = isLanding || (opensWholeRun && !staysInView);
  const shownState = {
    ...withoutPendingRequest(state),
    opened,
    view: staysInView ? state.view : opensWholeRun ? ("run" as const) : ("step" as const),
    isViewChosen: staysInView,
    step: shownStep,
    landing: leadsOn ? shownStep : null,
    requestedStep: null,
    question: null,
    waiting: false,
    revealed: null,
    cardLine: null,
    problem: trace.focus?.repeatable === false ? { key: "not_repeatable" } : state.problem,
  };
  return predictMode.hideFutureSteps(shownState, opened, step);
}

/**
 * Where a program ended because there is no GPU, it is run on the CPU at once; null: it did not, or its reader has said
 * that he wants it as it is.
 */
function runOnCpuInstead(state: PageState, request: TraceRequest, trace: Trace): PageState | null {
  const repair = trace.outcome.error?.repairs?.find(({ key }) => key === "cuda");
  const { reason, text, source } = request;
  const isAsked = reason === "run" && state.text === text && !state.predict && state.page.devices.length < 2;
  if (!repair || !isAsked || [state.keptForCuda, state.onCpu?.source].includes(source)) return null;
  const onCpu = { before: trace, repair, source: textAfterRepair(trace.program, repair), trace: null };
  return requestRun({ ...state, onCpu }, "run", { source: onCpu.source });
}

/** The trace that was asked for. */
function showRequestedTrace(state: PageState, request: TraceRequest, trace: Trace): PageState {
  const { reason, focus, text } = request;
  const isUnedited = state.text === text;
  if (reason === "lookup" && !isUnedited) return withoutPendingRequest(state);
  if (reason === "page") state = { ...state, page: { ...state.page, trace } };
  const before = state.opened;
  const iteration = reason === "iteration" ? skippedIterations.firstStepOfIteration(trace, focus ?? {}) : null;
  if (before && hasEndedBeforeFocus(trace, request, iteration))
    return { ...withoutPendingRequest(state), problem: problemOfEnd(trace) };
  if (before?.count && isWithoutResult(trace))
    return { ...withoutPendingRequest(state), problem: trace.outcome.status === "lost" ? { key: "lost_kept" } : null };
  const requested = stepToOpenAnswerAt(state, request, trace, iteration);
  const isLanding = reason === "run" && requested === null && !state.predict;
  const next = showTrace(state, trace, requested, isLanding);
  if (isUnedited) next.text = trace.program.source;
  if (state.onCpu) next.onCpu = state.onCpu.source === request.source ? { ...state.onCpu, trace } : null;
  if (reason === "elements") next.revealed = { storage: focus?.storage ?? "", at: request.at };
  if (reason === "round" && stepOfRound(trace, request.at) === null)
    next.problem = { key: "round_unreached", args: { n: request.at } };
  else if (iteration === -1) next.problem = { key: "unseen_none", args: { turn: focus?.iteration?.at(-1) } };
  else if (
    before &&
    (reason === "iteration" || reason === "round" || reason === "elements") &&
    !skippedIterations.haveSameOutput(before.trace, trace)
  )
    next.problem = { key: "not_repeatable" };
  return next;
}

/**
 * Whether a limit, or what stopped it from outside, ended a run before it came to what it was to show besides: what is
 * shown already stays. `iteration` as in `stepToOpenAnswerAt`.
 */
function hasEndedBeforeFocus(trace: Trace, { reason, at, focus }: TraceRequest, iteration: number | null) {
  if (["finished", "raised", "refused"].includes(trace.outcome.status)) return false;
  if (reason === "round") return stepOfRound(trace, at) === null;
  return reason === "elements" ? trace.steps.length <= (focus?.step ?? 0) : iteration === -1;
}

/** Whether a run says nothing of its program: its workers failed, or it was stopped before its first step. */
const isWithoutResult = ({ outcome: { status }, steps }: Trace) =>
  status === "lost" || (status === "cancelled" && !steps.length);

function problemOfEnd({ outcome: { stopped } }: Trace): PageState["problem"] {
  // only this limit is in seconds of the reader's own clock
  if (stopped?.limit !== "wall") return { key: "focus_ended" };
  const { value, waited } = stopped;
  if (typeof waited !== "number") return { key: "focus_stopped", args: { value } };
  return { key: "focus_stopped_busy", args: { value, waited } };
}

/**
 * Where the answer to a request is opened; null: the opening step. `iteration` is the first step of the iteration that
 * was asked for, or -1.
 */
function stepToOpenAnswerAt(state: PageState, { reason, at }: TraceRequest, trace: Trace, iteration: number | null) {
  if (state.predict) return state.requestedStep;
  if (reason === "elements") return state.step;
  if (reason === "round") return stepOfRound(trace, at);
  if (reason === "sibling" || reason === "card") return firstStepAtLine(trace, at);
  // the first run of the page's own program too, where it was not recorded yet
  if (reason === "page" || (reason === "run" && !state.opened && state.text === state.page.source))
    return state.requestedStep ?? pausedStep(state, trace);
  if (reason === "repair" && state.opened) {
    const before = state.opened.trace;
    return stepOfFixedStatement(before, trace, before.outcome.error?.step ?? state.step);
  }
  return iteration === null || iteration < 0 ? state.requestedStep : iteration;
}

/** Where the page's own program is stopped for the question that is asked there. */
function pausedStep({ page }: PageState, trace: Trace) {
  return page.stopsBefore ? stepBeforeLine(trace, page.stopsBefore) : null;
}

/** The page's own program, unless its address holds another. */
function openPageWithAddress(state: PageState, address: Address): PageState {
  const { page } = state;
  if (page.predicts || address.predict) state = predictMode.switchPredictMode(state, true, null);
  const focus = skippedIterations.requestedFocus(page.saved?.settings.focus);
  const stateAtAddress = {
    ...withPositionOfAddress(state, address),
    settings: normalizeSettings(address.source === null ? (page.saved?.settings ?? address) : address, page.devices),
    linkedFocus: focus && { source: page.source, focus },
    problem: address.broken ? { key: "broken_link" } : null,
  };
  const { source } = address;
  if (source !== null) {
    const hasTrace =
      !address.focus &&
      withUnixLineEnds(source) === page.source &&
      doesPageTraceHaveSettings(page, stateAtAddress.settings);
    if (!hasTrace) return openLinkedProgram(stateAtAddress, source, address);
  }
  if (!page.source) return stateAtAddress;
  // what the reader wrote while the address was being read stays, as it would a moment later
  return { ...showPageTrace({ ...stateAtAddress, text: page.source }, address.step), text: state.text };
}

/** Whether the page's own trace is, or will be, one of these settings. */
function doesPageTraceHaveSettings(page: ServedPage, settings: Settings) {
  if (page.trace) return wasTraceMadeWith(settings, page.trace);
  return (
    page.traceUrl !== null && areSettingsEqual(settings, normalizeSettings(page.saved?.settings ?? {}, page.devices))
  );
}

/** The page's own trace, fetched first where it isn't here; where the server has none the program is run. */
function showPageTrace(state: PageState, step: number | null): PageState {
  const { page } = state;
  if (page.trace) return showTrace(state, page.trace, step ?? pausedStep(state, page.trace));
  return requestRun({ ...state, requestedStep: step }, page.traceUrl === null ? "run" : "page", {
    source: page.source,
  });
}

/** The address was changed by its reader, or by going back. */
function followLink(state: PageState, address: Address): PageState {
  const { page } = state;
  if (address.predict) state = predictMode.switchPredictMode(state, true, address.step);
  const next = withPositionOfAddress(state, address);
  if (address.broken) return { ...next, problem: { key: "broken_link" } };
  if (address.source !== null) {
    const isSameProgram =
      withUnixLineEnds(address.source) === programTextForAddress(state) &&
      areSettingsEqual(normalizeSettings(address, page.devices), state.settings) &&
      JSON.stringify(address.focus) === JSON.stringify(shownFocus(state));
    if (!isSameProgram) return openLinkedProgram(next, address.source, address);
  } else if (page.saved && !isSavedProgram(state)) {
    const settings = normalizeSettings(page.saved.settings, page.devices);
    return showPageTrace(
      { ...withoutPendingRequest(next), text: page.source, settings, waiting: false, problem: null },
      address.step,
    );
  }
  return address.step === null ? next : goToStep(next, address.step);
}

/** The server has no result of a link's program. What the reader wrote himself stands over the page's picture again,
 * as he left it. */
function restoreDraftWithoutResult(state: PageState): PageState {
  const { page, text } = state;
  if (!state.waiting || text !== page.draft || page.traceUrl === null) return state;
  return { ...showPageTrace({ ...state, text: page.source, waiting: false }, null), text };
}

function withPositionOfAddress(state: PageState, address: Address): PageState {
  const { selection, view } = address;
  if (view === null) return { ...state, selection };
  return { ...state, selection, view, isViewChosen: true, isViewFromAddress: true };
}

/** A program came with a link: it is shown, and run when its reader says so; a result that is there already comes at
 * once. */
function openLinkedProgram(state: PageState, source: string, address: Address): PageState {
  const text = withUnixLineEnds(source);
  const { focus } = address;
  const next = {
    ...state,
    text,
    settings: normalizeSettings(address, state.page.devices),
    opened: null,
    growing: null,
    question: null,
    step: 0,
    requestedStep: address.step,
    waiting: true,
    linkedFocus: focus && { source: text, focus },
    revealed: null,
  };
  return requestRun(next, "lookup", { source: text });
}
