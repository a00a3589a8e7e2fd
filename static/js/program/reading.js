/** A run for reading in a terminal: how it ended, what is said of its lines, and of each step its sentences, values and output. */

import { generalNotices, messages } from "./messages.js";
import { outcomeSentence, sentences } from "../captions/captions.js";
import { find, findHandle } from "../trace/entities.js";
import { cellsRead, numbersText } from "../findings/numbers.js";
import { locale } from "../words/locale.js";
import { openTrace } from "../trace/state.js";

/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {import("../captions/captions.js").Sentence} Sentence */
/**
 * @typedef {{line: number, depth: number, code: string, iteration: (number | string)[], sentences: Sentence[],
 *   values: {name: string, text: string}[], printed: string}} StepReading   values: of the names whose memory the step made or
 *   wrote; code: empty where the program is over
 * @typedef {{verdict: Sentence & {line: number | null}, remarks: {line: number | null, text: string, gloss: string}[],
 *   steps: StepReading[]}} Reading   remarks: on lines of the program, or on the whole of it; gloss: what a message means
 */

const MAX_VALUES = 4;

/** @param {Trace} trace @param {string} language @returns {Reading} */
export function readingOf(trace, language) {
  const { say } = locale(language);
  const opened = openTrace(trace);
  const { error, stopped } = trace.outcome;
  return {
    verdict: { ...outcomeSentence(trace, say), line: error?.line ?? stopped?.line ?? null },
    remarks: remarksOf(trace, say),
    steps: trace.steps.map((_, i) => stepReading(opened, i, say)),
  };
}

/** What stands under lines of the program in the page; of the error that is the verdict only what it means.
 * @param {Trace} trace @param {import("../words/locale.js").Locale["say"]} say @returns {Reading["remarks"]} */
function remarksOf(trace, say) {
  const { error } = trace.outcome;
  const verdictText = error && !error.refusals?.length ? `${error.type}: ${error.message}` : say("stopped_here");
  const onLines = messages(trace, say, () => {}).map(({ line, text, gloss = "" }) => ({
    line,
    text: text === verdictText ? "" : text,
    gloss,
  }));
  const generalText = generalNotices(trace, say);
  return [...(generalText ? [{ line: null, text: generalText, gloss: "" }] : []), ...onLines].filter(
    ({ text, gloss }) => text || gloss,
  );
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {number} i @param {import("../words/locale.js").Locale["say"]} say
 * @returns {StepReading} */
function stepReading(opened, i, say) {
  const { steps, program } = opened.trace;
  const { line, depth, kind, iter, log } = steps[i];
  const printed = log.flatMap((entry) => (entry.kind === "out" ? [entry.text] : []));
  return {
    line,
    depth,
    code: kind === "end" ? "" : (program.source.split("\n")[line - 1]?.trim() ?? ""),
    iteration: iter ?? [],
    sentences: sentences(opened, i, say)
      .filter(({ key }) => !key?.startsWith("prints")) // the output itself stands there
      .map(({ text, tone }) => ({ text, tone })),
    values: valuesAt(opened, i),
    printed: printed.join(""),
  };
}

/** The numbers of the named tensors whose memory a step made or wrote; of a step of the engine its sentence says them.
 * @param {import("../trace/state.js").OpenTrace} opened @param {number} i @returns {StepReading["values"]} */
function valuesAt(opened, i) {
  const { entities, fresh, written, step } = opened.at(i);
  if (step?.visit) return [];
  /** @type {StepReading["values"]} */
  const values = [];
  for (const [uid, path] of opened.names(i).paths) {
    const handle = findHandle(entities, uid);
    const storage = find(entities, handle?.storage, "storage");
    if (!handle?.storage || !storage || path.startsWith(".")) continue;
    if (!fresh.has(handle.storage) && !written.has(handle.storage) && !fresh.has(uid)) continue;
    const cells = cellsRead(entities, handle);
    const shape = handle.shape ?? [];
    const name = shape.length > 1 ? `${path} (${shape.join("×")})` : path;
    if (cells) values.push({ name, text: numbersText(cells, shape.length === 0) });
    if (values.length >= MAX_VALUES) break;
  }
  return values;
}
