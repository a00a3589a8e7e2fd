/** Which steps a film shows: those of the finding's chain, and of the others between them as many as tell the way. */

import { callDepthByStep } from "../trace/steps/stepping.ts";
import { landingStep } from "../trace/steps/landing.ts";
import { moduleListFactsOf } from "../nets/module_list_picture.ts";
import { stepOfOpenRow, openCallSiteOf } from "../nets/net_rows.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import type { LinkRole } from "../findings/finding.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Verdict } from "./verdict.ts";

export interface FilmStep {
  i: number;
  line: number;
  /** the line of the program */
  code: string;
  /** what it has to do with the finding; null where it lies on the way */
  link: { role: LinkRole; text: string } | null;
  isCause: boolean;
  isEffect: boolean;
}

const FEWEST = 6;
const MOST = 9;

/** Without a verdict, for a run without a finding, the film ends where its reader lands. */
export function filmSteps(opened: OpenTrace, verdict: Verdict | null): FilmStep[] {
  const { steps, program } = opened.trace;
  if (!steps.length) return [];
  const source = program.source.split("\n");
  const told = chainSteps(verdict);
  const chosen = verdict
    ? fillBetween(
        [...told.keys()].sort((a, b) => a - b),
        opened,
      )
    : pictureOfRun(opened) === "list"
      ? stepsOfRows(opened)
      : fillBetween([Math.max(0, landingStep(opened))], opened);
  return chosen.map((i) => ({
    i,
    line: steps[i].line,
    code: source[steps[i].line - 1]?.trim() ?? "",
    link: told.get(i) ?? null,
    isCause: i === verdict?.causeStep,
    isEffect: i === verdict?.effectStep,
  }));
}

/** The steps of the chain; of a long one its cause, its effect and the last before that. */
function chainSteps(verdict: Verdict | null) {
  const told = new Map<number, { role: LinkRole; text: string } | null>();
  if (!verdict) return told;
  const { chain, chainTexts, causeStep, effectStep } = verdict;
  const needed = new Set([causeStep, effectStep]);
  const others = chain.filter(({ step }) => !needed.has(step));
  for (const { step } of [...others.slice(0, 1), ...others.slice(1).slice(2 + needed.size - MOST)].slice(
    0,
    MOST - needed.size,
  ))
    needed.add(step);
  for (const step of needed) told.set(step, null);
  chain.forEach(({ step, role }, k) => {
    if (needed.has(step)) told.set(step, { role, text: chainTexts[k] });
  });
  return told;
}

/** Of a list: up to where its reader lands, or the last visit of a training's first backward, row by row. */
function stepsOfRows(opened: OpenTrace): number[] {
  const landing = Math.max(0, landingStep(opened));
  const facts = moduleListFactsOf(opened);
  const rows: number[] = [];
  let place = null;
  for (let i = 0; i < landing; i++) {
    if (stepOfOpenRow(facts, i) !== i || openCallSiteOf(facts, i) === place) continue;
    place = openCallSiteOf(facts, i);
    rows.push(i);
  }
  const count = Math.min(rows.length, MOST - 1);
  return [...Array.from({ length: count }, (_, k) => rows[Math.floor((k * rows.length) / count)]), landing];
}

/** The steps that are told, in order, and others: between the first and the last, then before and after. */
function fillBetween(told: number[], { trace: { steps } }: OpenTrace): number[] {
  const depths = callDepthByStep(steps);
  const chosen = new Set(told);
  const [first, last] = [told[0], told[told.length - 1]];
  const isOwn = (i: number) => steps[i].kind !== "begin" && !depths[i];
  const add = (candidates: number[]) => {
    const missing = FEWEST - chosen.size;
    if (missing <= 0 || !candidates.length) return;
    const every = Math.max(1, candidates.length / missing);
    for (let k = 0; k < candidates.length && chosen.size < FEWEST; k += every) chosen.add(candidates[Math.floor(k)]);
  };
  const range = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k).filter((i) => !chosen.has(i));
  add(range(first, last).filter(isOwn));
  add(range(first, last));
  add(
    range(Math.max(0, first - FEWEST), first)
      .filter(isOwn)
      .reverse()
      .slice(0, FEWEST - chosen.size),
  );
  add(range(last + 1, Math.min(steps.length, last + FEWEST)));
  return [...chosen].sort((a, b) => a - b);
}
