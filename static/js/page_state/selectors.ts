/** Facts that follow from the page's state: what is shown belongs to what is edited, what an address has to say. */

import { applyEditToArticle } from "../program/article.ts";
import { wasTraceMadeWith } from "./settings.ts";
import { skippedIterationsBefore, requestedFocus } from "../trace/steps/skipped_iterations.ts";
import { pictureOfRun, type RunPicture } from "../trace/run_picture.ts";
import type { Focus } from "../trace/wire.ts";
import type { PageState, TraceRequest } from "./state.ts";

/** Whether the editor shows the program that the trace is of: else their lines mean nothing to each other. */
export function doesTraceMatchText({ opened, text }: PageState) {
  return opened !== null && opened.trace.program.source === text;
}

/** Whether a run would be asked for what is shown already. */
export function isTraceUpToDate(state: PageState) {
  return state.opened === null || (doesTraceMatchText(state) && wasTraceMadeWith(state.settings, state.opened.trace));
}

/** The program as an address keeps it: what was pasted, for that holds the article's outputs too. */
export function programTextForAddress(state: PageState): string {
  return (doesTraceMatchText(state) && state.opened?.trace.program.pasted) || state.text;
}

/**
 * A program within the article of the one that is shown: what was pasted, or that with the reader's edits; null where
 * there is none.
 */
export function articleOfProgram({ opened }: PageState, program: string): string | null {
  if (opened?.trace.program.source === program) return opened.trace.program.pasted ?? null;
  return opened && applyEditToArticle(opened.trace.program, program);
}

/** What draws the program, chosen once for its whole run. */
export function pictureOfProgram({ opened, predict }: PageState): RunPicture {
  const whole = predict?.whole ?? opened;
  return whole ? pictureOfRun(whole) : "stage";
}

/** The part of the page that draws the step, or the whole run. */
export function shownPicture(state: PageState): "stage" | "net" | "loom" {
  const { view } = state;
  if (view !== "storage" && pictureOfProgram(state) === "list") return "net";
  return view === "step" ? "stage" : "loom";
}

/** Whether the picture is the same at every step. */
export function isWholeRunList(state: PageState) {
  return state.view === "run" && shownPicture(state) === "net";
}

/** What the reader wrote before in this tab, where the page shows its own program instead. */
export function draftNotShown(state: PageState): string | null {
  const { page, text } = state;
  return page.draft !== null && text === page.source && page.draft !== page.source ? page.draft : null;
}

/** Whether the program is the one that the page came with. */
export function isPageProgram(state: PageState) {
  return [programTextForAddress(state), state.text].includes(state.page.source);
}

/**
 * Whether the text has just been changed in the editor, by hand. A button that changes the program asks for its run,
 * and its text comes together with that.
 */
export function wasEditedByHand(state: PageState, before: PageState | null) {
  return before !== null && state.text !== before.text && state.opened === before.opened;
}

/** The focus that the shown run was asked for; before there is a trace, that of the link. */
export function shownFocus(state: PageState): Focus | null {
  const { opened, linkedFocus, text } = state;
  if (!opened) return linkedFocus?.source === text ? linkedFocus.focus : null;
  return isTraceUpToDate(state) ? requestedFocus(opened.trace.focus) : null;
}

/** Whether the permalink says all of the program, its settings and its focus. */
export function isSavedProgram(state: PageState) {
  const { page, settings } = state;
  if (!page.saved || !isPageProgram(state)) return false;
  const { seed, device, focus, input } = page.saved.settings;
  return (
    settings.seed === seed &&
    (settings.input ?? "") === input &&
    settings.device === (page.devices.length > 1 ? device : undefined) &&
    JSON.stringify(shownFocus(state)) === JSON.stringify(requestedFocus(focus))
  );
}

/** The step as an address says it; null where the trace is not of the program that it says. */
export function stepForAddress(state: PageState) {
  if (!state.opened) return state.requestedStep;
  return state.opened.count && doesTraceMatchText(state) ? state.step : null;
}

/** Iterations that were skipped before the step. */
export function skippedIterationsBeforeStep(state: PageState) {
  return state.opened && doesTraceMatchText(state) ? skippedIterationsBefore(state.opened.trace, state.step) : null;
}

/** Whether a request runs a program; else it fetches a trace that is there. */
export function doesRequestRunProgram({ reason }: TraceRequest) {
  return reason !== "lookup" && reason !== "page";
}

/** Whether a run goes on that the reader waits for. */
export function isRunning({ pending }: PageState) {
  return pending !== null && doesRequestRunProgram(pending);
}

/** What the program is called where it has no title: the first thing that it does. */
export function titleFromFirstStatement(source: string) {
  const lines = source.split("\n").map((line) => line.trim());
  return lines.find((line) => line && !/^(import|from|#)\b|^#/.test(line)) ?? "";
}
