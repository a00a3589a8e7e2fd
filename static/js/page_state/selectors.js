/** Facts that follow from the page's state: what is shown belongs to what is edited, what an address has to say. */

import { wasMadeWith } from "./settings.js";
import { skippedBefore, requestedFocus } from "../trace/skipped_iterations.js";

/** @typedef {import("./page_state.js").PageState} PageState */
/** @typedef {import("../trace/wire.js").Focus} Focus */

/** Whether the editor shows the program that the trace is of: else their lines mean nothing to each other. @param {PageState} state */
export function isCurrent({ opened, text }) {
  return opened !== null && opened.trace.program.source === text;
}

/** Whether a run would be asked for what is shown already. @param {PageState} state */
export function isUpToDate(state) {
  return state.opened === null || (isCurrent(state) && wasMadeWith(state.settings, state.opened.trace));
}

/** The program as an address keeps it: what was pasted, for that holds the article's outputs too. @param {PageState} state @returns {string} */
export function programText(state) {
  return (isCurrent(state) && state.opened?.trace.program.pasted) || state.text;
}

/** What the reader wrote before in this tab, where the page shows its own program instead. @param {PageState} state @returns {string | null} */
export function keptDraft(state) {
  const { page, text } = state;
  return page.draft !== null && text === page.source && page.draft !== page.source ? page.draft : null;
}

/** Whether the program is the one that the page came with. @param {PageState} state */
export function isPageProgram(state) {
  return [programText(state), state.text].includes(state.page.source);
}

/**
 * The focus that the shown run was asked for; before there is a trace, that of the link.
 * @param {PageState} state @returns {Focus | null}
 */
export function shownFocus(state) {
  const { opened, linkedFocus, text } = state;
  if (!opened) return linkedFocus?.source === text ? linkedFocus.focus : null;
  return isUpToDate(state) ? requestedFocus(opened.trace.focus) : null;
}

/** Whether the permalink says all of the program, its settings and its focus. @param {PageState} state */
export function isSavedProgram(state) {
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

/** The step as an address says it; null where the trace is not of the program that it says. @param {PageState} state */
export function addressStep(state) {
  if (!state.opened) return state.requestedStep;
  return state.opened.count && isCurrent(state) ? state.step : null;
}

/** Iterations that were skipped before the step. @param {PageState} state */
export function skippedGap(state) {
  return state.opened && isCurrent(state) ? skippedBefore(state.opened.trace, state.step) : null;
}

/** Whether a request runs a program; else it fetches a trace that is there. @param {import("./page_state.js").Request} request */
export function runsProgram({ reason }) {
  return reason !== "lookup" && reason !== "page";
}

/** Whether a run goes on that the reader waits for. @param {PageState} state */
export function isRunning({ pending }) {
  return pending !== null && runsProgram(pending);
}

/** What the program is called where it has no title: the first thing that it does. @param {string} source */
export function firstStatement(source) {
  const lines = source.split("\n").map((line) => line.trim());
  return lines.find((line) => line && !/^(import|from|#)\b|^#/.test(line)) ?? "";
}
