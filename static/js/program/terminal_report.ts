/**
 * A run for reading in a terminal: how it ended, what is said of its lines, and of each step its sentences, values and
 * output.
 */

import { wholeProgramNoticesText, programMessages } from "./program_messages.ts";
import { outcomeSentence, captionSentences, type CaptionSentence } from "../captions/captions.ts";
import { findEntity, findHandle } from "../trace/entities.ts";
import { cellsReadBy, numbersText } from "../findings/facts/cell_values.ts";
import { bundledLocale } from "../words/locale.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

interface TerminalStep {
  line: number;
  depth: number;
  /** empty where the program is over */
  code: string;
  iteration: (number | string)[];
  sentences: CaptionSentence[];
  /** of the names whose memory the step made or wrote */
  values: { name: string; text: string }[];
  printed: string;
}

interface TerminalReport {
  verdict: CaptionSentence & { line: number | null };
  /** on lines of the program, or on the whole of it; gloss: what a message means */
  remarks: { line: number | null; text: string; gloss: string }[];
  steps: TerminalStep[];
}

const MAX_VALUES_OF_STEP = 4;

export function terminalReport(trace: Trace, language: string): TerminalReport {
  const { say } = bundledLocale(language);
  const opened = openTrace(trace);
  const { error, stopped } = trace.outcome;
  return {
    verdict: { ...outcomeSentence(trace, say), line: error?.line ?? stopped?.line ?? null },
    remarks: remarksOnLines(trace, say),
    steps: trace.steps.map((_, i) => terminalStep(opened, i, say)),
  };
}

/** What stands under lines of the program in the page; of the error that is the verdict only what it means. */
function remarksOnLines(trace: Trace, say: Locale["say"]): TerminalReport["remarks"] {
  const { error } = trace.outcome;
  const verdictText = error && !error.refusals?.length ? `${error.type}: ${error.message}` : say("stopped_here");
  const onLines = programMessages(trace, say, () => {}).map(({ line, text, gloss = "" }) => ({
    line,
    text: text === verdictText ? "" : text,
    gloss,
  }));
  const generalText = wholeProgramNoticesText(trace, say);
  return [...(generalText ? [{ line: null, text: generalText, gloss: "" }] : []), ...onLines].filter(
    ({ text, gloss }) => text || gloss,
  );
}

function terminalStep(opened: OpenTrace, i: number, say: Locale["say"]): TerminalStep {
  const { steps, program } = opened.trace;
  const { line, depth, kind, iter, log } = steps[i];
  const printed = log.flatMap((entry) => (entry.kind === "out" ? [entry.text] : []));
  return {
    line,
    depth,
    code: kind === "end" ? "" : (program.source.split("\n")[line - 1]?.trim() ?? ""),
    iteration: iter ?? [],
    sentences: captionSentences(opened, i, say)
      .filter(({ key }) => !key?.startsWith("prints")) // the output itself stands there
      .map(({ text, tone }) => ({ text, tone })),
    values: tensorValuesAt(opened, i),
    printed: printed.join(""),
  };
}

/** The numbers of the named tensors whose memory a step made or wrote; of a step of the engine its sentence says
 * them. */
function tensorValuesAt(opened: OpenTrace, i: number): TerminalStep["values"] {
  const { entities, fresh, written, step } = opened.at(i);
  if (step?.visit) return [];
  const values: TerminalStep["values"] = [];
  for (const [uid, path] of opened.names(i).paths) {
    const handle = findHandle(entities, uid);
    const storage = findEntity(entities, handle?.storage, "storage");
    if (!handle?.storage || !storage || path.startsWith(".")) continue;
    if (!fresh.has(handle.storage) && !written.has(handle.storage) && !fresh.has(uid)) continue;
    const cells = cellsReadBy(entities, handle);
    const shape = handle.shape ?? [];
    const name = shape.length > 1 ? `${path} (${shape.join("×")})` : path;
    if (cells) values.push({ name, text: numbersText(cells, shape.length === 0) });
    if (values.length >= MAX_VALUES_OF_STEP) break;
  }
  return values;
}
