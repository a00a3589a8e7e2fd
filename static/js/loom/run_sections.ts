/** A run in order of time: rounds, in them phases, in them what ran where. Built once for a run. */

import { loopsAround } from "../nets/net_rounds.ts";
import type { NetPlace } from "../nets/net_places.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { Unit } from "../nets/net_calls.ts";
import type { Visit } from "../trace/wire.ts";

/** Something that ran: by its innermost unit that has a place. */
interface Moment {
  step: number;
  unit: Unit;
  place: NetPlace;
  /** the parameter whose `.grad` was written */
  leaf: string | null;
}

/** again: what backward runs once more, since its results were not kept; step: an optimizer's */
export interface Phase {
  kind: "forward" | "again" | "backward" | "step";
  first: number;
  last: number;
  /** of the statement that is no part of the net */
  line: number;
  moments: Moment[];
}

export interface Section {
  /** of the net */
  stretch: number;
  /** its steps */
  first: number;
  last: number;
  phases: Phase[];
  round: Round | null;
}

interface Round {
  /** from 0: of the training's rounds, or as the program's loop counts where it goes on from round to round */
  number: number;
  /** null where the trace does not tell */
  total: number | null;
  /** rounds before it that were not recorded */
  missing: number;
}

/** The sections in which something of the net ran, in order. */
export function sectionsOf(facts: NetFacts): Section[] {
  const { opened, net } = facts;
  const bounds = new Map<number, [number, number]>();
  net.stretchOfStep.forEach((stretch, i) => {
    const known = bounds.get(stretch);
    if (known) known[1] = i;
    else bounds.set(stretch, [i, i]);
  });
  const sections = new Map<number, Section>();
  const lastVisits = lastVisitByBackward(facts);
  let running: string | null = null;
  opened.trace.steps.forEach((step, i) => {
    const before = running;
    running = step.visit?.backward ?? (running !== null && (lastVisits.get(running) ?? -1) > i ? running : null);
    for (const { kind, moments } of partsOfStep(facts, i, before !== null && running !== null)) {
      const stretch = net.stretchOfStep[i];
      let section = sections.get(stretch);
      if (!section) {
        const [first, last] = bounds.get(stretch) ?? [i, i];
        section = { stretch, first, last, phases: [], round: null };
        sections.set(stretch, section);
      }
      let phase = section.phases.at(-1);
      if (!phase || phase.kind !== kind || kind === "step") {
        if (!moments.length && kind !== "step") continue;
        phase = { kind, first: i, last: i, line: lineOutside(facts, i), moments: [] };
        section.phases.push(phase);
      }
      phase.last = i;
      phase.moments.push(...moments);
    }
  });
  const found = [...sections.values()].sort((a, b) => a.first - b.first);
  numberRounds(facts, found);
  return found;
}

function lastVisitByBackward({ opened }: NetFacts) {
  return new Map([...opened.index.visitsByBackward].map(([uid, visits]) => [uid, visits.at(-1)?.step ?? -1]));
}

/**
 * What a step did: a statement may run a net and the first node of its backward, a node may run a part of the net
 * again.
 */
function partsOfStep(facts: NetFacts, i: number, isInBackward: boolean): Pick<Phase, "kind" | "moments">[] {
  const { visit, log } = facts.opened.trace.steps[i];
  // what backward itself computes, for a graph of the gradients, is no forward
  const hasForward = !visit || log?.some((entry) => entry.kind === "event" && entry.event === "module_called");
  const ran = hasForward ? momentsOf(facts, i, facts.net.touched.get(i) ?? [], null) : [];
  const parts: Pick<Phase, "kind" | "moments">[] = [];
  if (ran.length) parts.push({ kind: isInBackward ? "again" : "forward", moments: ran });
  if (visit) parts.push({ kind: "backward", moments: momentsOf(facts, i, facts.touchedAt(i), visit) });
  if (log?.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped"))
    parts.push({ kind: "step", moments: [] });
  return parts;
}

function momentsOf(facts: NetFacts, i: number, units: Unit[], visit: Visit | null): Moment[] {
  return units.flatMap((unit) => {
    let outer: Unit | null = unit;
    while (outer && !facts.net.placeOfUnit.has(outer)) outer = outer.parent;
    const place = outer && facts.net.placeOfUnit.get(outer);
    if (!outer || !place?.key) return [];
    return [{ step: i, unit: outer, place, leaf: visit?.accumulates ?? null }];
  });
}

/** The line of the statement that a step runs in, outside of the net. */
function lineOutside({ opened, net }: NetFacts, i: number): number {
  let step = opened.trace.steps[i];
  for (let frame = net.frames.get(step.frame ?? ""); frame?.site; frame = net.frames.get(step.frame ?? "")) {
    let unit: Unit | null = frame.unit;
    while (unit && !net.placeOfUnit.get(unit)?.key) unit = unit.parent;
    if (!unit) break;
    step = frame.site;
  }
  return step.line;
}

function numberRounds({ opened, net }: NetFacts, sections: Section[]) {
  const { trace } = opened;
  const byLoop = new Map<number, Section[]>();
  for (const section of sections) {
    const loop = net.loopOfStretch[section.stretch];
    if (loop !== null) byLoop.set(loop, [...(byLoop.get(loop) ?? []), section]);
  }
  const isThinned = trace.steps.some(({ skipped }) => skipped);
  for (const [loop, rounds] of byLoop) {
    const ofTraining = rounds.map(({ first, last }) => onlyRoundIn(trace, first, last));
    const ofLoop = rounds.map(({ first, last }) => iterationIn(trace, loop, first, last));
    const isTold = isRising(ofTraining);
    const counts = isTold ? ofTraining : isThinned && isRising(ofLoop) ? ofLoop : rounds.map((_, k) => k);
    const total = isTold ? (trace.rounds?.count ?? null) : isThinned ? null : rounds.length;
    let before = -1;
    rounds.forEach((section, k) => {
      const number = counts[k] ?? k;
      section.round = { number, total, missing: number - before - 1 };
      before = number;
    });
  }
}

const isRising = (counts: (number | null)[]) =>
  counts.every((count, k) => count !== null && (k === 0 || count > (counts[k - 1] ?? count)));

/** The round of a training that ended within some steps; null where there is none, or another too. */
function onlyRoundIn({ rounds }: NetFacts["opened"]["trace"], first: number, last: number): number | null {
  const ended = (rounds?.recorded ?? []).filter(({ end }) => first <= end && end <= last);
  return ended.length === 1 ? ended[0].n : null;
}

/** The count from 0 of a loop in the first of some steps that tells it. */
function iterationIn(
  { steps, program }: NetFacts["opened"]["trace"],
  loop: number,
  first: number,
  last: number,
): number | null {
  for (let i = first; i <= last; i++) {
    const { stmt, iter = [] } = steps[i];
    const loops = loopsAround(program.statements ?? [], stmt ?? null);
    if (stmt === loop) loops.push(loop);
    const at = loops.indexOf(loop);
    if (at >= 0 && at < (iter ?? []).length) return (iter ?? [])[at];
  }
  return null;
}
