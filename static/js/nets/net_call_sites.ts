/**
 * The net of a run: its calls, one below the other as they ran, those of other rounds and other times at the same
 * place.
 */

import { isLoop, isTraining, loopsAround, roundsOf, type Rounds } from "./net_rounds.ts";
import { addToList } from "../trace/multimap.ts";
import {
  buildInvocationTree,
  type GradientCut,
  type Invocation,
  type InvocationKind,
  type InvocationTree,
} from "./net_calls.ts";
import { operationLabel } from "./net_words.ts";
import { calleeName } from "../syntax/expressions.ts";
import { statementTree, type SyntaxNode } from "../syntax/tree.ts";
import type { OpenTrace } from "../trace/state.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

/** Where the program calls a module or a function, or runs operations itself. */
export interface CallSite {
  /** its name among all */
  key: string;
  kind: InvocationKind;
  /** within what calls it: `att`, `blocks.1`; of a line, the name that it assigns */
  name: string;
  /** of a module, as the program reaches it */
  path: string | null;
  type: string;
  line: number;
  parent: CallSite | null;
  inner: CallSite[];
  /** its runs, in order */
  units: Invocation[];
  /** it stands for itself nowhere: what it calls stands in its place */
  isBare: boolean;
  /** it runs once more in backward, where its results were not kept */
  isAgain: boolean;
  /** a loop, for its iterations that were not recorded: there only in rounds that have such */
  isLoop: boolean;
  /** its module is called at another place of the same code as well */
  isTwice: boolean;
  /** a statement outside of the rounds of a training: there only while the run is at it */
  isPassing: boolean;
}

export interface EdgeRun {
  stretch: number;
  from: Invocation;
  to: Invocation;
  /** the node that reads, and its how manieth edge; null where no gradient goes that way */
  node: string | null;
  edge: number;
  /** the step that made it */
  step: number;
  /** where what flows this way left its history behind */
  cut: GradientCut | null;
}

export interface NetEdge {
  from: CallSite;
  to: CallSite;
  /** by stretch of the run */
  runs: Map<number, EdgeRun[]>;
}

export interface Net extends InvocationTree, Rounds {
  top: CallSite[];
  callSiteOfInvocation: Map<Invocation, CallSite>;
  /** between places without inner ones */
  edges: NetEdge[];
  /** by node of a leaf, the nodes that read it */
  readersOfLeaf: Map<string, string[]>;
}

export const netOf = weakMemoize((opened: OpenTrace): Net => new NetBuilder(opened).build());

class NetBuilder {
  opened: OpenTrace;
  run: InvocationTree;
  rounds: Rounds;
  lines: string[];
  callSiteOfInvocation = new Map<Invocation, CallSite>();
  byKey = new Map<string, CallSite>();
  /** functions that train, or call what does */
  trainers = new Set<Invocation>();
  backwardStatements = new Set<number>();
  /** loops over parts of a net, each iteration of which has its own place */
  layerLoops = new Set<number>();
  having = {
    module: new Map<Invocation, boolean>(),
    node: new Map<Invocation, boolean>(),
    operation: new Map<Invocation, boolean>(),
  };

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.run = buildInvocationTree(opened);
    this.rounds = roundsOf(opened, this.run);
    this.lines = opened.trace.program.source.split("\n");
  }

  build(): Net {
    this.findTrainers();
    this.findLayerLoops();
    const root = this.place("", "function", this.run.root, null);
    this.addRun(root, this.run.root);
    for (const place of root.inner) place.parent = null;
    this.markPrefixes(root.inner);
    const containers = root.inner.filter(({ inner, kind }) => inner.length && kind !== "line");
    if (containers.length === 1) containers[0].isBare = true;
    return {
      ...this.run,
      ...this.rounds,
      top: root.inner,
      callSiteOfInvocation: this.callSiteOfInvocation,
      edges: this.edges(),
      readersOfLeaf: this.readersOfLeaf(),
    };
  }

  get statements() {
    return this.opened.trace.program.statements ?? [];
  }

  findTrainers() {
    for (const step of this.opened.trace.steps) {
      const steps = step.log?.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped");
      if (isTraining(this.opened, step) && typeof step.stmt === "number") this.backwardStatements.add(step.stmt);
      else if (!steps) continue;
      const chain: Invocation[] = [];
      for (let unit = this.run.invocationByFrame.get(step.frame ?? "") ?? null; unit; unit = unit.parent)
        chain.push(unit);
      if (chain.every(({ kind }) => kind === "function")) for (const unit of chain) this.trainers.add(unit);
    }
    this.trainers.add(this.run.root);
  }

  /** A loop whose iterations call different modules goes along a net; one that calls the same goes along time. */
  findLayerLoops() {
    const called = new Map<string, { loop: number; byIteration: Map<number, Set<string>> }>();
    const numbers = new Map<Invocation, number>();
    const visit = (unit: Invocation) => {
      numbers.set(unit, numbers.size);
      for (const inner of unit.inner) {
        visit(inner);
        if (inner.kind !== "module" || inner.stmt === null) continue;
        for (const [k, loop] of loopsAround(this.statements, inner.stmt).entries()) {
          if (k >= inner.iter.length) continue;
          const key = `${numbers.get(unit)}|${loop}|${inner.iter.slice(0, k).join()}`;
          const entry = called.get(key) ?? { loop, byIteration: new Map<number, Set<string>>() };
          called.set(key, entry);
          const modules = entry.byIteration.get(inner.iter[k]) ?? new Set<string>();
          entry.byIteration.set(inner.iter[k], modules.add(inner.uid ?? inner.type));
        }
      }
    };
    visit(this.run.root);
    for (const { loop, byIteration } of called.values()) {
      const sets = [...byIteration.values()];
      const all = new Set(sets.flatMap((modules) => [...modules]));
      const most = Math.max(...sets.map(({ size }) => size));
      if (all.size - most >= Math.max(1, (sets.length - 1) / 2)) this.layerLoops.add(loop);
    }
    for (const loop of this.rounds.loopOfStretch) if (loop !== null) this.layerLoops.delete(loop);
  }

  addRun(place: CallSite, unit: Invocation) {
    place.units.push(unit);
    this.callSiteOfInvocation.set(unit, place);
    let at = 0;
    const seen = new Set<CallSite>();
    const earlier = new EarlierRuns(this.opened, this.rounds);
    for (const child of this.childrenOf(unit)) {
      const site = this.siteKey(child);
      const number = earlier.occurrence(site, child);
      const key = `${place.key}/${site}${number ? `#${number}` : ""}`;
      let inner = this.byKey.get(key);
      if (!inner) {
        // a loop ended at its head: what comes after it stands after all of its body
        while (seen.has(place.inner[at]) && place.inner[at].line < child.line) at += 1;
        inner = this.place(key, this.kindOf(child), child, place);
        this.byKey.set(key, inner);
        place.inner.splice(at, 0, inner);
      } else if (place.inner[at] !== inner) at = place.inner.indexOf(inner);
      at += 1;
      seen.add(inner);
      this.addRun(inner, child);
    }
  }

  /** What a unit ran that has a place, in order; what a trainer ran stands beside it. */
  childrenOf(unit: Invocation): Invocation[] {
    const found = unit.inner
      .filter((inner) => this.isShown(inner))
      .flatMap((inner) => (this.trainers.has(inner) ? this.childrenOf(inner) : [inner]));
    return found.sort((a, b) => a.order - b.order);
  }

  isShown(unit: Invocation): boolean {
    if (unit.kind === "module") return true;
    if (unit.isStatement && unit.parent && this.trainers.has(unit.parent)) return true;
    if (unit.kind === "function")
      return this.hasAny(unit, "module") || this.hasAny(unit, "node") || this.isLikeStatement(unit);
    if (unit.nodes.length) return true;
    return Boolean(
      unit.parent && unit.parent.kind === "module" && unit.operations && !this.hasAny(unit.parent, "node"),
    );
  }

  /** A call of a function that makes what a net reads: `x, y = batch()`. */
  isLikeStatement(unit: Invocation): boolean {
    const isOfTraining = unit.kind === "function" && unit.parent && this.trainers.has(unit.parent);
    return Boolean(isOfTraining) && !this.trainers.has(unit) && this.hasAny(unit, "operation");
  }

  hasAny(unit: Invocation, what: "module" | "node" | "operation"): boolean {
    const known = this.having[what];
    let has = known.get(unit);
    if (has === undefined) {
      has = { module: unit.kind === "module", node: unit.nodes.length > 0, operation: unit.operations > 0 }[what];
      has ||= unit.inner.some((inner) => this.hasAny(inner, what));
      known.set(unit, has);
    }
    return has;
  }

  /** A call of a function that only makes what a net reads is a line of the program like others. */
  kindOf(unit: Invocation): InvocationKind {
    if (!this.isNamedByLine(unit)) return unit.kind;
    unit.isStatement ||= unit.kind === "function";
    return "line";
  }

  isNamedByLine(unit: Invocation) {
    return (
      unit.kind === "line" || (this.isLikeStatement(unit) && !this.hasAny(unit, "node") && !this.hasAny(unit, "module"))
    );
  }

  siteKey({ kind, stmt, iter, uid, type, name }: Invocation): string {
    const what = kind === "module" ? (uid ?? `${type} ${name ?? ""}`) : kind === "function" ? `${name}()` : kind;
    if (stmt === null) return what;
    const loops = loopsAround(this.statements, stmt);
    const layers = loops.flatMap((loop, k) => (this.layerLoops.has(loop) && k < iter.length ? [iter[k]] : []));
    return [stmt, ...layers, what].join("@");
  }

  isSameRound(a: Invocation, b: Invocation) {
    return this.rounds.stretchOfStep[a.begins] === this.rounds.stretchOfStep[b.begins];
  }

  place(key: string, kind: InvocationKind, unit: Invocation, parent: CallSite | null): CallSite {
    const isAgain = unit.stmt !== null && this.backwardStatements.has(unit.stmt) && kind !== "line";
    const { type, line } = unit;
    const path = kind === "module" ? (unit.name ?? unit.type) : null;
    const inner: CallSite[] = [];
    const name = this.nameOf(unit, path, parent);
    const isOfLoop = kind === "line" && !unit.isStatement && isLoop(this.statements, unit.stmt);
    return {
      key,
      kind,
      name,
      path,
      type,
      line,
      parent,
      inner,
      units: [],
      isBare: false,
      isAgain,
      isLoop: isOfLoop,
      isTwice: false,
      isPassing: this.isPassing(unit),
    };
  }

  isPassing(unit: Invocation) {
    if (!unit.isStatement && !this.isLikeStatement(unit)) return false;
    const { loopOfStretch, stretchOfStep } = this.rounds;
    const isTraining = loopOfStretch.some((loop) => loop !== null);
    if (unit.nodes.length || this.hasAny(unit, "node")) return false;
    return isTraining ? loopOfStretch[stretchOfStep[unit.begins]] === null : unit.makesObjects;
  }

  nameOf(unit: Invocation, path: string | null, parent: CallSite | null): string {
    if (unit.kind === "function" && !this.isNamedByLine(unit)) return `${unit.name}()`;
    if (this.isNamedByLine(unit))
      return lineLabel(
        statementTree(this.opened.trace.program, unit.stmt),
        this.lines[unit.line - 1] ?? "",
        unit.isStatement,
      );
    if (unit.kind === "own") return operationLabel(this.opened.index.nodes.get(unit.nodes.at(-1) ?? "")?.name ?? "");
    let outer = parent;
    while (outer && outer.path === null) outer = outer.parent;
    const prefix = outer?.path ?? "";
    if (!path || !prefix || path === prefix || !path.startsWith(prefix)) return path ?? "";
    return path.slice(prefix.length + Number(path[prefix.length] === "."));
  }

  /** A Sequential whose parts are all of one class is only a prefix of their names. */
  markPrefixes(places: CallSite[]) {
    for (const place of places) {
      this.markPrefixes(place.inner);
      place.isTwice = place.path !== null && places.some((other) => other !== place && other.path === place.path);
      const { inner, parent, type } = place;
      const isList = type === "Sequential" && parent && inner.length > 1;
      if (!isList || !inner.every((part) => part.kind === "module" && part.type === inner[0].type)) continue;
      place.isBare = true;
      for (const part of inner) part.name = `${place.name}.${part.name}`;
    }
  }

  edges(): NetEdge[] {
    const edges = new Map<string, NetEdge>();
    // what a statement reads is told in its row, unless a net reads what it makes of it in the same round
    const flows = this.run.flows.filter(({ from, to }) => this.isSameRound(from, to));
    const givers = new Set(flows.flatMap(({ from, to }) => (to.isStatement ? [] : [from])));
    const add = (run: Omit<EdgeRun, "stretch">) => {
      const [from, to] = [this.callSiteOfInvocation.get(run.from), this.callSiteOfInvocation.get(run.to)];
      if (!from || !to || from.inner.length || to.inner.length) return;
      if (run.to.isStatement && !givers.has(run.to)) return;
      const stretch = this.rounds.stretchOfStep[run.to.begins];
      const key = `${from.key} ${to.key}`;
      const edge = edges.get(key) ?? { from, to, runs: new Map<number, EdgeRun[]>() };
      edges.set(key, edge);
      const runs = edge.runs.get(stretch);
      if (runs) runs.push({ ...run, stretch });
      else edge.runs.set(stretch, [{ ...run, stretch }]);
    };
    for (const [node, to] of this.run.invocationByNode)
      for (const [edge, next] of (this.opened.index.nodes.get(node)?.next ?? []).entries()) {
        const from = next && this.run.invocationByNode.get(next[0]);
        const step = this.opened.index.lifetimes.get(node)?.birth ?? to.begins;
        if (from && from !== to) add({ from, to, node, edge, step, cut: null });
      }
    // without nodes, and where a path was cut, tensors tell the way
    for (const { from, to, step, cut } of flows)
      if (cut ? from.nodes.length : !from.nodes.length && !to.nodes.length)
        add({ from, to, node: null, edge: 0, step, cut });
    return [...edges.values()];
  }

  readersOfLeaf() {
    const readers = new Map<string, string[]>();
    for (const [uid] of this.run.invocationByNode)
      for (const edge of this.opened.index.nodes.get(uid)?.next ?? [])
        if (edge && this.opened.index.nodes.get(edge[0])?.variable) addToList(readers, edge[0], uid);
    return readers;
  }
}

/** The runs of the sites of one unit so far, each with those before it that it reads. */
class EarlierRuns {
  opened: OpenTrace;
  rounds: Rounds;
  counts = new Map<string, number>();
  /** by site, round and iteration: by node, the run that made it, and by run, those that it reads */
  runs = new Map<string, { maker: Map<string, Invocation>; read: Map<Invocation, Set<Invocation>>; begins: number }>();

  constructor(opened: OpenTrace, rounds: Rounds) {
    this.opened = opened;
    this.rounds = rounds;
  }

  /**
   * Which place a run has of those that its site may have: another one where it reads what the same module made before.
   */
  occurrence(site: string, unit: Invocation): number {
    const count = this.counts.get(site) ?? 0;
    this.counts.set(site, count + 1);
    if (unit.kind === "own") return count;
    if (unit.kind !== "module") return 0;
    if (unit.stmt === null) return count;
    const key = `${site}|${this.rounds.stretchOfStep[unit.begins]}|${unit.iter.join()}`;
    const known = this.runs.get(key) ?? { maker: new Map(), read: new Map(), begins: unit.begins };
    this.runs.set(key, known);
    const nodes = nodesOfInvocation(unit);
    const read = new Set<Invocation>();
    const seen = new Set<string>();
    const pending = known.maker.size ? [...nodes] : [];
    for (let uid = pending.pop(); uid !== undefined; uid = pending.pop()) {
      const other = known.maker.get(uid);
      if (other) {
        // what it reads, it has looked for
        for (const each of [other, ...(known.read.get(other) ?? [])]) read.add(each);
        continue;
      }
      if (seen.has(uid) || (this.opened.index.lifetimes.get(uid)?.birth ?? -1) < known.begins) continue;
      seen.add(uid);
      for (const edge of this.opened.index.nodes.get(uid)?.next ?? []) if (edge) pending.push(edge[0]);
    }
    if (unit.ends >= unit.begins) {
      known.read.set(unit, read);
      for (const uid of nodes) known.maker.set(uid, unit);
    }
    return read.size;
  }
}

/** The nodes of a unit and of what it called. */
export function nodesOfInvocation(unit: Invocation): string[] {
  return unit.inner.length ? [...unit.nodes, ...unit.inner.flatMap(nodesOfInvocation)] : [...unit.nodes];
}

const ASSIGNMENTS = new Set(["Assign", "AnnAssign", "AugAssign"]);

/**
 * What a statement is called: what it assigns to, or gives the body of its loop; `return`; the method that it calls;
 * else its line.
 */
function lineLabel(tree: SyntaxNode | null, line: string, givesTensors: boolean): string {
  if (tree?.kind === "Return") return "return";
  if (tree && (ASSIGNMENTS.has(tree.kind) || (givesTensors && tree.kind === "For"))) return tree.children[0].text;
  const expression = tree?.kind === "Expr" ? tree.children[0] : null;
  return (expression?.kind === "Call" && calleeName(expression)) || line.trim();
}
