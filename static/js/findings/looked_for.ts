/**
 * What is said of a run in which nothing is wrong: what was looked for, with the counts of this run, and what was not.
 * No words.
 */

import type { Facts, LookedForName } from "./diagnosis.ts";
import type { Finding } from "./finding.ts";
import { parameterTable, type ParameterFate } from "./account/parameters.ts";
import { runCoverage } from "./account/run_coverage.ts";
import { isNonfiniteCell } from "./facts/cell_values.ts";
import { DIAGNOSES } from "./registry.ts";
import { RunFacts } from "./facts/run_facts.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Grad } from "../trace/wire.ts";

/** a sentence by its key in the locales */
interface KeyedSentence {
  key: string;
  facts: Facts;
}

export interface LookedFor {
  /** nothing is wrong, and no view shows anything as if it were */
  isCalm: boolean;
  line: KeyedSentence;
  /** what is not in order, though no finding is made of it */
  remarks: KeyedSentence[];
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
  look: (facts: RunFacts) => RowOutcome | null;
}

/** remark: the sentence of what is not in order, though no finding is made of it */
interface RowOutcome {
  facts: Facts;
  remark?: string;
}

/** What is looked for in every run. Kinds of findings of which a note would contradict a row name it as `lookedFor`. */
const ROWS: Row[] = [
  { name: "writes", look: keptTensors },
  { name: "cut", look: parametersWithGradient },
  { name: "optimizers", look: parametersHeld },
  { name: "modes", look: layersWithMode },
  { name: "numbers", look: finiteGradients },
  { name: "graphs", look: ({ backwardCalls }) => (backwardCalls.length ? { facts: {} } : null) },
  { name: "sharing", look: ({ backwardCalls }) => (backwardCalls.length ? null : { facts: {} }) },
];

/** What is not looked for by itself, and the option of the command by which it is. */
const NOT_LOOKED: { key: string; flag?: string }[] = [
  { key: "slopes", flag: "--check-gradients" },
  { key: "samples", flag: "--check-samples" },
  { key: "meaning" },
];

const WITHOUT_GRADIENT = new Set<ParameterFate>(["never_learns", "no_gradient_seen"]);

/**
 * Of a run whose findings are notes at most; null where one is an error or a warning, or tells of an error that was
 * caught, where the program raised, and where the run was stopped before any backward: nobody can say of a loop without
 * end that nothing is wrong.
 */
export function lookedForIn(opened: OpenTrace, findings: Finding[]): LookedFor | null {
  const isWrong = findings.some(({ kind, severity }) => severity !== "note" || kind === "caught_error");
  if (isWrong || !opened.count) return null;
  const facts = new RunFacts(opened);
  const { status } = facts.trace.outcome;
  if (status === "raised" || (status === "stopped" && !facts.backwardCalls.length)) return null;
  const noted = new Set(findings.map(({ kind }) => kind));
  const contradicted = new Set(DIAGNOSES.filter(({ kind }) => noted.has(kind)).map(({ lookedFor }) => lookedFor));
  const found = ROWS.flatMap(({ name, look }) => {
    const looked = contradicted.has(name) ? null : look(facts);
    return looked ? { name, ...looked } : [];
  });
  const sentence = (name: string, facts: Facts) => ({ key: `finding.looked_for.${name}`, facts });
  const remarks = found.flatMap(({ remark, facts }) => (remark ? sentence(remark, facts) : []));
  const isCalm = !findings.length && !remarks.length && status === "finished";
  return {
    isCalm,
    line: lineOf(facts, isCalm),
    remarks,
    rows: found.flatMap(({ name, remark, facts }) => (remark ? [] : sentence(name, facts))),
    notLooked: NOT_LOOKED.filter(({ key }) => facts.backwardCalls.length || key === "meaning").map(
      ({ key }) => `finding.looked_for.not_${key}`,
    ),
    flags: !facts.backwardCalls.length ? [] : NOT_LOOKED.flatMap(({ flag }) => flag ?? []),
  };
}

function lineOf(facts: RunFacts, isCalm: boolean): KeyedSentence {
  const coverage = runCoverage(facts);
  const { rounds, recordedRounds: seen, isThinned, mayHaveUnseenBackward, otherThreadsBackwards: threads } = coverage;
  const line = (name: string) => ({
    key: `finding.looked_for.${name}`,
    facts: { calm: isCalm ? 1 : 2, steps: facts.steps.length, seen, rounds, threads },
  });
  if (threads) return line("line_threads");
  if (!facts.backwardCalls.length) {
    if (rounds) return line("line_unseen");
    return line(mayHaveUnseenBackward ? "line_steps" : "line_no_backward");
  }
  if (rounds > seen) return line(seen ? "line_part" : "line_steps");
  if (facts.trace.outcome.status !== "finished") return line("line_steps");
  if (rounds > 1) return line("line");
  return line(isThinned ? "line_steps" : "line_no_loop");
}

/** How many tensors were kept for backward, and how many of them were changed since, which no backward minded. */
function keptTensors({ index }: RunFacts): RowOutcome | null {
  const changed = [...index.slots.values()].filter(({ stale, changed }) => stale !== null || changed !== null).length;
  if (changed) return { remark: "writes_unneeded", facts: { changed } };
  return index.slots.size ? { facts: { kept: index.slots.size } } : null;
}

/** How many tensors got a gradient, and how many did not that an optimizer holds. */
function parametersWithGradient(facts: RunFacts): RowOutcome | null {
  const got = new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor)).size;
  if (!got) return null;
  const none = parameterTable(facts.opened).filter(({ fate }) => WITHOUT_GRADIENT.has(fate)).length;
  return none ? { remark: "cut_part", facts: { n: got, none } } : { facts: { n: got } };
}

function parametersHeld(facts: RunFacts): RowOutcome | null {
  const last = facts.steps.length - 1;
  const held = facts.optimizers.map(({ uid, made }) => {
    const step = Math.max(made, Math.min(facts.index.lifetimes.get(uid)?.death ?? last, last));
    return { opt: facts.nameFact(uid, step), parameters: facts.parametersOf(uid, step) };
  });
  if (!held.length || held.some(({ parameters }) => !parameters.length)) return null;
  const parameters = new Set(held.flatMap((each) => each.parameters));
  const opts = [...new Map(held.map(({ opt }) => [JSON.stringify(opt), opt])).values()];
  return { facts: { opts, n: opts.length, held: parameters.size } };
}

/** How many calls of dropout and batch norm were compared with the mode of their modules. */
function layersWithMode(facts: RunFacts): RowOutcome | null {
  const calls = facts.eventsOfKind("layer_mode").length;
  return calls ? { facts: { calls } } : null;
}

/** How many gradients arrived, and how many of those that are listed are not finite, or that a loss is not. */
function finiteGradients(facts: RunFacts): RowOutcome | null {
  const arrived = facts.steps.filter(({ visit }) => visit?.accumulates);
  const isBroken = (grad: Grad | null) =>
    Boolean(grad?.cells?.some(isNonfiniteCell) || isNonfiniteCell(grad?.summary?.norm));
  const broken = arrived.filter(({ visit }) => visit?.grad_outputs.some(isBroken)).length;
  if (broken) return { remark: "numbers_some", facts: { broken } };
  const losses = facts.trace.rounds?.losses ?? [];
  if (losses.some(({ values }) => values.some(isNonfiniteCell))) return { remark: "numbers_loss", facts: {} };
  return arrived.length ? { facts: { arrived: arrived.length } } : null;
}
