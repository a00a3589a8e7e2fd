/**
 * What is said of the step around the timeline: modes in force, memory alive, and the iterations skipped before it, one
 * of which a form asks for.
 */

import { bytesText } from "../../trace/format.ts";
import { nonDefaultModes, liveBytesByStep } from "../../trace/modes_and_memory.ts";
import { isWholeRunList, skippedIterationsBeforeStep } from "../../page_state/selectors.ts";
import { hasChangedField } from "../../browser/store.ts";
import { isTrainingLoop } from "../../trace/steps/training_rounds.ts";
import type { PageHost } from "../page_host.ts";
import type { SkippedIterations } from "../../trace/steps/skipped_iterations.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { PageState } from "../../page_state/state.ts";

export function createStepStatus(host: PageHost) {
  const { elementById, say } = host;
  const showGap = createSkippedForm(host);
  /** bytes alive after each step */
  let bytesByStep: number[] = [];

  function showModes(opened: OpenTrace, step: number) {
    const names = nonDefaultModes(opened.state(stepOfOwnModes(opened, step)));
    const chips = names.map((name) => {
      const chip = document.createElement("span");
      chip.className = "mode";
      chip.textContent = name;
      return chip;
    });
    elementById("modes").replaceChildren(...chips);
  }

  return {
    render(state: PageState, before: PageState | null) {
      const { opened, step } = state;
      if (hasChangedField(state, before, "opened", "step", "text")) showGap(skippedIterationsToOffer(state));
      if (!hasChangedField(state, before, "opened", "step", "view")) return;
      elementById("modes").replaceChildren();
      elementById("alive").textContent = "";
      if (!opened?.count) return;
      if (hasChangedField(state, before, "opened")) bytesByStep = liveBytesByStep(opened);
      if (isWholeRunList(state)) return; // which is of no step
      showModes(opened, step);
      elementById("alive").textContent = say("alive", { size: bytesInWords(bytesByStep[step], say) });
    },
  };
}

/** The iterations before a step that can be asked for there; those of a training loop are on the axis of rounds. */
function skippedIterationsToOffer(state: PageState): SkippedIterations | null {
  const gap = state.predict ? null : skippedIterationsBeforeStep(state);
  return gap && state.opened && !isTrainingLoop(state.opened.trace, gap.loop) ? gap : null;
}

/** `24 bytes`; of many in a larger unit. */
function bytesInWords(bytes: number, say: PageHost["say"]) {
  return bytes < 1024 ? say("bytes", { n: bytes }) : bytesText(bytes);
}

/** The step whose modes are the program's own: while the engine runs, those in force are the engine's. */
function stepOfOwnModes(opened: OpenTrace, step: number) {
  const births = [...opened.state(step)].flatMap(([uid, { kind }]) =>
    kind === "backward" ? (opened.index.lifetimes.get(uid)?.birth ?? step) : [],
  );
  return Math.min(step, ...births.map((birth) => birth - 1));
}

/** Returns the function that shows which iterations were skipped; null: none. */
function createSkippedForm({ elementById, dispatch, say }: PageHost): (gap: SkippedIterations | null) => void {
  const field = elementById<HTMLInputElement>("unseen-at");
  elementById("unseen").addEventListener("submit", (event) => {
    event.preventDefault();
    dispatch({ type: "iterationRequested", index: Number(field.value) });
  });
  return (gap) => {
    elementById("unseen").hidden = !gap;
    if (!gap) return;
    const { skipped, from, to } = gap;
    const key = to === null ? "unseen_to_end" : from === to ? "unseen_one" : "unseen_between";
    elementById("unseen-text").textContent = say(key, { n: skipped, from, to });
    field.min = String(from);
    field.max = to === null ? "" : String(to);
    field.value = String(from);
  };
}
