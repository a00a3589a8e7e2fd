/**
 * What is said of a run in which nothing is wrong: what was looked for, with the counts of this run, and what was not.
 * No words.
 */

import { isNonfiniteCell } from "./facts/cell_values.ts";
import { optimizerParameters, optimizersOf } from "./facts/optimizers.ts";
import { DIAGNOSES } from "./registry.ts";
import { RunFacts } from "./facts/run_facts.ts";
import type { LookedForName } from "./diagnosis_row.ts";
import type { Facts, Finding } from "./finding.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Delta, Step } from "../trace/wire.ts";

/** a sentence by its key in the locales */
interface KeyedSentence {
  key: string;
  facts: Facts;
}

export interface LookedFor {
  line: KeyedSentence;
  /** what was looked for; a thing that was not looked at is not among them */
  rows: KeyedSentence[];
  /** the keys of what was not */
  notLooked: string[];
  /** the command's options for checks that cost more */
  flags: string[];
}

interface Row {
  name: LookedForName;
  /** what was found to be in order; null where there was nothing to look at */
  look: (facts: RunFacts) => Facts | null;
}

/** What is looked for in every run. Kinds of findings of which a note would contradict a row name it as `lookedFor`. */
const ROWS: Row[] = [
  { name: "writes", look: keptTensors },
  { name: "cut", look: parametersWithGradient },
  { name: "optimizers", look: parametersHeld },
  { name: "modes", look: layersWithMode },
  { name: "numbers", look: finiteGradients },
  { name: "graphs", look: ({ backwardCalls }) => (backwardCalls.length ? {} : null) },
  { name: "sharing", look: ({ backwardCalls }) => (backwardCalls.length ? null : {}) },
];

/** What is not looked for by itself, and the option of the command by which it is. */
const NOT_LOOKED: { key: string; flag?: string }[] = [
  { key: "slopes", flag: "--check-gradients" },
  { key: "samples", flag: "--check-samples" },
  { key: "meaning" },
];

/**
 * Of a run whose findings are notes at most; null where one is an error or a warning, or tells of an error that was
 * caught, and where the run was stopped before any backward: nobody can say of a loop without end that nothing is
 * wrong.
 */
export function lookedForIn(opened: OpenTrace, findings: Finding[]): LookedFor | null {
  const isWrong = findings.some(({ kind, severity }) => severity !== "note" || kind === "caught_error");
  if (isWrong || !opened.count) return null;
  const facts = new RunFacts(opened);
  if (facts.trace.outcome.status === "stopped" && !facts.backwardCalls.length) return null;
  const noted = new Set(findings.map(({ kind }) => kind));
  const contradicted = new Set(DIAGNOSES.filter(({ kind }) => noted.has(kind)).map(({ lookedFor }) => lookedFor));
  const rows = ROWS.flatMap(({ name, look }) => {
    const found = contradicted.has(name) ? null : look(facts);
    return found ? [{ key: `finding.looked_for.${name}`, facts: found }] : [];
  });
  return {
    line: lineOf(facts),
    rows,
    notLooked: NOT_LOOKED.filter(({ key }) => facts.backwardCalls.length || key === "meaning").map(
      ({ key }) => `finding.looked_for.not_${key}`,
    ),
    flags: !facts.backwardCalls.length ? [] : NOT_LOOKED.flatMap(({ flag }) => flag ?? []),
  };
}

function lineOf(facts: RunFacts): KeyedSentence {
  const steps = facts.steps.length;
  const hasFinished = facts.trace.outcome.status === "finished";
  if (!facts.backwardCalls.length) {
    const isKnown = hasFinished && !mayHaveRunBackwardUnrecorded(facts);
    return { key: `finding.looked_for.${isKnown ? "line_no_backward" : "line_steps"}`, facts: { steps } };
  }
  const { seen, rounds } = roundsOf(facts);
  const isPart = rounds > seen || wasTrainedUnrecorded(facts);
  if (seen > 1 && isPart) return { key: "finding.looked_for.line_part", facts: { seen } };
  if (!hasFinished || isPart) return { key: "finding.looked_for.line_steps", facts: { steps } };
  if (seen > 1) return { key: "finding.looked_for.line", facts: { rounds } };
  return { key: "finding.looked_for.line_no_loop", facts: { steps } };
}

/**
 * Of the innermost loop of the program that runs backward: the iterations that were recorded, and how many there were.
 */
function roundsOf(facts: RunFacts): { seen: number; rounds: number } {
  const [{ step }] = facts.backwardCalls;
  const loop = enclosingHeadStep(facts, step);
  if (loop < 0) return { seen: 0, rounds: 0 };
  const isHead = (step: Step) => step.kind === "head" && step.stmt === facts.steps[loop].stmt && !endsLoop(step);
  const heads = facts.steps.filter(isHead);
  const last = Math.max(...heads.map(({ iter }) => iter?.at(-1) ?? 0));
  const isOnce = heads.every(({ iter }) => (iter?.length ?? 0) <= 1);
  return { seen: heads.length, rounds: isOnce ? Math.max(last + 1, heads.length) : heads.length };
}

/**
 * Whether a backward may have run that is not in the trace: in iterations that were not recorded, or in another thread,
 * of which only the gradients show.
 */
function mayHaveRunBackwardUnrecorded(facts: RunFacts): boolean {
  const hasGradient = (fields: Delta) =>
    fields.kind === "tensor" || fields.kind === undefined ? Boolean(fields.grad) : false;
  return facts.steps.some(
    ({ skipped, set, kind }) => skipped || (kind !== "begin" && Object.values(set ?? {}).some(hasGradient)),
  );
}

/** Whether iterations of a loop around the first backward, or around a call that it is in, were not recorded. */
function wasTrainedUnrecorded(facts: RunFacts): boolean {
  if ([...optimizersOf(facts).values()].some(({ unrecorded }) => unrecorded > 0)) return true;
  const loops = new Set<number | null | undefined>();
  let head = enclosingHeadStep(facts, facts.backwardCalls[0].step);
  for (; head >= 0; head = enclosingHeadStep(facts, head)) loops.add(facts.steps[head].stmt);
  return facts.steps.some(({ kind, skipped, stmt }) => skipped && kind !== "visit" && loops.has(stmt));
}

/** The head of the innermost loop around a step, or around the call of its function; -1 where there is none. */
function enclosingHeadStep(facts: RunFacts, step: number) {
  const statements = facts.trace.program.statements ?? [];
  let at = step;
  while (at >= 0) {
    const { stmt, frame } = facts.steps[at];
    const loop = statements[stmt ?? -1]?.loop ?? null;
    const head = (each: Step) => each.kind === "head" && each.stmt === loop && each.frame === frame;
    const found = loop === null ? -1 : facts.steps.findLastIndex((each, k) => k <= at && head(each));
    if (found >= 0) return found;
    const begin = facts.steps.findIndex((each) => each.frame === frame);
    at = facts.steps[begin - 1]?.kind === "call" ? begin - 1 : -1;
  }
  return -1;
}

/** Whether a loop's test ended it: a `while` whose condition did not hold. */
function endsLoop({ value }: Step) {
  return value === false || value === 0;
}

/** How many tensors were kept for backward, where none of them was changed. */
function keptTensors({ index }: RunFacts): Facts | null {
  const isBroken = ["saved_stale", "saved_changed_silently", "saved_detached"].some((name) =>
    index.eventPlacesByName.has(name),
  );
  return index.slots.size && !isBroken ? { kept: index.slots.size } : null;
}

/** How many parameters got a gradient, where all of those did whose gradients were asked for. */
function parametersWithGradient(facts: RunFacts): Facts | null {
  const got = new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor));
  return got.size ? { n: got.size } : null;
}

function parametersHeld(facts: RunFacts): Facts | null {
  const last = facts.steps.length - 1;
  const held = [...optimizersOf(facts).values()].map(({ uid, made }) => {
    const step = Math.max(made, Math.min(facts.index.lifetimes.get(uid)?.death ?? last, last));
    return { opt: facts.nameFact(uid, step), parameters: optimizerParameters(facts, uid, step) };
  });
  if (!held.length || held.some(({ parameters }) => !parameters.length)) return null;
  const parameters = new Set(held.flatMap((each) => each.parameters));
  const opts = [...new Map(held.map(({ opt }) => [JSON.stringify(opt), opt])).values()];
  return { opts, n: opts.length, held: parameters.size };
}

/** How many calls of dropout and batch norm were compared with the mode of their modules. */
function layersWithMode(facts: RunFacts): Facts | null {
  const calls = facts.eventsOfKind("layer_mode").length;
  return calls ? { calls } : null;
}

/** How many gradients arrived, where all that are listed are finite. */
function finiteGradients(facts: RunFacts): Facts | null {
  const arrived = facts.steps.filter(({ visit }) => visit?.accumulates);
  const areFinite = arrived.every(({ visit }) =>
    visit?.grad_outputs.every((grad) => !grad?.cells?.some(isNonfiniteCell)),
  );
  return arrived.length && areFinite ? { arrived: arrived.length } : null;
}
