/**
 * What is known of a call site of the net at a step: whether it ran, what came back through it, and what it keeps for
 * backward.
 */

import { cellAsNumber } from "../findings/facts/cell_values.ts";
import { nodesOfInvocation, type Net, type CallSite } from "./net_call_sites.ts";
import { savedBytesAt, savedMemoryByNode, type SavedMemory } from "../findings/account/saved_memory.ts";
import { entityHistoryOf } from "../trace/entity_history.ts";
import { findEntity } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { addToList } from "../trace/multimap.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Grad } from "../trace/wire.ts";
import type { Invocation } from "./net_calls.ts";

interface CallState {
  invocation: Invocation;
  hasBegun: boolean;
  hasRun: boolean;
  /** how many of its nodes ran in a backward */
  visited: number;
  /** of the gradient that came to its output; null where none came yet, or the trace does not tell */
  norm: number | null;
  isNow: boolean;
}

export interface CallSiteState {
  /** all of this round */
  calls: CallState[];
  /** the call that is spoken of: that of the step, else the last that did something */
  shown: number;
  hasBegun: boolean;
  hasRun: boolean;
  nodes: number;
  visited: number;
  /** the backward that runs, or ran last, does not come here */
  isLeftOut: boolean;
  norm: number | null;
  input: number[] | null;
  output: number[] | null;
  /** bytes: what is booked to its nodes */
  kept: number;
  /** of those, not let go yet */
  holds: number;
  letGoNow: boolean;
  isNow: boolean;
}

/** What the steps of a run say about its net, looked up once. */
export class NetFacts {
  opened: OpenTrace;
  net: Net;
  shapes = new Map<string, number[]>();
  /** by node, the first tensor that it made */
  resultOfNode = new Map<string, string>();
  gradFn = new Map<string, string>();
  savedBytesByNode: Map<string, SavedMemory[]>;
  /** by step, as `stepOfOpenRow` has them */
  anchors: (number | null)[] = [];
  invocationsByStretch = new Map<CallSite, Map<number, Invocation[]>>();
  nodesOfInvocation = new Map<Invocation, string[]>();
  /** by leaf, the visits that bring a gradient to it */
  arrivals = new Map<string, { step: number; backward: string }[]>();
  /** by stretch, its backwards in order, each with the first step and the nodes that it runs */
  backwards = new Map<number, { begins: number; nodes: Set<string> }[]>();

  constructor(opened: OpenTrace, net: Net) {
    this.opened = opened;
    this.net = net;
    this.savedBytesByNode = savedMemoryByNode(opened);
    this.read();
    this.readBackwards();
  }

  read() {
    for (const { set, log, visit, i } of this.opened.trace.steps) {
      if (visit?.accumulates) addToList(this.arrivals, visit.accumulates, { step: i, backward: visit.backward });
      for (const [uid, fields] of Object.entries(set ?? {})) {
        if (fields.shape) this.shapes.set(uid, fields.shape);
        if (fields.kind === "tensor" && fields.storage && !this.storages.has(uid))
          this.storages.set(uid, fields.storage);
        for (const [name, value] of Object.entries(fields.vars ?? {})) {
          const tensor = referencedUid(value);
          if (tensor?.[0] === "t") addToList(this.bindings, tensor, { step: i, name, frame: uid });
        }
        if (!fields.grad_fn) continue;
        if (!this.resultOfNode.has(fields.grad_fn)) this.resultOfNode.set(fields.grad_fn, uid);
        if (!this.gradFn.has(uid)) this.gradFn.set(uid, fields.grad_fn);
      }
      for (const { inputs = [], outputs = [] } of log.flatMap((entry) => (entry.kind === "op" ? [entry] : [])))
        for (const uid of outputs) {
          const storage = this.storages.get(uid);
          const viewed = storage && inputs.find((input) => input !== uid && this.storages.get(input) === storage);
          if (viewed) this.viewed.set(uid, viewed);
        }
    }
  }

  readBackwards() {
    for (const visits of this.opened.index.visitsByBackward.values()) {
      if (!visits.length) continue;
      const stretch = this.net.stretchOfStep[visits[0].step];
      const list = this.backwards.get(stretch) ?? [];
      list.push({ begins: visits[0].step, nodes: new Set(visits.map(({ node }) => node)) });
      this.backwards.set(stretch, list);
    }
  }

  /** What a leaf is called in the module that has it, else by the program; null where nothing leads to it. */
  leafName(leaf: string, i: number): string | null {
    const module = findEntity(this.opened.state(i), this.opened.index.moduleOfTensor.get(leaf), "object");
    const own = Object.entries(module?.attrs ?? {}).find(([, value]) => referencedUid(value) === leaf)?.[0];
    return own ?? this.opened.names(i).paths.get(leaf) ?? null;
  }

  /** Whether the backward that runs at a step brings a gradient to a leaf later on. */
  willArrive(leaf: string, i: number): boolean {
    const backward = this.opened.trace.steps[i]?.visit?.backward;
    return (this.arrivals.get(leaf) ?? []).some((arrival) => arrival.step > i && arrival.backward === backward);
  }

  /** by tensor, the memory that it looked at first */
  storages = new Map<string, string>();
  /** by view, the tensor of which an operation made it */
  viewed = new Map<string, string>();
  /** by tensor, the variables that came to mean it, in order */
  bindings = new Map<string, { step: number; name: string; frame: string }[]>();

  /**
   * The variable that means a tensor at a step: one that a statement `mentions`, else the oldest, else what it was
   * called before; undefined where it had none until then, and null where it never has one.
   */
  variableOf(uid: string, until: number, mentions: ReadonlySet<string>): string | null | undefined {
    const bindings = this.bindings.get(uid)?.filter(({ step }) => step <= until);
    if (!bindings) return null;
    const entities = entityHistoryOf(this.opened).stateAfter(until);
    const meaning = bindings.filter(
      ({ frame, name }) => referencedUid(findEntity(entities, frame, "frame")?.vars?.get(name)) === uid,
    );
    return (meaning.findLast(({ name }) => mentions.has(name)) ?? meaning[0] ?? bindings.at(-1))?.name;
  }

  /** Whether something in an invocation reads or makes what lies in a memory. */
  usesStorage(invocation: Invocation, storage: string): boolean {
    return tensorsOfInvocation(invocation).some((uid) => this.storages.get(uid) === storage);
  }

  /** by memory, what uses it: read once, when it is first asked for */
  uses: Map<string, { invocation: Invocation; callSite: CallSite; uid: string }[]> | null = null;

  /** The tensor by whose name one is known, a view without a name by that of which it was made; null without any. */
  namedTensor(uid: string | null | undefined): string | null {
    let known = uid ?? null;
    while (known && !this.bindings.has(known) && !this.opened.index.moduleOfTensor.has(known))
      known = this.viewed.get(known) ?? null;
    return known;
  }

  /** The row that used a memory last in its round until a step, by another name than `by`, and those tensors. */
  lastUseOf(storage: string, i: number, by: string | null, except: ReadonlySet<CallSite | null | undefined>) {
    if (!this.uses) {
      this.uses = new Map();
      for (const [invocation, callSite] of this.net.callSiteOfInvocation)
        for (const uid of callSite.inner.length ? [] : new Set(tensorsOfInvocation(invocation)))
          addToList(this.uses, this.storages.get(uid) ?? "", { invocation, callSite, uid });
    }
    const isShown = ({ invocation, callSite, uid }: { invocation: Invocation; callSite: CallSite; uid: string }) =>
      invocation.begins <= i &&
      ![null, by].includes(this.namedTensor(uid)) &&
      !except.has(callSite) &&
      !this.isWaiting(callSite, i) &&
      this.net.stretchOfStep[invocation.begins] === this.stretchAt(callSite, i);
    const shown = (this.uses.get(storage) ?? []).filter(isShown);
    const last = shown.sort((a, b) => a.invocation.begins - b.invocation.begins).at(-1);
    return (
      last && {
        callSite: last.callSite,
        uids: shown.flatMap(({ invocation, uid }) => (invocation === last.invocation ? [uid] : [])),
      }
    );
  }

  nodes(invocation: Invocation) {
    let nodes = this.nodesOfInvocation.get(invocation);
    if (!nodes) {
      nodes = nodesOfInvocation(invocation);
      this.nodesOfInvocation.set(invocation, nodes);
    }
    return nodes;
  }

  invocations(callSite: CallSite): Map<number, Invocation[]> {
    let invocations = this.invocationsByStretch.get(callSite);
    if (!invocations) {
      invocations = new Map<number, Invocation[]>();
      for (const invocation of callSite.invocations)
        addToList(invocations, this.net.stretchOfStep[invocation.begins], invocation);
      this.invocationsByStretch.set(callSite, invocations);
    }
    return invocations;
  }

  /**
   * The stretch whose runs of a call site are shown at a step: its own, else the last before it that is no other
   * round of its loop.
   */
  stretchAt(callSite: CallSite, i: number): number {
    const invocations = this.invocations(callSite);
    const own = this.net.stretchOfStep[i];
    if (invocations.has(own)) return own;
    const loop = this.net.loopOfStretch[own];
    const before = [...invocations.keys()].findLast((stretch) => stretch < own);
    const isOtherRound = before !== undefined && loop !== null && this.net.loopOfStretch[before] === loop;
    return before === undefined || isOtherRound ? (invocations.keys().next().value ?? own) : before;
  }

  /** Whether the runs that are shown of a call site at a step lie in the future, or in another round. */
  isWaiting(callSite: CallSite, i: number) {
    const [stretch, own] = [this.stretchAt(callSite, i), this.net.stretchOfStep[i]];
    const loop = this.net.loopOfStretch[own];
    return stretch > own || (stretch < own && loop !== null && this.net.loopOfStretch[stretch] === loop);
  }

  lastVisit(node: string, i: number): number | null {
    return this.opened.index.visitStepsByNode.get(node)?.findLast((step) => step <= i) ?? null;
  }

  /** The invocations of the net that a step is about: what it ran, or the node that backward ran in it. */
  touchedAt(i: number): Invocation[] {
    const { visit } = this.opened.trace.steps[i] ?? {};
    if (!visit) return (this.net.touched.get(i) ?? []).map((invocation) => this.invocationWithCallSite(invocation));
    const invocation = this.net.invocationByNode.get(visit.node) ?? this.readerOfLeaf(visit.node, i);
    return invocation ? [invocation] : [];
  }

  /** An invocation, or the one around it that has a call site of the net. */
  invocationWithCallSite(invocation: Invocation): Invocation {
    for (let outer: Invocation | null = invocation; outer && outer !== this.net.root; outer = outer.parent)
      if (this.net.callSiteOfInvocation.has(outer)) return outer;
    return invocation;
  }

  /** Of a leaf's node, the invocation whose gradient has just come to it. */
  readerOfLeaf(leaf: string, i: number): Invocation | null {
    let best: { node: string; step: number } | null = null;
    for (const node of this.net.readersOfLeaf.get(leaf) ?? []) {
      const step = this.lastVisit(node, i);
      if (step !== null && (!best || step > best.step)) best = { node, step };
    }
    return best && (this.net.invocationByNode.get(best.node) ?? null);
  }

  outputNode(invocation: Invocation): string | null {
    for (const uid of invocation.outputs) {
      const node = this.gradFn.get(uid);
      if (node && this.nodes(invocation).includes(node)) return node;
    }
    return this.nodes(invocation).at(-1) ?? null;
  }

  shapeOf(uid: string | null | undefined) {
    return this.shapes.get(uid ?? "") ?? null;
  }

  outputShape(invocation: Invocation) {
    return this.shapeOf(invocation.outputs[0] ?? this.resultOfNode.get(this.outputNode(invocation) ?? ""));
  }

  /**
   * The norm of the gradient that came to an invocation's output last; null where none came until the step, or it is
   * not known.
   */
  arrivedNorm(invocation: Invocation, i: number): number | null {
    const output = this.outputNode(invocation);
    const step = output ? this.lastVisit(output, i) : null;
    return step === null ? null : arrivedNorm(this.opened.trace.steps[step].visit?.grad_outputs ?? []);
  }

  callState(invocation: Invocation, i: number, isWaiting: boolean, now: ReadonlySet<Invocation>): CallState {
    const nodes = this.nodes(invocation);
    const hasBegun = !isWaiting && invocation.begins <= i;
    return {
      invocation,
      hasBegun,
      hasRun: hasBegun && invocation.ends <= i,
      visited: hasBegun ? nodes.filter((node) => this.lastVisit(node, i) !== null).length : 0,
      norm: hasBegun ? this.arrivedNorm(invocation, i) : null,
      isNow: hasBegun && isAround(invocation, now),
    };
  }

  /** Whether backward is what runs, or what ran last, of this round. */
  isBackward(i: number): boolean {
    const stretch = this.net.stretchOfStep[i];
    for (let k = i; k >= 0 && this.net.stretchOfStep[k] === stretch; k--) {
      if (this.opened.trace.steps[k].visit) return true;
      if (this.net.touched.get(k)?.some((invocation) => this.net.callSiteOfInvocation.has(invocation))) return false;
    }
    return false;
  }

  stateAt(callSite: CallSite, i: number): CallSiteState {
    const stretch = this.stretchAt(callSite, i);
    const isWaiting = this.isWaiting(callSite, i);
    const now = new Set(this.touchedAt(i));
    const calls = (this.invocations(callSite).get(stretch) ?? []).map((invocation) =>
      this.callState(invocation, i, isWaiting, now),
    );
    const nodes = calls.flatMap(({ invocation }) => this.nodes(invocation));
    const shown = this.shownCall(calls, i);
    const call = calls[shown];
    const begun = calls.some(({ hasBegun }) => hasBegun);
    return {
      calls,
      shown,
      hasBegun: begun,
      hasRun: begun && calls.every(({ hasRun }) => hasRun),
      nodes: nodes.length,
      visited: calls.reduce((sum, { visited }) => sum + visited, 0),
      isLeftOut: begun && this.isLeftOut(nodes, i),
      norm: call?.norm ?? null,
      input: this.shapeOf(call?.invocation.inputs[0]),
      output: call ? this.outputShape(call.invocation) : null,
      ...savedBytesAt(isWaiting ? [] : nodes.flatMap((node) => this.savedBytesByNode.get(node) ?? []), i),
      isNow: calls.some(({ isNow }) => isNow),
    };
  }

  shownCall(calls: CallState[], i: number) {
    const now = calls.findIndex(({ isNow }) => isNow);
    if (now >= 0) return now;
    const returned = calls.findIndex(({ visited }) => visited > 0); // backward comes from the last to the first
    if (returned >= 0 && this.opened.trace.steps[i]?.visit) return returned;
    return Math.max(returned, returned < 0 ? calls.findLastIndex(({ hasBegun }) => hasBegun) : returned, 0);
  }

  isLeftOut(nodes: string[], i: number) {
    const begun = (this.backwards.get(this.net.stretchOfStep[i]) ?? []).filter(({ begins }) => begins <= i);
    const last = begun.at(-1);
    if (!last || nodes.some((node) => this.lastVisit(node, i) !== null)) return false;
    return !nodes.some((node) => last.nodes.has(node));
  }
}

/** What an invocation, and what runs in it, reads and makes. */
function tensorsOfInvocation({ inputs, outputs, reads, makes, inner }: Invocation): string[] {
  return [...inputs, ...outputs, ...reads, ...makes, ...inner.flatMap(tensorsOfInvocation)];
}

function isAround(invocation: Invocation, now: ReadonlySet<Invocation>) {
  for (let inner of now)
    for (;;) {
      if (inner === invocation) return true;
      if (!inner.parent) break;
      inner = inner.parent;
    }
  return false;
}

/** The Euclidean norm of what came to a node; null where the trace does not tell. */
function arrivedNorm(grads: (Grad | null)[]): number | null {
  const norms = grads.flatMap((grad) => (grad ? [gradNorm(grad)] : []));
  if (!norms.length || norms.includes(null)) return null;
  return Math.hypot(...(norms as number[]));
}

export function gradNorm({ cells, summary }: Grad): number | null {
  if (cells) {
    let sum = 0;
    for (const cell of cells) {
      const parts = cell !== null && typeof cell === "object" && "$c" in cell ? cell.$c : [cell];
      for (const part of parts) sum += cellAsNumber(part) ** 2;
    }
    return Math.sqrt(sum);
  }
  return summary?.norm === null || summary?.norm === undefined ? null : cellAsNumber(summary.norm);
}
