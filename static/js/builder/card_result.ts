/** What a run says of a card: the result of its line at a step, in short. */

import { findEntity } from "../trace/entities.ts";
import { handleCardTexts } from "../layout/text/card_texts.ts";
import { tupleText } from "../trace/format.ts";
import { referencedUid } from "../trace/names.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { Step, Tensor } from "../trace/wire.ts";

export interface CardResult {
  step: number;
  /** the line runs only after the step */
  isAhead: boolean;
  /** shape, role, tracked: of the tensor that it made */
  shape?: string;
  role?: string;
  tracked?: boolean;
  /** of what it wrote */
  version?: number;
  /** names whose `.grad` it changed */
  grads?: string[];
  /** what it printed */
  text?: string;
  /** how often a head was entered */
  times?: number;
  /** of what is no tensor */
  type?: string;
}

const MAX_TEXT_CHARACTERS = 24;

/** The steps at each line, of statements and of heads; lines count from 1. */
export function stepsByLine({ trace }: OpenTrace): Map<number, number[]> {
  const stepsOf = new Map<number, number[]>();
  for (const { i, kind, line } of trace.steps) {
    if (kind === "call" || kind === "visit") continue;
    const lineSteps = stepsOf.get(line);
    if (lineSteps) lineSteps.push(i);
    else stepsOf.set(line, [i]);
  }
  return stepsOf;
}

/** The step at which a line ran last, up to a step; else the first of its `steps`. */
export function stepToShowForLine(steps: number[], currentStep: number) {
  return steps.findLast((i) => i <= currentStep) ?? steps[0];
}

/**
 * What a card says of its run. `steps` are those of its line; `boundNames` are the names that its statement binds or
 * writes.
 */
export function cardResult(
  opened: OpenTrace,
  steps: number[],
  currentStep: number,
  boundNames: string[],
  isHead: boolean,
): CardResult {
  const step = stepToShowForLine(steps, currentStep);
  const traceStep = opened.trace.steps[step];
  const fact = { step, isAhead: step > currentStep };
  if (isHead) return { ...fact, times: steps.filter((i) => opened.trace.steps[i].kind === "head").length };
  const entities = opened.state(step);
  const frame = findEntity(entities, traceStep.frame, "frame");
  const values = boundNames.map((name) => frame?.vars.get(name)).filter((value) => value !== undefined);
  const value = values.length ? values[0] : (traceStep.value ?? null);
  const tensor = findEntity(entities, referencedUid(value) ?? "", "tensor");
  const grads = namesOfAccumulatedGradients(opened, step);
  if (grads.length) return { ...fact, grads };
  if (tensor) return { ...fact, ...tensorResult(tensor, entities, traceStep) };
  const printed = traceStep.log.find((entry) => entry.kind === "out");
  if (printed && "text" in printed) return { ...fact, text: shortenedText(String(printed.text)) };
  const object = findEntity(entities, referencedUid(value) ?? "", "object");
  if (object)
    return {
      ...fact,
      type: `${object.type ?? ""}${object.len === undefined || object.len === null ? "" : ` · ${object.len}`}`,
    };
  if (typeof value === "number" || typeof value === "boolean") return { ...fact, text: shortenedText(String(value)) };
  return fact;
}

function tensorResult(tensor: Tensor, entities: Entities, traceStep: Step) {
  const { role, tracked } = handleCardTexts(tensor);
  const counter = findEntity(entities, tensor.counter, "counter");
  const bumped = traceStep.log.some(
    (entry) => entry.kind === "event" && entry.event === "version_bumped" && entry.counter === tensor.counter,
  );
  return {
    shape: tensor.shape ? tupleText(tensor.shape) : undefined,
    role,
    tracked,
    ...(bumped && counter && { version: counter.value }),
  };
}

/** The names of tensors whose gradients a statement's visits accumulated. */
function namesOfAccumulatedGradients(opened: OpenTrace, step: number): string[] {
  const { steps } = opened.trace;
  const { stmt } = steps[step];
  const uids = new Set<string>();
  for (let i = step; i >= 0 && steps[i].stmt === stmt && (i === step || steps[i].kind === "visit"); i--)
    for (const entry of steps[i].log)
      if (entry.kind === "event" && entry.event === "grad_accumulated") uids.add(entry.tensor);
  if (!uids.size) return [];
  const names = opened.names(step);
  return [...uids].map((uid) => names.tags.get(uid)?.[0]?.text ?? uid).reverse();
}

function shortenedText(text: string) {
  const line = text.trim().split("\n")[0];
  return line.length > MAX_TEXT_CHARACTERS ? `${line.slice(0, MAX_TEXT_CHARACTERS - 1)}…` : line;
}
