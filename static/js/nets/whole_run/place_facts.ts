/** What is known of a place of the net over the whole run: its parameters, what it keeps, how often it ran. */

import { gravest, tonesOf } from "../../findings/tones.ts";
import { keptPeakOf } from "./kept_at_peak.ts";
import { parameterUidsOf } from "./place_parameters.ts";
import { runOfParameters, type ParametersOfRun } from "./parameters_of_run.ts";
import type { NetFacts } from "../net_state.ts";
import type { NetPlace } from "../net_places.ts";
import type { Severity } from "../../findings/finding.ts";

export interface PlaceOfRun {
  parameters: ParametersOfRun | null;
  /** bytes, at the moment of the run at which most is kept */
  kept: number;
  /** in the recorded rounds */
  calls: number;
  /** whether other rounds may have called it as well */
  isAtLeast: boolean;
  /** it made nodes, and gradients came to some of them */
  hasNodes: boolean;
  isReturned: boolean;
  tone: Severity | null;
}

const factsByNet = new WeakMap<NetFacts, FactsOfRun>();

export function factsOfRun(facts: NetFacts): FactsOfRun {
  let found = factsByNet.get(facts);
  if (!found) {
    found = new FactsOfRun(facts);
    factsByNet.set(facts, found);
  }
  return found;
}

export class FactsOfRun {
  facts: NetFacts;
  places = new Map<NetPlace, PlaceOfRun>();
  /** parameters that modules of the net have: a line that reads them has none of its own */
  ofModules = new Set<string>();

  constructor(facts: NetFacts) {
    this.facts = facts;
    const visit = (place: NetPlace) => {
      if (place.kind === "module") for (const uid of parameterUidsOf(facts, [place])) this.ofModules.add(uid);
      else place.inner.forEach(visit);
    };
    facts.net.top.forEach(visit);
  }

  /** Of several places together, each parameter once. */
  of(places: NetPlace[]): PlaceOfRun {
    const each = places.map((place) => this.ofPlace(place));
    if (each.length === 1) return each[0];
    const uids = new Set(each.flatMap(({ parameters }) => parameters?.uids ?? []));
    return {
      parameters: runOfParameters(this.facts.opened).of([...uids]),
      kept: each.reduce((sum, { kept }) => sum + kept, 0),
      calls: Math.max(...each.map(({ calls }) => calls)),
      isAtLeast: each.some(({ isAtLeast }) => isAtLeast),
      hasNodes: each.some(({ hasNodes }) => hasNodes),
      isReturned: each.some(({ isReturned }) => isReturned),
      tone: gravest(each.map(({ tone }) => tone ?? undefined)),
    };
  }

  ofPlace(place: NetPlace): PlaceOfRun {
    let found = this.places.get(place);
    if (!found) {
      found = this.readPlace(place);
      this.places.set(place, found);
    }
    return found;
  }

  readPlace(place: NetPlace): PlaceOfRun {
    const { facts } = this;
    const { opened } = facts;
    const parameters = runOfParameters(opened).of(this.parametersOf(place));
    const nodes = new Set(place.units.flatMap((unit) => facts.nodes(unit)));
    const { byNode } = keptPeakOf(opened);
    const cut = tonesOf(opened).ofCut.get(place.line);
    const isCut = place.kind === "line" && this.cutsAt(place).length > 0;
    return {
      parameters,
      kept: [...nodes].reduce((sum, node) => sum + (byNode.get(node) ?? 0), 0),
      calls: this.callsOf(place),
      isAtLeast: this.isThinned(place),
      hasNodes: nodes.size > 0,
      isReturned: [...nodes].some((node) => (opened.index.visitStepsByNode.get(node) ?? []).length > 0),
      tone: gravest([parameters?.tone ?? undefined, isCut ? cut : undefined]),
    };
  }

  /** In the order in which modules have them. */
  parametersOf(place: NetPlace): string[] {
    const all = parameterUidsOf(this.facts, [place]);
    const own = place.kind === "module" ? all : all.filter((uid) => !this.ofModules.has(uid));
    const { moments } = runOfParameters(this.facts.opened);
    return [...moments.keys()].filter((uid) => own.includes(uid));
  }

  /** Parameters of a module that no module in it has. */
  ownParametersOf(place: NetPlace): string[] {
    const uids = place.kind === "module" ? this.parametersOf(place) : (this.ofPlace(place).parameters?.uids ?? []);
    const inner = new Set(
      place.inner.flatMap((part) => this.innerModules(part)).flatMap((part) => this.parametersOf(part)),
    );
    return uids.filter((uid) => !inner.has(uid));
  }

  innerModules(place: NetPlace): NetPlace[] {
    return place.kind === "module" ? [place] : place.inner.flatMap((part) => this.innerModules(part));
  }

  /** Of a statement, its runs: a backward is one, though it has a step for each node. */
  callsOf(place: NetPlace): number {
    return place.units.length;
  }

  /** Whether iterations that run a place were left out of the trace. */
  isThinned({ units }: NetPlace): boolean {
    const { net, opened } = this.facts;
    const { count = 0, recorded = [] } = opened.trace.rounds ?? {};
    const isInRound = units.some(({ begins }) => net.loopOfStretch[net.stretchOfStep[begins]] !== null);
    return isInRound && count > recorded.length;
  }

  /** The lines at which the history of what a place makes is left behind, a cut for each run. */
  cutsAt({ units }: NetPlace): { step: number; reason: string }[] {
    const { steps } = this.facts.opened.trace;
    return units.flatMap(({ begins, ends, stmt }) =>
      steps.slice(begins, ends + 1).flatMap((step) => {
        const cut =
          step.stmt === stmt && step.log?.find((entry) => entry.kind === "event" && entry.event === "path_cut");
        return cut && "reason" in cut ? [{ step: step.i, reason: String(cut.reason) }] : [];
      }),
    );
  }
}
