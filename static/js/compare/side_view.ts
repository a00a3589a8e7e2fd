/** One side of a comparison: its lines of code, how it ended, its stage and the sentences of its step. */

import { captionListItems } from "../captions/caption_list.ts";
import { outcomeSentence, captionSentences, stageLabels } from "../captions/captions.ts";
import { createStage } from "../stage/stage.ts";
import { lineHighlightTone } from "../trace/steps/stepping.ts";
import { createDifferenceFrames, type NumberedDifference } from "./difference_frames.ts";
import type { CodePane } from "../editor/code_listing.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";

export type SideView = ReturnType<typeof createSideView>;

/** A part of a side, by its name. */
export function elementOfSide(root: HTMLElement, name: string) {
  return root.querySelector(`[data-part=${name}]`) as HTMLElement;
}

export function createSideView(root: HTMLElement, codePane: CodePane, say: Translate) {
  const stage = createStage(elementOfSide(root, "stage"), document, { labels: stageLabels(say) });
  const marks = createDifferenceFrames(elementOfSide(root, "stage"));
  return {
    showChanged: codePane.showChanged,
    /** `isGood`: the run finished. */
    showOutcome(text: string, isGood: boolean) {
      const outcome = elementOfSide(root, "outcome");
      outcome.textContent = text;
      outcome.classList.toggle("bad", !isGood);
    },
    /** Step -1 is before the first. `isStepHere`: this side made a step at this place. */
    show(opened: OpenTrace, step: number, isStepHere: boolean, markedNames: NumberedDifference[]) {
      root.classList.toggle("waits", !isStepHere);
      root.classList.toggle("no-steps", !opened.count); // the stage of the program before it stays, out of sight
      if (!opened.count) {
        codePane.setStepLine(null);
        elementOfSide(root, "sentences").replaceChildren(...captionListItems([outcomeSentence(opened.trace, say)]));
        return marks.clear();
      }
      const shownStep = Math.max(0, step);
      stage.show(opened, shownStep);
      const { line, kind } = opened.trace.steps[shownStep];
      codePane.setStepLine(line, lineHighlightTone(kind));
      elementOfSide(root, "sentences").replaceChildren(...captionListItems(captionSentences(opened, shownStep, say)));
      marks.show(opened, shownStep, markedNames);
    },
  };
}
