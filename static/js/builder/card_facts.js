/** What a run says of a card: the result of its line at a step, in short. */

import { find } from "../trace/entities.js";
import { handleCardText } from "../layout/card_texts.js";
import { tuple } from "../layout/format.js";
import { refOf } from "../trace/names.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {import("../trace/entities.js").Tensor} Tensor */
/** @typedef {{step: number, isAhead: boolean, shape?: string, role?: string, tracked?: boolean, version?: number, grads?: string[],
 *   text?: string, times?: number, type?: string}} CardFact
 *   isAhead: the line runs only after the step; shape, role, tracked: of the tensor that it made; version: of what it wrote; grads:
 *   names whose `.grad` it changed; text: what it printed; times: how often a head was entered; type: of what is no tensor */

const MAX_TEXT = 24;

/** The steps at each line, of statements and of heads. @param {OpenTrace} opened @returns {Map<number, number[]>} by line, from 1 */
export function stepsByLine({ trace }) {
  /** @type {Map<number, number[]>} */
  const stepsOf = new Map();
  for (const { i, kind, line } of trace.steps) {
    if (kind === "call" || kind === "visit") continue;
    const lineSteps = stepsOf.get(line);
    if (lineSteps) lineSteps.push(i);
    else stepsOf.set(line, [i]);
  }
  return stepsOf;
}

/** The step at which a line ran last, up to a step; else its first one. @param {number[]} steps of the line @param {number} currentStep */
export function stepOfLine(steps, currentStep) {
  return steps.findLast((i) => i <= currentStep) ?? steps[0];
}

/**
 * @param {OpenTrace} opened @param {number[]} steps those of the card's line @param {number} currentStep the step that is shown
 * @param {string[]} boundNames names that the statement binds or writes @param {boolean} isHead
 * @returns {CardFact}
 */
export function cardFact(opened, steps, currentStep, boundNames, isHead) {
  const step = stepOfLine(steps, currentStep);
  const traceStep = opened.trace.steps[step];
  const fact = { step, isAhead: step > currentStep };
  if (isHead) return { ...fact, times: steps.filter((i) => opened.trace.steps[i].kind === "head").length };
  const entities = opened.state(step);
  const frame = find(entities, traceStep.frame, "frame");
  const values = boundNames.map((name) => frame?.vars.get(name)).filter((value) => value !== undefined);
  const value = values.length ? values[0] : (traceStep.value ?? null);
  const tensor = find(entities, refOf(value) ?? "", "tensor");
  const grads = accumulatedNames(opened, step);
  if (grads.length) return { ...fact, grads };
  if (tensor) return { ...fact, ...tensorFact(tensor, entities, traceStep) };
  const printed = traceStep.log.find((entry) => entry.kind === "out");
  if (printed && "text" in printed) return { ...fact, text: shortened(String(printed.text)) };
  const object = find(entities, refOf(value) ?? "", "object");
  if (object)
    return {
      ...fact,
      type: `${object.type ?? ""}${object.len === undefined || object.len === null ? "" : ` · ${object.len}`}`,
    };
  if (typeof value === "number" || typeof value === "boolean") return { ...fact, text: shortened(String(value)) };
  return fact;
}

/** @param {Tensor} tensor @param {import("../trace/state.js").Entities} entities @param {import("../trace/wire.js").Step} traceStep */
function tensorFact(tensor, entities, traceStep) {
  const { role, tracked } = handleCardText(tensor);
  const counter = find(entities, tensor.counter, "counter");
  const bumped = traceStep.log.some(
    (entry) => entry.kind === "event" && entry.event === "version_bumped" && entry.counter === tensor.counter,
  );
  return {
    shape: tensor.shape ? tuple(tensor.shape) : undefined,
    role,
    tracked,
    ...(bumped && counter && { version: counter.value }),
  };
}

/** The names of tensors whose gradients a statement's visits accumulated. @param {OpenTrace} opened @param {number} step @returns {string[]} */
function accumulatedNames(opened, step) {
  const { steps } = opened.trace;
  const { stmt } = steps[step];
  /** @type {Set<string>} */
  const uids = new Set();
  for (let i = step; i >= 0 && steps[i].stmt === stmt && (i === step || steps[i].kind === "visit"); i--)
    for (const entry of steps[i].log)
      if (entry.kind === "event" && entry.event === "grad_accumulated") uids.add(entry.tensor);
  if (!uids.size) return [];
  const names = opened.names(step);
  return [...uids].map((uid) => names.tags.get(uid)?.[0]?.text ?? uid).reverse();
}

/** @param {string} text */
function shortened(text) {
  const line = text.trim().split("\n")[0];
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 1)}…` : line;
}
