/**
 * Which runs have their gradients compared with finite differences without being asked: those with a second derivative,
 * or with repeated indices, where that costs little. No words.
 */

import { SHAPE_ONLY_OPERATIONS } from "./facts/dataflow.ts";
import type { BackwardCall, Operation } from "./facts/scan.ts";
import type { RunFacts } from "./facts/run_facts.ts";

export interface AutomaticCheck {
  reason: "second" | "repeated";
  /** what the reason is about: the call that created a graph, or the operation */
  line: number;
  /** which call of backward, from 0 */
  backward: number;
  /** false where a healthy program may have another gradient than the slope on purpose: then only agreement is told */
  tellsDifference: boolean;
  /** how many numbers are varied at most, and how many runs that takes */
  elements: number;
  runs: number;
  /** processor time on the server, at most */
  seconds: number;
}

/** Milliseconds of processor time that the check may take: as much as the server gives one. */
const MAX_CPU_MS = 3000;
const MAX_ELEMENTS = 24;
const MIN_ELEMENTS = 4;
/** Each number takes two runs, or four; before that, three find out what there is. */
const RUNS_OF_AN_ELEMENT = 4;
const FIRST_RUNS = 3;

/** Reads or writes where indices say, so that a place may be named twice. */
const USES_INDICES =
  /^(index_add|index_copy|index_reduce|scatter|scatter_add|scatter_reduce|index_put|_index_put_impl|embedding|embedding_bag|_embedding_bag)_?$/;

/** Operations whose backward is not the derivative on purpose, or that write into what would be varied. */
const NOT_THE_SLOPE_ON_PURPOSE = /^_?(fake_quantize|embedding_renorm)/;

/** Null where nothing of the kind is in the run, where it would cost more, and where the calls can't be counted. */
export function automaticCheck(facts: RunFacts): AutomaticCheck | null {
  if (facts.trace.outcome.status !== "finished") return null;
  const cost = costOfCheck(facts.trace.cost.cpu_ms);
  if (!cost) return null;
  const calls = facts.backwardCalls.filter(({ parent }) => !parent);
  for (const [backward, call] of calls.entries()) {
    const earlier = calls.slice(0, backward);
    const reason = call.createsGraph ? null : reasonToCheck(facts, earlier, call);
    if (!reason) continue;
    if (facts.steps.slice(0, call.step + 1).some(({ skipped }) => skipped)) return null;
    const isSlope = earlier.every(({ createsGraph }) => createsGraph) && shouldGradientEqualSlope(facts, call);
    return { ...reason, backward, tellsDifference: isSlope, ...cost };
  }
  return null;
}

/** The call differentiates what an earlier one computed, or its loss came after something with repeated indices. */
function reasonToCheck(facts: RunFacts, earlier: BackwardCall[], call: BackwardCall) {
  const second = earlier.find(({ createsGraph }) => createsGraph);
  if (second) return { reason: "second" as const, line: facts.place(second.step).line };
  for (const op of facts.scan.operationsNamed(USES_INDICES))
    if (op.step <= call.step && op.requires_grad.some(Boolean) && hasRepeatedIndices(facts, op))
      return { reason: "repeated" as const, line: facts.place(op.step).line };
  return null;
}

function hasRepeatedIndices(facts: RunFacts, { inputs, step }: { inputs: string[]; step: number }) {
  return inputs.some((uid) => {
    if (!/int(32|64)$/.test(facts.handle(uid, step)?.dtype ?? "")) return false;
    const indices = facts.numbersOf(uid, step);
    return indices !== null && new Set(indices).size < indices.length;
  });
}

/**
 * Whether nothing before the call makes its gradient another than the slope on purpose, as far as the trace tells: no
 * cut, no hook, no Function of the program's own (which is checked by itself), no row of padding.
 */
function shouldGradientEqualSlope(facts: RunFacts, call: BackwardCall) {
  if (facts.eventsOfKind("path_cut").some(({ step }) => step <= call.step)) return false;
  if (facts.eventsOfKind("hook_ran").some(({ step }) => step <= call.end)) return false;
  if (facts.scan.operationsNamed(NOT_THE_SLOPE_ON_PURPOSE).length) return false;
  for (const op of facts.scan.allOperations()) if (op.step <= call.step && losesHistory(facts, op)) return false;
  return [...facts.index.nodes].every(([uid, { name }]) => !isOnPurpose(facts, uid, name));
}

/** Whether numbers of a tensor that requires grad went into one that does not, as under `no_grad`. */
function losesHistory(facts: RunFacts, { name, inputs, outputs, requires_grad: required, step }: Operation) {
  if (facts.steps[step].visit || SHAPE_ONLY_OPERATIONS.test(name)) return false;
  if (outputs.every((_, k) => required[k] !== false)) return false;
  return inputs.some((uid) => !outputs.includes(uid) && facts.tensor(uid, step)?.requires_grad);
}

function isOnPurpose(facts: RunFacts, uid: string, name: string) {
  const { attrs, custom } = facts.scan.initialFields(uid) ?? {};
  const padding = attrs?.padding_idx;
  const hasPadding = /^Embedding/.test(name) && typeof padding === "number" && padding >= 0;
  return Boolean(custom) || hasPadding || attrs?.scale_grad_by_freq === true;
}

/** How much of a check there is time for; null where that is too little. */
function costOfCheck(cpuMs: number) {
  if (!cpuMs) return null;
  const affordable = Math.floor((MAX_CPU_MS / cpuMs - FIRST_RUNS) / RUNS_OF_AN_ELEMENT);
  const elements = Math.min(affordable, MAX_ELEMENTS);
  if (elements < MIN_ELEMENTS) return null;
  const runs = FIRST_RUNS + RUNS_OF_AN_ELEMENT * elements;
  return { elements, runs, seconds: Math.ceil((runs * cpuMs) / 100) / 10 };
}
