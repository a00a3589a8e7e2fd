/** How a run goes and how it ended, in words beside the program. */

import { outcomeSentence } from "../captions/captions.ts";
import { wholeProgramNoticesText } from "../program/messages.ts";
import { isRunning } from "../page_state/selectors.ts";
import { hasHiddenSteps } from "../trace/future.ts";
import { stepThatMadeBackwardFail } from "../trace/saved_slots.ts";
import { hasChangedField } from "../browser/store.ts";
import type { PageHost } from "./page_host.ts";
import type { PageState } from "../page_state/state.ts";
import type { RequestProblem } from "../requests/trace_source.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Locale } from "../words/sentences.ts";

export function createRunStatus({ element, say }: PageHost) {
  /** A sentence about the server or an address, not about the program. */
  function showProblem(problem: RequestProblem | null) {
    const saveButton = problem?.offersSave ? [linkButton(say("save"), () => element("save").click())] : [];
    element("problem").replaceChildren(problem ? say(problem.key, problem.args) : "", ...saveButton);
    element("problem").hidden = !problem;
  }

  /** The page says so where the server could run no program when it was loaded; a run shows that it can now. */
  function forgetMissingWorkers(state: PageState, before: PageState | null) {
    if (before?.pending && !state.pending && state.opened !== before.opened)
      document.getElementById("no-workers")?.remove();
  }

  function showRunProgress(state: PageState) {
    const running = isRunning(state);
    document.body.classList.toggle("busy", running);
    element("stop").hidden = !running;
    const { ahead } = state;
    const key = !running ? "run" : ahead === null ? "running" : ahead ? "queued" : "queued_next";
    element("run-word").textContent = say(key, { ahead });
  }

  return {
    render(state: PageState, before: PageState | null) {
      if (hasChangedField(state, before, "problem")) showProblem(state.problem);
      forgetMissingWorkers(state, before);
      if (hasChangedField(state, before, "pending", "ahead")) showRunProgress(state);
    },
  };
}

/** How the program ended; an error leads to its step. */
export function showOutcome(
  element: PageHost["element"],
  opened: OpenTrace | null,
  say: Locale["say"],
  go: (step: number) => void,
) {
  const outcomeElement = element("outcome");
  outcomeElement.replaceChildren();
  element("notices").textContent = opened ? wholeProgramNoticesText(opened.trace, say) : "";
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
