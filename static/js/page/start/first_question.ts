/**
 * The one question of the first screen: who will see what the next line writes. The answer is the next step; whether it
 * is right is read from the trace.
 */

import { doesTraceMatchText } from "../../page_state/selectors.ts";
import { stepBeforeLine } from "../../trace/steps/landing.ts";
import { rememberFeatureUse } from "./visit_history.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";
import type { Entities } from "../../trace/state.ts";

/** If it isn't the first visit, the question is asked once somebody wants to be shown the program. */
export function createFirstQuestion({ state: currentState, dispatch, say }: PageHost, isFirstVisit: boolean) {
  const box = document.getElementById("first-question");
  const verdict = document.getElementById("verdict");
  const line = box?.dataset.line ?? "";
  const buttons = [...(box?.querySelectorAll<HTMLElement>("[data-sees]") ?? [])];
  let isAsked = isFirstVisit;
  /** the step that was the answer */
  let answeredStep: number | null = null;
  /** focus goes to the answers once they are there */
  let takesFocus = false;

  /** The step before the line runs; null where the page does not show the program of the question. */
  function questionStep({ opened, page, text, predict, view }: PageState) {
    const isOwn = opened !== null && text === page.source && !predict && view === "step";
    return isOwn && doesTraceMatchText(currentState()) ? stepBeforeLine(opened.trace, line) : null;
  }

  function answer(name: string) {
    const state = currentState();
    const at = questionStep(state);
    if (at === null || !state.opened || !verdict) return;
    const seeing = namesThatRead(state.opened.state(at + 1), "c").filter((other) => other !== "c");
    if (seeing.length !== 1) return;
    const isRight = name === seeing[0];
    rememberFeatureUse("starts");
    isAsked = false;
    answeredStep = at + 1;
    verdict.textContent = say(isRight ? "first_right" : "first_wrong", { name: seeing[0] });
    verdict.classList.toggle("right", isRight);
    dispatch({ type: "stepChosen", step: at + 1 });
    document.querySelector<HTMLElement>("#timeline [data-go='next']")?.focus({ preventScroll: true });
  }

  for (const button of buttons) button.addEventListener("click", () => answer(button.dataset.sees ?? ""));

  return {
    line,
    /** Asks it again. */
    ask() {
      isAsked = takesFocus = true;
      answeredStep = null;
    },
    render(state: PageState) {
      if (!box || !verdict) return;
      const isAsking = isAsked && state.step === questionStep(state);
      box.hidden = !isAsking;
      document.body.classList.toggle("asking-first", isAsking);
      verdict.hidden = answeredStep === null || state.step !== answeredStep || questionStep(state) === null;
      if (isAsking && takesFocus) {
        takesFocus = false;
        buttons[0]?.focus({ preventScroll: true });
      }
    },
  };
}

/** The names that lead to the memory that a name's tensor reads. */
function namesThatRead(entities: Entities, name: string): string[] {
  const storageOf = new Map<string, string>();
  for (const entity of entities.values()) {
    if (entity.kind !== "frame") continue;
    for (const [variable, value] of entity.vars) {
      const ref = typeof value === "object" && value !== null && "ref" in value ? String(value.ref) : "";
      const handle = entities.get(ref);
      if (handle?.kind === "tensor" && handle.storage) storageOf.set(variable, handle.storage);
    }
  }
  return [...storageOf.keys()].filter((other) => storageOf.get(other) === storageOf.get(name));
}
