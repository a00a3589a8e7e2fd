/** What is known of a place of the net over the whole run: its parameters, what it keeps, how often it ran. */

import { maxSeverity, severitiesOf } from "../../findings/severities.ts";
import { savedMemoryPeakOf } from "./saved_memory_peak.ts";
import { entityHistoryOf } from "../../trace/entity_history.ts";
import { findEntity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import { runCoverage } from "../../findings/account/run_coverage.ts";
import { parameterRunSummaries, type ParameterRunSummary } from "./parameters_of_run.ts";
import type { NetFacts } from "../net_state.ts";
import type { CallSite } from "../net_call_sites.ts";
import { GRAPH_CUT_OPERATIONS, type Invocation } from "../net_calls.ts";
import type { Severity } from "../../findings/finding.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

export interface CallSiteRunSummary {
  parameters: ParameterRunSummary | null;
  /** bytes, at the moment of the run at which most is kept */
  kept: number;
  /** in the recorded rounds */
  calls: number;
  /** whether other rounds may have called it as well */
  isAtLeast: boolean;
  /** it made nodes, and gradients came to some of them */
  hasNodes: boolean;
  isReturned: boolean;
  /** what it makes leaves its history behind in every run */
  isCutOff: boolean;
  tone: Severity | null;
}

export const factsOfRun = weakMemoize((facts: NetFacts): WholeRunFacts => new WholeRunFacts(facts));

export class WholeRunFacts {
  facts: NetFacts;
  places = new Map<CallSite, CallSiteRunSummary>();
  /** parameters that modules of the net have: a line that reads them has none of its own */
  ofModules = new Set<string>();

  coverage: ReturnType<typeof runCoverage>;

  constructor(facts: NetFacts) {
    this.facts = facts;
    this.coverage = runCoverage(parameterRunSummaries(facts.opened).account.table.facts);
    const visit = (place: CallSite) => {
      if (place.kind === "module") for (const uid of this.ofModule(place)) this.ofModules.add(uid);
      place.inner.forEach(visit);
    };
    facts.net.top.forEach(visit);
    const find = (place: CallSite) => {
      if (place.path !== null && this.ofPlace(place).isReturned && !this.trained.has(place.path))
        this.trained.set(place.path, place);
      place.inner.forEach(find);
    };
    facts.net.top.forEach(find);
  }

  waysOfData: { from: CallSite; to: CallSite }[] | null = null;

  /** Between places of which one made no node, the ways that only tensors tell. */
  get dataWays() {
    const { edges, flows, callSiteOfInvocation } = this.facts.net;
    if (this.waysOfData) return this.waysOfData;
    const known = new Set(edges.map(({ from, to }) => `${from.key} ${to.key}`));
    this.waysOfData = flows.flatMap((flow) => {
      const [from, to] = [callSiteOfInvocation.get(flow.from), callSiteOfInvocation.get(flow.to)];
      if (!from || !to || from.inner.length || to.inner.length || known.has(`${from.key} ${to.key}`)) return [];
      if (flow.from.nodes.length && flow.to.nodes.length) return [];
      known.add(`${from.key} ${to.key}`);
      return [{ from, to }];
    });
    return this.waysOfData;
  }

  /** Whether a statement lets an optimizer step. */
  isOptimizerStep({ units }: CallSite): boolean {
    const { steps } = this.facts.opened.trace;
    return units.some(
      ({ isStatement, begins, ends }) =>
        isStatement &&
        steps
          .slice(begins, ends + 1)
          .some(({ log }) => log.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped")),
    );
  }

  /** Of several places together, each parameter once. */
  of(places: CallSite[]): CallSiteRunSummary {
    const each = places.map((place) => this.ofPlace(place));
    if (each.length === 1) return each[0];
    const uids = new Set(each.flatMap(({ parameters }) => parameters?.uids ?? []));
    return {
      parameters: parameterRunSummaries(this.facts.opened).of([...uids]),
      kept: each.reduce((sum, { kept }) => sum + kept, 0),
      calls: Math.max(...each.map(({ calls }) => calls)),
      isAtLeast: each.some(({ isAtLeast }) => isAtLeast),
      hasNodes: each.some(({ hasNodes }) => hasNodes),
      isReturned: each.some(({ isReturned }) => isReturned),
      isCutOff: each.some(({ isCutOff }) => isCutOff),
      tone: maxSeverity(each.map(({ tone }) => tone ?? undefined)),
    };
  }

  ofPlace(place: CallSite): CallSiteRunSummary {
    let found = this.places.get(place);
    if (!found) {
      found = this.readPlace(place);
      this.places.set(place, found);
    }
    return found;
  }

  readPlace(place: CallSite): CallSiteRunSummary {
    const { facts } = this;
    const { opened } = facts;
    const parameters = parameterRunSummaries(opened).of(this.parametersOf(place));
    const nodes = new Set(place.units.flatMap((unit) => facts.nodes(unit)));
    const { byNode } = savedMemoryPeakOf(opened);
    const cut = severitiesOf(opened).ofCut.get(place.line);
    const isCut = this.isCutOff(place);
    return {
      parameters,
      kept: [...nodes].reduce((sum, node) => sum + (byNode.get(node) ?? 0), 0),
      calls: place.units.length,
      isCutOff: isCut,
      isAtLeast: this.isThinned(place),
      hasNodes: nodes.size > 0,
      isReturned: [...nodes].some((node) => (opened.index.visitStepsByNode.get(node) ?? []).length > 0),
      tone: maxSeverity([parameters?.tone ?? undefined, isCut ? cut : undefined]),
    };
  }

  /** Those of its module and of the modules in it, and those that it reads and no module has; in the modules' order. */
  parametersOf(place: CallSite): string[] {
    const own = this.ofModule(place);
    for (const uid of this.readBy(place)) if (!this.ofModules.has(uid)) own.add(uid);
    return [...parameterRunSummaries(this.facts.opened).moments.keys()].filter((uid) => own.has(uid));
  }

  /** by module and the end of a call */
  inModules = new Map<string, Set<string>>();

  /** The parameters that a module has as it runs last; those that it reads where no name led to it. */
  ofModule(place: CallSite): Set<string> {
    const unit = place.units.findLast(({ uid }) => uid);
    if (place.kind !== "module" || !unit?.uid) return new Set(place.kind === "module" ? this.readBy(place) : []);
    const key = `${unit.uid} ${unit.ends}`;
    const known = this.inModules.get(key);
    if (known) return known;
    const { moments } = parameterRunSummaries(this.facts.opened);
    const entities = entityHistoryOf(this.facts.opened).stateAfter(unit.ends);
    const modules = new Set([unit.uid]);
    const found = new Set<string>();
    for (const uid of modules) {
      const object = findEntity(entities, uid, "object");
      if (typeof object?.training !== "boolean") continue;
      for (const value of Object.values(object.attrs ?? {})) {
        const ref = referencedUid(value) ?? "";
        if (moments.has(ref)) found.add(ref);
        else if (ref[0] === "o") modules.add(ref);
      }
    }
    this.inModules.set(key, found);
    return found;
  }

  readBy({ units }: CallSite): string[] {
    const { nodes } = this.facts.opened.index;
    const { moments } = parameterRunSummaries(this.facts.opened);
    return units.flatMap((unit) =>
      this.facts.nodes(unit).flatMap((node) =>
        (nodes.get(node)?.next ?? []).flatMap((edge) => {
          const leaf = edge && nodes.get(edge[0])?.variable;
          return leaf && moments.has(leaf) ? [leaf] : [];
        }),
      ),
    );
  }

  /** Parameters of a module that no module in it has. */
  ownParametersOf(place: CallSite): string[] {
    const uids = this.ofPlace(place).parameters?.uids ?? [];
    const inner = new Set(
      place.inner.flatMap((part) => this.innerModules(part)).flatMap((part) => this.parametersOf(part)),
    );
    return uids.filter((uid) => !inner.has(uid));
  }

  innerModules(place: CallSite): CallSite[] {
    return place.kind === "module" ? [place] : place.inner.flatMap((part) => this.innerModules(part));
  }

  /** Places of modules at which gradients come, by the modules' paths. */
  trained = new Map<string, CallSite>();

  /**
   * Of a module that no gradient comes through here, as in an evaluation, where it is trained; of a function, the same
   * of the first module that it calls. Null where that is nowhere.
   */
  trainedElsewhere(place: CallSite): CallSite | null {
    const isModule = place.kind === "module";
    if (this.ofPlace(place).isReturned || (!isModule && place.kind !== "function")) return null;
    if (isModule) return this.trained.get(place.path ?? "") ?? null;
    const inner = place.inner.filter(({ kind }) => kind === "module").map((part) => this.trainedElsewhere(part));
    return inner.includes(null) ? null : (inner[0] ?? null);
  }

  /** Whether iterations that run a place may have been left out of the trace. */
  isThinned({ units }: CallSite): boolean {
    const isInLoop = (unit: Invocation | null): boolean =>
      unit !== null && (unit.iter.length > 0 || isInLoop(unit.parent));
    return units.some(isInLoop) && this.coverage.isThinned;
  }

  /** Whether what it makes leaves its history behind in every run. */
  isCutOff(place: CallSite): boolean {
    if (place.inner.length || (place.kind === "module" && place.units.some((unit) => unit.nodes.length))) return false;
    return new Set(this.cutsAt(place).map(({ step }) => step)).size >= place.units.length;
  }

  /** The lines at which the history of what a place makes is left behind, a cut for each run. */
  cutsAt({ units }: CallSite): { step: number; reason: string }[] {
    const { steps } = this.facts.opened.trace;
    return units.flatMap(({ begins, ends, stmt }) =>
      steps.slice(begins, ends + 1).flatMap((step) => {
        if (step.stmt !== stmt) return [];
        const events = (step.log ?? []).flatMap((entry) => (entry.kind === "event" ? [entry] : []));
        const cut = events.find((event) => event.event === "path_cut" && GRAPH_CUT_OPERATIONS.has(event.reason));
        return cut?.event === "path_cut" ? [{ step: step.i, reason: cut.reason }] : [];
      }),
    );
  }
}
