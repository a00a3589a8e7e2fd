/**
 * What the page shows of a run, for pictures and files that leave it: the step or the whole run, which finding is open,
 * what is said of it.
 */

import { chainMarksOf, type ChainMark } from "../findings/chain_marks.ts";
import { explain } from "../findings/explain.ts";
import { isFindingShownAtStep, type FindingSentence } from "../findings/finding.ts";
import { findingText } from "../findings/finding_text.ts";
import { findingLocale } from "../findings/locale.ts";
import { headlineSentences, wholeRunCaption, type CaptionSentence } from "../captions/captions.ts";
import { moduleListFactsOf, moduleListLocale } from "../nets/module_list_picture.ts";
import { stepHeadline } from "../nets/step_headline.ts";
import { runSentences } from "../nets/whole_run/run_sentences.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import { isLandingOnWholeRun, openingStep } from "../trace/steps/landing.ts";
import { bundledLocale } from "../words/locale.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface ShownRun {
  i: number;
  view: "step" | "run";
  /** of the finding that is open; none on the stage, where it lights nothing in a picture */
  chain: ChainMark[];
  /** what the open finding says of the step; null where it is about other steps */
  found: FindingSentence | null;
  /** why the program raised; null where it did not, or that is not known */
  why: string | null;
}

/** At a step; null: where a reader of the page lands. */
export function shownRun(opened: OpenTrace, step: number | null, language: string): ShownRun {
  const last = opened.count - 1;
  const at = (i: number) => Math.max(0, Math.min(i, last));
  if (last < 0 || pictureOfRun(opened) === "stage")
    return { i: at(step ?? openingStep(opened)), view: "step", chain: [], found: null, why: null };
  const { say } = findingLocale(language);
  const findings = explain(opened);
  const [gravest] = findings;
  const isOpen = gravest && gravest.severity !== "note";
  const told = isOpen ? findingText(gravest, say) : null;
  const why = findings.find(({ kind, explainsError }) => explainsError && kind !== "unexplained_error");
  const landing = isOpen && !gravest.explainsError ? gravest.cause.step : openingStep(opened);
  const i = at(step ?? landing);
  const errorStep = opened.trace.outcome.error?.step ?? null;
  return {
    i,
    view: step === null && !isOpen && isLandingOnWholeRun(opened.trace) ? "run" : "step",
    chain: told ? chainMarksOf(gravest, told.chain) : [],
    found: told && isFindingShownAtStep(gravest, i, errorStep) ? { text: told.what, severity: gravest.severity } : null,
    why: why ? findingText(why, say).what : null,
  };
}

/** The headline over the picture, and what stands below it. */
export function shownSentences(opened: OpenTrace, shown: ShownRun, language: string): CaptionSentence[] {
  const { i, view, found, why } = shown;
  if (view === "run") {
    const said = runSentences(opened, language);
    if (said.length) return wholeRunCaption(said);
  }
  const isList = pictureOfRun(opened) === "list";
  const ofRow = isList ? stepHeadline(moduleListFactsOf(opened), i, moduleListLocale(language).say) : null;
  return headlineSentences(opened, i, { found, ofRow, why }, bundledLocale(language).say);
}
