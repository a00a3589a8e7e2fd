/** Texts around the pictures: the opening step, a step's heading and sentences, the outcome, and the pictures' labels. */

import { LOOM_LABELS } from "../marks/loom_labels.js";
import { LABELS } from "../marks/labels.js";
import { notes } from "./notes.js";
import { hidesFuture } from "../trace/future.js";
import { EVENTS } from "../trace/registry.js";

const MAX_SENTENCES = 6;

/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {{text: string, tone: string, key?: string}} Sentence   key: of the note that it says */

/** The step that a reader is shown first: where it raised, else the first slot that broke, write or cut, else the last.
 * @param {Trace} trace @returns {number} -1 where there are no steps */
export function openingStep(trace) {
  const error = trace.outcome.error?.step;
  if (typeof error === "number" && error < trace.steps.length) return error;
  let best = { rank: Number.POSITIVE_INFINITY, step: trace.steps.length - 1 };
  trace.steps.forEach(({ log }, i) => {
    for (const entry of log) {
      const rank = entry.kind === "event" ? EVENTS[entry.event]?.opening : undefined;
      if (rank !== undefined && rank < best.rank) best = { rank, step: i };
    }
  });
  return best.step;
}

/** A step's number with its line and loop iteration (`at`), and the text of that line.
 * @param {Trace} trace @param {number} i @param {Say} say @returns {{at: string, line: string}} */
export function stepHeading(trace, i, say) {
  const traceStep = trace.steps[i];
  const iteration = traceStep.iter?.length ? ` [${traceStep.iter.join(", ")}]` : "";
  const line = trace.program.source.split("\n")[traceStep.line - 1]?.trim() ?? "";
  return {
    at: `${say("step_of", { i: i + 1, n: hidesFuture(trace) ? "?" : trace.steps.length })} · ${say("line", { line: traceStep.line })}${iteration}`,
    line,
  };
}

/** A step's number and its statement in one line; an empty program has a step whose line has no text.
 * @param {Trace} trace @param {number} i @param {Say} say */
export function stepTitle(trace, i, say) {
  const { at, line } = stepHeading(trace, i, say);
  return line ? `${at} · ${line}` : at;
}

/** A step's sentences, the gravest first.
 * @param {import("../trace/state.js").OpenTrace} opened @param {number} i @param {Say} say @returns {Sentence[]} */
export function sentences(opened, i, say) {
  const list = notes(opened, i);
  list.sort((a, b) => noteRank(a) - noteRank(b));
  return list
    .slice(0, MAX_SENTENCES)
    .map(({ key, args, tone }) => ({ text: say(key, args), tone: tone ?? "plain", key }));
}

/** @param {import("./notes.js").Note} note */
function noteRank(note) {
  return note.tone === "bad" ? 0 : note.tone === "cut" ? 2 : note.minor ? 3 : 1;
}

/** The sentence that says how a program ended. @param {Trace} trace @param {Say} say @returns {Sentence} */
export function outcomeSentence(trace, say) {
  const { status, error, stopped } = trace.outcome;
  let text = say(status);
  if (status === "raised" && error) text = say("raised", { type: error.type, message: error.message.split("\n")[0] });
  else if (status === "crashed") text = say("crashed", { message: error?.message ?? "" });
  else if (status === "stopped" && stopped) {
    const { limit, value } = stopped;
    const key = `stopped_${limit}`;
    text = say(say(key) === key ? "stopped_other" : key, { value, limit });
  }
  return { text, tone: status === "finished" ? "plain" : "bad" };
}

/** The stage's labels, those that the reader's language has. @param {Say} say @returns {Partial<import("../marks/labels.js").Labels>} */
export function stageLabels(say) {
  const labels = Object.keys(LABELS).map((key) => [key, say(`stage_${key}`)]);
  return Object.fromEntries(labels.filter(([key, text]) => text !== `stage_${key}`));
}

/** The loom's labels. @param {Say} say @returns {import("../marks/loom_labels.js").LoomLabels} */
export function loomLabels(say) {
  const labels = { ...LOOM_LABELS };
  for (const key of /** @type {(keyof typeof labels)[]} */ (Object.keys(labels))) labels[key] = say(`loom_${key}`);
  return labels;
}

/** The step at which a line runs next, from the beginning again where it does not; -1 where it never ran.
 * @param {import("../trace/wire.js").Step[]} steps @param {number} line @param {number} step */
export function nextStepAtLine(steps, line, step) {
  const laterStep = steps.findIndex((s, i) => i > step && s.line === line);
  return laterStep >= 0 ? laterStep : steps.findIndex((s) => s.line === line);
}
