/** One side of a comparison: its lines of code, how it ended, its stage and the sentences of its step. */

import { captionItems } from "../captions/caption_list.js";
import { outcomeSentence, sentences, stageLabels } from "../captions/captions.js";
import { createStage } from "../stage/stage.js";
import { lineTone } from "../trace/stepping.js";
import { createDifferenceMarks } from "./difference_marks.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/** @typedef {ReturnType<typeof createSideView>} SideView */

/** A part of a side, by its name. @param {HTMLElement} root @param {string} name */
export function partOf(root, name) {
  return /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
}

/** @param {HTMLElement} root of the side @param {import("../editor/code_listing.js").CodePane} codePane @param {Say} say */
export function createSideView(root, codePane, say) {
  const stage = createStage(partOf(root, "stage"), document, { labels: stageLabels(say) });
  const marks = createDifferenceMarks(partOf(root, "stage"));
  return {
    showChanged: codePane.showChanged,
    /** @param {string} text how the run ended @param {boolean} isGood whether it finished */
    showOutcome(text, isGood) {
      const outcome = partOf(root, "outcome");
      outcome.textContent = text;
      outcome.classList.toggle("bad", !isGood);
    },
    /** @param {OpenTrace} opened @param {number} step -1: before the first @param {boolean} isStepHere whether this side made a
     *   step at this place @param {import("./difference_marks.js").MarkedName[]} markedNames */
    show(opened, step, isStepHere, markedNames) {
      root.classList.toggle("waits", !isStepHere);
      root.classList.toggle("no-steps", !opened.count); // the stage of the program before it stays, out of sight
      if (!opened.count) {
        codePane.setStepLine(null);
        partOf(root, "sentences").replaceChildren(...captionItems([outcomeSentence(opened.trace, say)]));
        return marks.clear();
      }
      const shownStep = Math.max(0, step);
      stage.show(opened, shownStep);
      const { line, kind } = opened.trace.steps[shownStep];
      codePane.setStepLine(line, lineTone(kind));
      partOf(root, "sentences").replaceChildren(...captionItems(sentences(opened, shownStep, say)));
      marks.show(opened, shownStep, markedNames);
    },
  };
}
