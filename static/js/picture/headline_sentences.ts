/** What is said over a picture: of a step, or of the whole run. The page and what leaves it say the same. */

import { captionSentences, explanationSentence, type CaptionSentence } from "../captions/captions.ts";
import type { Finding, Severity } from "../findings/finding.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Say } from "../words/sentences.ts";

/** What an open finding says, with names in backticks. */
export interface FindingSentence {
  text: string;
  severity: Severity;
}

export interface KnownOfStep {
  /** the open finding's sentence, where it is about the step */
  found?: FindingSentence | null;
  /** what the step's row in a list says; null on the stage, and where no row has the step */
  ofRow?: string | null;
  /** why the program raised; null where it did not, or where that is not known */
  why?: string | null;
}

/** A finding's own sentence comes first, then that of the step's row, then what the statement did. */
export function headlineSentences(
  opened: OpenTrace,
  i: number,
  { found = null, ofRow = null, why = null }: KnownOfStep,
  say: Say,
): CaptionSentence[] {
  if (found) return [{ ...explanationSentence(found.text), tone: found.severity === "error" ? "bad" : "note" }];
  if (ofRow !== null) return [plainSentence(ofRow)];
  const cause = why !== null && opened.trace.outcome.error?.step === i ? [explanationSentence(why)] : [];
  return [...cause, ...captionSentences(opened, i, say)];
}

export function wholeRunHeadline(said: { text: string; isBad: boolean }[]): CaptionSentence[] {
  return said.map(({ text, isBad }) => ({ ...plainSentence(text), tone: isBad ? "bad" : "plain" }));
}

function plainSentence(text: string): CaptionSentence {
  return { ...explanationSentence(text), key: undefined, tone: "plain" };
}

/** Whether a finding is said over the picture of a step: at each of its chain, and at the error that it explains. */
export function isAboutStep({ chain, severity, explainsError }: Finding, i: number, errorStep: number | null): boolean {
  if (severity === "note") return false;
  return (explainsError && i === errorStep) || chain.some(({ step }) => step === i);
}
