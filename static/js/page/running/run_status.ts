/** How a run goes and how it ended, in words beside the program. */

import { outcomeSentence } from "../../captions/captions.ts";
import { wholeProgramNoticesText } from "../../program/program_messages.ts";
import { isRunning } from "../../page_state/selectors.ts";
import { hasHiddenSteps } from "../../trace/steps/truncated_trace.ts";
import { stepThatMadeBackwardFail } from "../../trace/saved_slots.ts";
import { hasChangedField } from "../../browser/store.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";
import type { RequestProblem } from "../../requests/trace_source.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Locale } from "../../words/sentences.ts";

/** As long as systems wait for the second click of two. */
const DOUBLE_CLICK_MS = 500;

export function createRunStatus({ elementById, say }: PageHost) {
  /** A sentence about the server or an address, not about the program. */
  function showProblem(problem: RequestProblem | null) {
    const saveButton = problem?.offersSave ? [linkButton(say("save"), () => elementById("save").click())] : [];
    elementById("problem").replaceChildren(problem ? say(problem.key, problem.args) : "", ...saveButton);
    elementById("problem").hidden = !problem;
  }

  /** The page says so where the server could run no program when it was loaded; a run shows that it can now. */
  function forgetMissingWorkers(state: PageState, before: PageState | null) {
    if (before?.pending && !state.pending && state.opened !== before.opened)
      document.getElementById("no-workers")?.remove();
  }

  /** when the run began, and what shows its time */
  let began = 0;
  let clock = 0;
  let stopAcceptedAt = 0;

  function showTime() {
    elementById("run-time").textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  }

  /** Run is Stop in the same box: the second half of a double click stops nothing. */
  elementById("stop").addEventListener(
    "click",
    (event) => {
      if (event.detail > 1 || (event.detail && performance.now() < stopAcceptedAt)) event.stopImmediatePropagation();
    },
    { capture: true },
  );

  function showRunProgress(state: PageState, before: PageState | null) {
    const running = isRunning(state);
    const wasRunning = before !== null && isRunning(before);
    const [run, stop] = [elementById("run-button"), elementById("stop")];
    const focused = document.activeElement;
    document.body.classList.toggle("busy", running);
    document.body.classList.toggle("earlier-run", running && !state.growing);
    stop.hidden = !running;
    if (running && focused === run) stop.focus();
    run.classList.toggle("away", running);
    if (!running && focused === stop) run.focus();
    elementById("progress").hidden = !running;
    for (const part of [elementById("stage"), elementById("printed-box")]) part.toggleAttribute("aria-busy", running);
    if (running && !wasRunning) {
      began = performance.now();
      stopAcceptedAt = began + DOUBLE_CLICK_MS;
      showTime();
      clock = window.setInterval(showTime, 100);
    } else if (!running) clearInterval(clock);
    if (!running) return;
    const { ahead, opened, growing } = state;
    const key = ahead === null ? "running" : ahead ? "queued" : "queued_next";
    elementById("run-word").textContent = say(key, { ahead });
    const seen = growing ? "running_so_far" : "running_before";
    elementById("run-before").textContent = opened?.count ? say(seen, { n: opened.count }) : "";
  }

  return {
    render(state: PageState, before: PageState | null) {
      if (hasChangedField(state, before, "problem")) showProblem(state.problem);
      forgetMissingWorkers(state, before);
      if (hasChangedField(state, before, "pending", "ahead", "growing", "opened")) showRunProgress(state, before);
    },
  };
}

/** How the program ended; an error leads to its step. */
export function showOutcome(
  elementById: PageHost["elementById"],
  opened: OpenTrace | null,
  say: Locale["say"],
  go: (step: number) => void,
) {
  const outcomeElement = elementById("outcome");
  outcomeElement.replaceChildren();
  elementById("notices").textContent = opened ? wholeProgramNoticesText(opened.trace, say) : "";
  outcomeElement.className = "outcome";
  if (!opened || hasHiddenSteps(opened.trace)) return;
  const { status, error } = opened.trace.outcome;
  outcomeElement.className = `outcome ${status}`;
  if (status !== "raised" || !error) {
    outcomeElement.textContent = outcomeSentence(opened.trace, say).text;
    return;
  }
  const summary = error.line ? error.type : outcomeSentence(opened.trace, say).text;
  const label = error.line ? say("raised_at", { line: error.line }) : error.type;
  outcomeElement.replaceChildren(
    linkButton(label, () => go(error.step ?? opened.count - 1)),
    ` ${summary}`,
  );
  const cause = stepThatMadeBackwardFail(opened);
  if (cause === null) return;
  const causeLine = opened.trace.steps[cause].line;
  outcomeElement.append(
    " · ",
    linkButton(say("caused_at", { line: causeLine }), () => go(cause)),
  );
}

function linkButton(text: string, onClick: () => void) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = text;
  button.addEventListener("click", onClick);
  return button;
}
