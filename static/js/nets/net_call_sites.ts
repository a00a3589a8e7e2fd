/**
 * The net of a run: its calls, one below the other as they ran, those of other rounds and other times at the same
 * call site.
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
  invocations: Invocation[];
  /** it stands for itself nowhere: what it calls stands in its place */
  isTransparent: boolean;
  /** it runs once more in backward, where its results were not kept */
  isAgain: boolean;
  /** a loop, for its iterations that were not recorded: there only in rounds that have such */
  isLoop: boolean;
  /** its module is called at another call site of the same code as well */
  isTwice: boolean;
  /** a statement outside of the rounds of a training: there only while the run is at it */
  isPassThrough: boolean;
}

export interface EdgeRun {
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
  /** between call sites without inner ones */
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
  /** loops over parts of a net, each iteration of which has its own call site */
  layerLoops = new Set<number>();
  having = {
    module: new Map<Invocation, boolean>(),
    node: new Map<Invocation, boolean>(),
    operation: new Map<Invocation, boolean>(),
    raise: new Map<Invocation, boolean>(),
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
    const root = this.addCallSite("", "function", this.run.root, null);
    this.addRun(root, this.run.root);
    for (const callSite of root.inner) callSite.parent = null;
    this.markPrefixes(root.inner);
    const containers = root.inner.filter(({ inner, kind }) => inner.length && kind !== "line");
    if (containers.length === 1) containers[0].isTransparent = true;
    return {
      ...this.run,
      ...this.rounds,
      top: root.inner,
      callSiteOfInvocation: this.callSiteOfInvocation,
      edges: this.edges(),
      readersOfLeaf: this.readerNodesByLeaf(),
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
      for (
        let invocation = this.run.invocationByFrame.get(step.frame ?? "") ?? null;
        invocation;
        invocation = invocation.parent
      )
        chain.push(invocation);
      if (chain.every(({ kind }) => kind === "function")) for (const invocation of chain) this.trainers.add(invocation);
    }
    this.trainers.add(this.run.root);
  }

  /** A loop whose iterations call different modules goes along a net; one that calls the same goes along time. */
  findLayerLoops() {
    const called = new Map<string, { loop: number; byIteration: Map<number, Set<string>> }>();
    const numbers = new Map<Invocation, number>();
    const visit = (invocation: Invocation) => {
      numbers.set(invocation, numbers.size);
      for (const inner of invocation.inner) {
        visit(inner);
        if (inner.kind !== "module" || inner.stmt === null) continue;
        for (const [k, loop] of loopsAround(this.statements, inner.stmt).entries()) {
          if (k >= inner.iter.length) continue;
          const key = `${numbers.get(invocation)}|${loop}|${inner.iter.slice(0, k).join()}`;
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

  addRun(callSite: CallSite, invocation: Invocation) {
    callSite.invocations.push(invocation);
    this.callSiteOfInvocation.set(invocation, callSite);
    let at = 0;
    const seen = new Set<CallSite>();
    const earlier = new EarlierRuns(this.opened, this.rounds);
    for (const child of this.childrenOf(invocation)) {
      const site = this.siteKey(child);
      const number = earlier.occurrence(site, child);
      const key = `${callSite.key}/${site}${number ? `#${number}` : ""}`;
      let inner = this.byKey.get(key);
      if (!inner) {
        // a loop ended at its head: what comes after it stands after all of its body
        while (seen.has(callSite.inner[at]) && callSite.inner[at].line < child.line) at += 1;
        inner = this.addCallSite(key, this.kindOf(child), child, callSite);
        this.byKey.set(key, inner);
        callSite.inner.splice(at, 0, inner);
      } else if (callSite.inner[at] !== inner) at = callSite.inner.indexOf(inner);
      at += 1;
      seen.add(inner);
      this.addRun(inner, child);
    }
  }

  /** What an invocation ran that has a call site, in order; what a trainer ran stands beside it. */
  childrenOf(invocation: Invocation): Invocation[] {
    const found = invocation.inner
      .filter((inner) => this.isShown(inner))
      .flatMap((inner) => (this.trainers.has(inner) ? this.childrenOf(inner) : [inner]));
    return found.sort((a, b) => a.order - b.order);
  }

  isShown(invocation: Invocation): boolean {
    if (invocation.kind === "module" || invocation.hasRaised) return true;
    if (invocation.isStatement && invocation.parent && this.trainers.has(invocation.parent)) return true;
    if (invocation.kind === "function") return this.hasRowsOfItsOwn(invocation) || this.isLikeStatement(invocation);
    if (invocation.nodes.length) return true;
    return Boolean(
      invocation.parent &&
        invocation.parent.kind === "module" &&
        invocation.operations &&
        !this.hasAny(invocation.parent, "node"),
    );
  }

  /** A call of a function that makes what a net reads: `x, y = batch()`. */
  isLikeStatement(invocation: Invocation): boolean {
    const isOfTraining = invocation.kind === "function" && invocation.parent && this.trainers.has(invocation.parent);
    return Boolean(isOfTraining) && !this.trainers.has(invocation) && this.hasAny(invocation, "operation");
  }

  /** Whether there is more in it than what a net reads. */
  hasRowsOfItsOwn(invocation: Invocation) {
    return (["module", "node", "raise"] as const).some((what) => this.hasAny(invocation, what));
  }

  hasAny(invocation: Invocation, what: "module" | "node" | "operation" | "raise"): boolean {
    const known = this.having[what];
    let has = known.get(invocation);
    if (has === undefined) {
      has = {
        module: invocation.kind === "module",
        node: invocation.nodes.length > 0,
        operation: invocation.operations > 0,
        raise: invocation.hasRaised,
      }[what];
      has ||= invocation.inner.some((inner) => this.hasAny(inner, what));
      known.set(invocation, has);
    }
    return has;
  }

  /** A call of a function that only makes what a net reads is a line of the program like others. */
  kindOf(invocation: Invocation): InvocationKind {
    if (!this.isNamedByLine(invocation)) return invocation.kind;
    invocation.isStatement ||= invocation.kind === "function";
    return "line";
  }

  isNamedByLine(invocation: Invocation) {
    return invocation.kind === "line" || (this.isLikeStatement(invocation) && !this.hasRowsOfItsOwn(invocation));
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

  addCallSite(key: string, kind: InvocationKind, invocation: Invocation, parent: CallSite | null): CallSite {
    const isAgain = invocation.stmt !== null && this.backwardStatements.has(invocation.stmt) && kind !== "line";
    const { type, line } = invocation;
    const path = kind === "module" ? (invocation.name ?? invocation.type) : null;
    const inner: CallSite[] = [];
    const name = this.nameOf(invocation, path, parent);
    const isOfLoop = kind === "line" && !invocation.isStatement && isLoop(this.statements, invocation.stmt);
    return {
      key,
      kind,
      name,
      path,
      type,
      line,
      parent,
      inner,
      invocations: [],
      isTransparent: false,
      isAgain,
      isLoop: isOfLoop,
      isTwice: false,
      isPassThrough: this.isPassThrough(invocation),
    };
  }

  isPassThrough(invocation: Invocation) {
    if (invocation.hasRaised || (!invocation.isStatement && !this.isLikeStatement(invocation))) return false;
    const { loopOfStretch, stretchOfStep } = this.rounds;
    const isTraining = loopOfStretch.some((loop) => loop !== null);
    if (invocation.nodes.length || this.hasAny(invocation, "node")) return false;
    return isTraining ? loopOfStretch[stretchOfStep[invocation.begins]] === null : invocation.makesObjects;
  }

  nameOf(invocation: Invocation, path: string | null, parent: CallSite | null): string {
    if (invocation.kind === "function" && !this.isNamedByLine(invocation)) return `${invocation.name}()`;
    if (this.isNamedByLine(invocation))
      return lineLabel(
        statementTree(this.opened.trace.program, invocation.stmt),
        this.lines[invocation.line - 1] ?? "",
        invocation.isStatement,
      );
    if (invocation.kind === "own")
      return operationLabel(this.opened.index.nodes.get(invocation.nodes.at(-1) ?? "")?.name ?? "");
    let outer = parent;
    while (outer && outer.path === null) outer = outer.parent;
    const prefix = outer?.path ?? "";
    if (!path || !prefix || path === prefix || !path.startsWith(prefix)) return path ?? "";
    return path.slice(prefix.length + Number(path[prefix.length] === "."));
  }

  /** A Sequential whose parts are all of one class is only a prefix of their names. */
  markPrefixes(callSites: CallSite[]) {
    for (const callSite of callSites) {
      this.markPrefixes(callSite.inner);
      callSite.isTwice =
        callSite.path !== null && callSites.some((other) => other !== callSite && other.path === callSite.path);
      const { inner, parent, type } = callSite;
      const isList = type === "Sequential" && parent && inner.length > 1;
      if (!isList || !inner.every((part) => part.kind === "module" && part.type === inner[0].type)) continue;
      callSite.isTransparent = true;
      for (const part of inner) part.name = `${callSite.name}.${part.name}`;
    }
  }

  edges(): NetEdge[] {
    const edges = new Map<string, NetEdge>();
    // what a statement reads is told in its row, unless a net reads what it makes of it in the same round
    const flows = this.run.flows.filter(({ from, to }) => this.isSameRound(from, to));
    const givers = new Set(flows.flatMap(({ from, to }) => (to.isStatement ? [] : [from])));
    const add = (run: EdgeRun) => {
      const [from, to] = [this.callSiteOfInvocation.get(run.from), this.callSiteOfInvocation.get(run.to)];
      if (!from || !to || from.inner.length || to.inner.length) return;
      if (run.to.isStatement && !givers.has(run.to)) return;
      const stretch = this.rounds.stretchOfStep[run.to.begins];
      const key = `${from.key} ${to.key}`;
      const edge = edges.get(key) ?? { from, to, runs: new Map<number, EdgeRun[]>() };
      edges.set(key, edge);
      const runs = edge.runs.get(stretch);
      if (runs) runs.push(run);
      else edge.runs.set(stretch, [run]);
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

  readerNodesByLeaf() {
    const readers = new Map<string, string[]>();
    for (const [uid] of this.run.invocationByNode)
      for (const edge of this.opened.index.nodes.get(uid)?.next ?? [])
        if (edge && this.opened.index.nodes.get(edge[0])?.variable) addToList(readers, edge[0], uid);
    return readers;
  }
}

/** The runs of the sites of one invocation so far, each with those before it that it reads. */
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
   * Which call site a run has of those that its site may have: another one where it reads what the same module made
   * before.
   */
  occurrence(site: string, invocation: Invocation): number {
    const count = this.counts.get(site) ?? 0;
    this.counts.set(site, count + 1);
    if (invocation.kind === "own") return count;
    if (invocation.kind !== "module") return 0;
    if (invocation.stmt === null) return count;
    const key = `${site}|${this.rounds.stretchOfStep[invocation.begins]}|${invocation.iter.join()}`;
    const known = this.runs.get(key) ?? { maker: new Map(), read: new Map(), begins: invocation.begins };
    this.runs.set(key, known);
    const nodes = nodesOfInvocation(invocation);
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
    if (invocation.ends >= invocation.begins) {
      known.read.set(invocation, read);
      for (const uid of nodes) known.maker.set(uid, invocation);
    }
    return read.size;
  }
}

/** The nodes of an invocation and of what it called. */
export function nodesOfInvocation(invocation: Invocation): string[] {
  return invocation.inner.length
    ? [...invocation.nodes, ...invocation.inner.flatMap(nodesOfInvocation)]
    : [...invocation.nodes];
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
