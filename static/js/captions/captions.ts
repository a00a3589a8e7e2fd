/** Texts around the pictures: a step's heading and sentences, the outcome, and the pictures' labels. */

import { STAGE_LABELS, type StageLabels, LOOM_LABELS, type LoomLabels } from "../marks/labels.ts";
import { captionNotesOfStep } from "./notes.ts";
import { markedParts, partsText, sentenceParts, type SentencePart } from "./sentence.ts";
import { hasHiddenSteps } from "../trace/steps/truncated_trace.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Step, Trace } from "../trace/wire.ts";
import type { FindingSentence } from "../findings/finding.ts";
import type { Translate } from "../words/sentences.ts";
import type { CaptionNote } from "./note.ts";

const MAX_CAPTION_SENTENCES = 6;

export interface CaptionSentence {
  text: string;
  tone: string;
  /** of the text, in order; absent where all of it is plain */
  parts?: SentencePart[];
  /** of the note that it says */
  key?: string;
}

/** A step's number with its line and loop iteration (`at`), and the text of that line. */
export function stepHeading(trace: Trace, i: number, say: Translate): { at: string; line: string } {
  const traceStep = trace.steps[i];
  const iteration = traceStep.iter?.length ? ` [${traceStep.iter.join(", ")}]` : "";
  const line = trace.program.source.split("\n")[traceStep.line - 1]?.trim() ?? "";
  return {
    at: `${say("step_of", { i: i + 1, n: hasHiddenSteps(trace) ? "?" : trace.steps.length })} · ${say("line", { line: traceStep.line })}${iteration}`,
    line,
  };
}

/** A step's number and its statement in one line; an empty program has a step whose line has no text. */
export function stepTitle(trace: Trace, i: number, say: Translate) {
  const { at, line } = stepHeading(trace, i, say);
  return line ? `${at} · ${line}` : at;
}

/** A step's sentences, the gravest first. */
export function captionSentences(opened: OpenTrace, i: number, say: Translate): CaptionSentence[] {
  const list = captionNotesOfStep(opened, i);
  list.sort((a, b) => noteSeverityRank(a) - noteSeverityRank(b));
  const sentences = list.map(({ key, args, tone }) => {
    const parts = sentenceParts({ key, args }, say);
    return { text: partsText(parts), parts, tone: tone ?? "plain", key };
  });
  const isNew = ({ text }: CaptionSentence, k: number) => sentences.findIndex((other) => other.text === text) === k;
  return sentences.filter(isNew).slice(0, MAX_CAPTION_SENTENCES);
}

interface HeadlineSources {
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
  { found = null, ofRow = null, why = null }: HeadlineSources,
  say: Translate,
): CaptionSentence[] {
  if (found) return [markedSentence(found.text, found.severity === "error" ? "bad" : "note", "explained")];
  if (ofRow !== null) return [markedSentence(ofRow)];
  const cause = why !== null && opened.trace.outcome.error?.step === i ? [markedSentence(why, "bad", "explained")] : [];
  return [...cause, ...captionSentences(opened, i, say)];
}

export function wholeRunCaption(said: { text: string; isBad: boolean }[]): CaptionSentence[] {
  return said.map(({ text, isBad }) => markedSentence(text, isBad ? "bad" : "plain"));
}

/** A sentence that is made already; `text` has names in backticks, `key` says which kind it is. */
function markedSentence(text: string, tone: CaptionSentence["tone"] = "plain", key?: string): CaptionSentence {
  const parts = markedParts(text);
  return { text: partsText(parts), parts, tone, key };
}

function noteSeverityRank(note: CaptionNote) {
  return note.tone === "bad" ? 0 : note.tone === "cut" ? 2 : note.minor ? 3 : 1;
}

/** The sentence that says how a program ended. */
export function outcomeSentence(trace: Trace, say: Translate): CaptionSentence {
  const { status, error, stopped } = trace.outcome;
  let text = say(status);
  if (status === "raised" && error) text = say("raised", { type: error.type, message: error.message.split("\n")[0] });
  else if (status === "crashed") text = say("crashed", { message: error?.message ?? "" });
  else if (status === "stopped" && stopped) {
    const { limit, value, waited } = stopped;
    const key = typeof waited === "number" ? `stopped_${limit}_busy` : `stopped_${limit}`;
    text = say(say(key) === key ? "stopped_other" : key, { value, limit, waited: waited ?? 0 });
  }
  return { text, tone: status === "finished" ? "plain" : "bad" };
}

/** The stage's labels, those that the reader's language has. */
export function stageLabels(say: Translate): Partial<StageLabels> {
  const labels = Object.keys(STAGE_LABELS).map((key) => [key, say(`stage_${key}`)]);
  return Object.fromEntries(labels.filter(([key, text]) => text !== `stage_${key}`));
}

/** The loom's labels. */
export function loomLabels(say: Translate): LoomLabels {
  const labels = { ...LOOM_LABELS };
  for (const key of Object.keys(labels) as (keyof typeof labels)[]) labels[key] = say(`loom_${key}`);
  return labels;
}

/** The step at which a line runs next, from the beginning again where it does not; -1 where it never ran. */
export function nextStepAtLine(steps: Step[], line: number, step: number) {
  const laterStep = steps.findIndex((s, i) => i > step && s.line === line);
  return laterStep >= 0 ? laterStep : steps.findIndex((s) => s.line === line);
}
