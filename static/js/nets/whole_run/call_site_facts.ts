/** What is known of a call site of the net over the whole run: its parameters, what it keeps, how often it ran. */

import { maxSeverity, severitiesOf } from "../../findings/severities.ts";
import { savedBytesAtPeakOf } from "./saved_memory_peak.ts";
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
  summaries = new Map<CallSite, CallSiteRunSummary>();
  /** parameters that modules of the net have: a line that reads them has none of its own */
  ofModules = new Set<string>();

  coverage: ReturnType<typeof runCoverage>;

  constructor(facts: NetFacts) {
    this.facts = facts;
    this.coverage = runCoverage(parameterRunSummaries(facts.opened).account.table.facts);
    const visit = (callSite: CallSite) => {
      if (callSite.kind === "module") for (const uid of this.ofModule(callSite)) this.ofModules.add(uid);
      callSite.inner.forEach(visit);
    };
    facts.net.top.forEach(visit);
    const find = (callSite: CallSite) => {
      if (callSite.path !== null && this.ofCallSite(callSite).isReturned && !this.trained.has(callSite.path))
        this.trained.set(callSite.path, callSite);
      callSite.inner.forEach(find);
    };
    facts.net.top.forEach(find);
  }

  waysOfData: { from: CallSite; to: CallSite }[] | null = null;

  /** Between call sites of which one made no node, the ways that only tensors tell. */
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
  isOptimizerStep({ invocations }: CallSite): boolean {
    const { steps } = this.facts.opened.trace;
    return invocations.some(
      ({ isStatement, begins, ends }) =>
        isStatement &&
        steps
          .slice(begins, ends + 1)
          .some(({ log }) => log.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped")),
    );
  }

  /** Of several call sites together, each parameter once. */
  of(callSites: CallSite[]): CallSiteRunSummary {
    const each = callSites.map((callSite) => this.ofCallSite(callSite));
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

  ofCallSite(callSite: CallSite): CallSiteRunSummary {
    let found = this.summaries.get(callSite);
    if (!found) {
      found = this.readCallSite(callSite);
      this.summaries.set(callSite, found);
    }
    return found;
  }

  readCallSite(callSite: CallSite): CallSiteRunSummary {
    const { facts } = this;
    const { opened } = facts;
    const parameters = parameterRunSummaries(opened).of(this.parametersOf(callSite));
    const nodes = new Set(callSite.invocations.flatMap((invocation) => facts.nodes(invocation)));
    const bytesByNode = savedBytesAtPeakOf(opened);
    const cut = severitiesOf(opened).ofCut.get(callSite.line);
    const isCut = this.isCutOff(callSite);
    return {
      parameters,
      kept: [...nodes].reduce((sum, node) => sum + (bytesByNode.get(node) ?? 0), 0),
      calls: callSite.invocations.length,
      isCutOff: isCut,
      isAtLeast: this.isThinned(callSite),
      hasNodes: nodes.size > 0,
      isReturned: [...nodes].some((node) => (opened.index.visitStepsByNode.get(node) ?? []).length > 0),
      tone: maxSeverity([parameters?.tone ?? undefined, isCut ? cut : undefined]),
    };
  }

  /** Those of its module and of the modules in it, and those that it reads and no module has; in the modules' order. */
  parametersOf(callSite: CallSite): string[] {
    const own = this.ofModule(callSite);
    for (const uid of this.readBy(callSite)) if (!this.ofModules.has(uid)) own.add(uid);
    return [...parameterRunSummaries(this.facts.opened).moments.keys()].filter((uid) => own.has(uid));
  }

  /** by module and the end of a call */
  inModules = new Map<string, Set<string>>();

  /** The parameters that a module has as it runs last; those that it reads where no name led to it. */
  ofModule(callSite: CallSite): Set<string> {
    const invocation = callSite.invocations.findLast(({ uid }) => uid);
    if (callSite.kind !== "module" || !invocation?.uid)
      return new Set(callSite.kind === "module" ? this.readBy(callSite) : []);
    const key = `${invocation.uid} ${invocation.ends}`;
    const known = this.inModules.get(key);
    if (known) return known;
    const { moments } = parameterRunSummaries(this.facts.opened);
    const entities = entityHistoryOf(this.facts.opened).stateAfter(invocation.ends);
    const modules = new Set([invocation.uid]);
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

  readBy({ invocations }: CallSite): string[] {
    const { nodes } = this.facts.opened.index;
    const { moments } = parameterRunSummaries(this.facts.opened);
    return invocations.flatMap((invocation) =>
      this.facts.nodes(invocation).flatMap((node) =>
        (nodes.get(node)?.next ?? []).flatMap((edge) => {
          const leaf = edge && nodes.get(edge[0])?.variable;
          return leaf && moments.has(leaf) ? [leaf] : [];
        }),
      ),
    );
  }

  /** Parameters of a module that no module in it has. */
  ownParametersOf(callSite: CallSite): string[] {
    const uids = this.ofCallSite(callSite).parameters?.uids ?? [];
    const inner = new Set(
      callSite.inner.flatMap((part) => this.innerModules(part)).flatMap((part) => this.parametersOf(part)),
    );
    return uids.filter((uid) => !inner.has(uid));
  }

  innerModules(callSite: CallSite): CallSite[] {
    return callSite.kind === "module" ? [callSite] : callSite.inner.flatMap((part) => this.innerModules(part));
  }

  /** Places of modules at which gradients come, by the modules' paths. */
  trained = new Map<string, CallSite>();

  /**
   * Of a module that no gradient comes through here, as in an evaluation, where it is trained; of a function, the same
   * of the first module that it calls. Null where that is nowhere.
   */
  trainedElsewhere(callSite: CallSite): CallSite | null {
    const isModule = callSite.kind === "module";
    if (this.ofCallSite(callSite).isReturned || (!isModule && callSite.kind !== "function")) return null;
    if (isModule) return this.trained.get(callSite.path ?? "") ?? null;
    const inner = callSite.inner.filter(({ kind }) => kind === "module").map((part) => this.trainedElsewhere(part));
    return inner.includes(null) ? null : (inner[0] ?? null);
  }

  /** Whether iterations that run a call site may have been left out of the trace. */
  isThinned({ invocations }: CallSite): boolean {
    const isInLoop = (invocation: Invocation | null): boolean =>
      invocation !== null && (invocation.iter.length > 0 || isInLoop(invocation.parent));
    return invocations.some(isInLoop) && this.coverage.isThinned;
  }

  /** Whether what it makes leaves its history behind in every run. */
  isCutOff(callSite: CallSite): boolean {
    if (
      callSite.inner.length ||
      (callSite.kind === "module" && callSite.invocations.some((invocation) => invocation.nodes.length))
    )
      return false;
    return new Set(this.cutsAt(callSite).map(({ step }) => step)).size >= callSite.invocations.length;
  }

  /** The lines at which the history of what a call site makes is left behind, a cut for each run. */
  cutsAt({ invocations }: CallSite): { step: number; reason: string }[] {
    const { steps } = this.facts.opened.trace;
    return invocations.flatMap(({ begins, ends, stmt }) =>
      steps.slice(begins, ends + 1).flatMap((step) => {
        if (step.stmt !== stmt) return [];
        const events = (step.log ?? []).flatMap((entry) => (entry.kind === "event" ? [entry] : []));
        const cut = events.find((event) => event.event === "path_cut" && GRAPH_CUT_OPERATIONS.has(event.reason));
        return cut?.event === "path_cut" ? [{ step: step.i, reason: cut.reason }] : [];
      }),
    );
  }
}
