/** Whether the server still answers: asked only while a run waits, or after the server could not be reached. */

import { SERVER_ROOT } from "../../requests/root.ts";
import { isRunning } from "../../page_state/selectors.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";

/** Milliseconds: with the time that an answer may take, a server that is lost is noticed within three seconds. */
const ASK_AFTER_MS = 1300;
/** Each time without an answer doubles the wait, up to this: a browser's console says of each. */
const MAX_ASK_AFTER_MS = 10_000;
const ANSWER_WITHIN_MS = 1500;
const RETURN_SHOWN_MS = 8000;

/** Statuses of a proxy whose server is gone. */
const GONE = new Set([502, 503, 504]);

const LOST_KEYS = ["error_network", "server_silent"];
const RETURN_KEYS = ["server_back", "server_back_run"];

export function createServerWatch({ state: currentState, dispatch }: Pick<PageHost, "state" | "dispatch">) {
  let timer = 0;
  let waitMs = ASK_AFTER_MS;

  const isLost = ({ problem }: PageState) => problem !== null && LOST_KEYS.includes(problem.key);
  const isNeeded = (state: PageState) => isRunning(state) || isLost(state);

  async function doesServerAnswer() {
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      return !GONE.has((await fetch(`${SERVER_ROOT}/healthz`, { cache: "no-store", signal })).status);
    } catch {
      return false;
    }
  }

  async function ask() {
    if (!isNeeded(currentState())) {
      timer = 0;
      return;
    }
    const answers = await doesServerAnswer();
    timer = 0;
    waitMs = answers ? ASK_AFTER_MS : Math.min(2 * waitMs, MAX_ASK_AFTER_MS);
    const state = currentState();
    if (!isNeeded(state)) return;
    if (!answers && !isLost(state)) dispatch({ type: "problemFound", problem: { key: "server_silent" } });
    if (answers && isLost(state)) showReturn(isRunning(state) ? "server_back" : "server_back_run");
    schedule();
  }

  function showReturn(key: string) {
    dispatch({ type: "problemFound", problem: { key } });
    setTimeout(() => {
      if (currentState().problem?.key === key) dispatch({ type: "problemFound", problem: null });
    }, RETURN_SHOWN_MS);
  }

  function schedule() {
    if (!timer && isNeeded(currentState())) timer = window.setTimeout(ask, waitMs);
  }

  return {
    render(state: PageState, before: PageState | null) {
      if (state.pending === before?.pending && state.problem === before?.problem) return;
      // the run that waited has come: nothing is left to be said of the server
      const isOver = before?.pending && !state.pending && state.opened !== before.opened;
      if (isOver && state.problem && [...LOST_KEYS, ...RETURN_KEYS].includes(state.problem.key))
        dispatch({ type: "problemFound", problem: null });
      schedule();
    },
  };
}
