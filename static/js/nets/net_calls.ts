/**
 * What ran in what: the calls of modules, of the program's own functions and its lines, each with the nodes that it
 * made.
 */

import { findEntity } from "../trace/entities.ts";
import { gradFnInStep } from "../trace/grad_fn_in_step.ts";
import { moduleCallsOf, type ModuleCalls } from "../trace/module_calls.ts";
import type { OpenTrace } from "../trace/state.ts";
import { referencedUid } from "../trace/names.ts";
import { loopHead } from "../syntax/statements.ts";
import { mentionedNames } from "../syntax/name_uses.ts";
import { statementTree } from "../syntax/tree.ts";
import type { Delta, LogEntry, Step } from "../trace/wire.ts";

/**
 * module: a call of an `nn.Module`; function: of a function of the program; line: a statement of one, as far as it ran
 * operations itself; own: operations of a module whose code has no steps, beside the modules that it calls
 */
export type InvocationKind = "module" | "function" | "line" | "own";

/** One run of a call site. */
export interface Invocation {
  kind: InvocationKind;
  parent: Invocation | null;
  /** in the order in which they ran */
  inner: Invocation[];
  /** the statement of the program in which it ran, and its loops' counts; null within code without steps */
  stmt: number | null;
  iter: readonly number[];
  /** the line of that statement; of a function, where it begins */
  line: number;
  /** of a module */
  uid: string | null;
  /** module: its path; function: its name */
  name: string | null;
  /** module: its class */
  type: string;
  begins: number;
  ends: number;
  /** that it made itself, earlier ones first */
  nodes: string[];
  operations: number;
  /** a statement that trains, or makes what a net reads, outside of any net; or one that raised */
  isStatement: boolean;
  /** nothing else of the statement that raised has a row */
  hasRaised: boolean;
  /** it makes modules or optimizers */
  makesObjects: boolean;
  inputs: string[];
  outputs: string[];
  /** tensors that its own operations read and did not make, and that they made, in order */
  reads: Set<string>;
  makes: Set<string>;
  /** the place among its siblings: that of its last operation, where it is a line */
  order: number;
}

/**
 * A tensor that one invocation made and another read. cut: where no gradient comes back, the line that let go of it.
 */
interface Flow {
  from: Invocation;
  to: Invocation;
  step: number;
  cut: GradientCut | null;
}

export interface GradientCut {
  reason: string;
  line: number;
  /** the tensor that requires a gradient */
  source: string;
}

export interface InvocationTree {
  /** of the program's own file; everything is in it */
  root: Invocation;
  invocationByNode: Map<string, Invocation>;
  /** by step, what ran in it */
  touched: Map<number, Invocation[]>;
  /** by frame */
  invocationByFrame: Map<string, Invocation>;
  flows: Flow[];
  frames: Map<string, FrameFacts>;
  /** by tensor, what made it */
  maker: Map<string, Invocation>;
}

interface FrameFacts {
  invocation: Invocation;
  /** the statement of the caller that made it */
  site: Step | null;
  /** the call of a module in which it runs */
  call: number | null;
}

/** Ways to cut a history off that a program chooses; a comparison or a number has none to begin with. */
export const GRAPH_CUT_OPERATIONS = new Set(["detach", "data", "no_grad", "numpy"]);

type Operation = Extract<LogEntry, { kind: "op" }>;

/** The invocations of a run, with what each made of what. */
export function buildInvocationTree(opened: OpenTrace): InvocationTree {
  return new InvocationTreeBuilder(opened).read();
}

class InvocationTreeBuilder {
  opened: OpenTrace;
  calls: ModuleCalls;
  root: Invocation;
  invocationByModuleCall = new Map<number, Invocation>();
  invocationByNode = new Map<string, Invocation>();
  touched = new Map<number, Set<Invocation>>();
  /** by invocation, how many calls of modules it has made, and whether it has called a function */
  modulesIn = new Map<Invocation, number>();
  callers = new Set<Invocation>();
  frames = new Map<string, FrameFacts>();
  /** by parent, statement and iteration */
  lines = new Map<string, Invocation>();
  numbers = new Map<Invocation, number>();
  maker = new Map<string, Invocation>();
  /** by tensor, where its history was cut off */
  cuts = new Map<string, GradientCut>();
  flows: Flow[] = [];
  order = 0;
  /** by tensor */
  gradFns = new Map<string, string | null>();
  /** of a tensor, after the entry of the log that is read */
  nodeOf: (tensor: string) => string | null = () => null;
  withForward = new Set<Invocation>();
  /** the modules' calls that run */
  running: number[] = [];
  /** the statements that train or make tensors in any of their runs */
  statements: Set<number>;

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.calls = moduleCallsOf(opened);
    const effective = opened.trace.steps.filter((step) =>
      step.kind === "head" ? bindsTensor(opened, step) : isStatementStep(step) && hasEffect(step),
    );
    this.statements = new Set(effective.flatMap(({ stmt }) => stmt ?? []));
    this.root = this.addInvocation("function", null, {});
  }

  read(): InvocationTree {
    const { steps } = this.opened.trace;
    for (const step of steps) {
      for (const [uid, { grad_fn }] of Object.entries(step.set ?? {}))
        if (grad_fn !== undefined) this.gradFns.set(uid, grad_fn);
      for (const entry of step.log ?? [])
        if (
          entry.kind === "event" &&
          entry.event === "path_cut" &&
          entry.result &&
          GRAPH_CUT_OPERATIONS.has(entry.reason)
        )
          this.cuts.set(entry.result, { reason: entry.reason, line: step.line, source: entry.tensor });
      const gradFnAt = gradFnInStep(step, (uid) => this.opened.index.nodes.get(uid)?.next);
      for (const [place, entry] of (step.log ?? []).entries()) {
        this.nodeOf = (uid) => gradFnAt(uid, place, this.gradFns.get(uid));
        this.readEntry(entry, step);
      }
      for (const [uid, fields] of Object.entries(step.set ?? {}))
        if (fields.kind === "frame") this.enterFrame(uid, fields.caller ?? null, this.nameOfFrame(fields, step), step);
      this.placeOtherNodes(step);
      this.placeStatement(step);
      if (step.i === this.opened.trace.outcome.error?.step) this.placeRaisingStatement(step);
    }
    for (const invocation of new Set(this.invocationByNode.values())) this.sortNodes(invocation);
    const invocationByFrame = new Map([...this.frames].map(([uid, { invocation }]) => [uid, invocation]));
    const touched = new Map([...this.touched].map(([step, invocations]) => [step, [...invocations]]));
    const { root, invocationByNode, flows, frames, maker } = this;
    return { root, invocationByNode, touched, invocationByFrame, flows, frames, maker };
  }

  addInvocation(kind: InvocationKind, parent: Invocation | null, fields: Partial<Invocation>): Invocation {
    const empty = { stmt: null, iter: [], line: 0, uid: null, name: null, type: "", begins: 0, ends: 0 };
    const made: Invocation = {
      ...empty,
      kind,
      parent,
      inner: [],
      nodes: [],
      operations: 0,
      isStatement: false,
      hasRaised: false,
      makesObjects: false,
      inputs: [],
      outputs: [],
      reads: new Set(),
      makes: new Set(),
      order: this.order++,
      ...fields,
    };
    parent?.inner.push(made);
    if (parent && kind === "module") this.modulesIn.set(parent, (this.modulesIn.get(parent) ?? 0) + 1);
    if (parent && (kind === "module" || kind === "function")) this.callers.add(parent);
    this.numbers.set(made, this.numbers.size);
    return made;
  }

  readEntry(entry: LogEntry, step: Step) {
    if (entry.kind === "op") this.readOperation(entry, step);
    else if (entry.kind !== "event") return;
    else if (entry.event === "module_called") {
      const call = this.calls.calls.get(entry.call);
      if (!call) return;
      const place = this.placeOf(call.within, step);
      const facts = { uid: call.module, name: call.path, type: call.type, begins: step.i };
      const invocation = this.addInvocation("module", place.parent, {
        ...place.site,
        ...facts,
        ends: call.ends ?? step.i,
      });
      this.invocationByModuleCall.set(call.call, invocation);
      this.running.push(call.call);
      invocation.inputs = call.inputs;
      this.touch(invocation, step.i);
      this.flowInto(invocation, call.inputs, step.i);
    } else if (entry.event === "module_returned") {
      const invocation = this.invocationByModuleCall.get(entry.call);
      const at = this.running.indexOf(entry.call);
      if (at >= 0) this.running.length = at;
      if (!invocation) return;
      invocation.outputs = entry.outputs;
      if (!invocation.inner.length) {
        this.touch(invocation, step.i);
        this.placeNodes(entry.outputs, invocation, step);
      }
      for (const uid of entry.outputs) if (!this.maker.has(uid)) this.maker.set(uid, invocation);
    }
  }

  /** Where something stands that runs in a call: in the statement of the frame that runs, or in code without steps. */
  placeOf(call: number | null | undefined, step: Step): { parent: Invocation; site: Partial<Invocation> } {
    const frame = this.frames.get(step.frame ?? "");
    const within = call ?? null;
    const isOfFrame = within === null || within === (frame?.call ?? null) || !this.invocationByModuleCall.has(within);
    if (!isOfFrame) return { parent: this.invocationByModuleCall.get(within) as Invocation, site: { line: step.line } };
    return {
      parent: frame?.invocation ?? this.root,
      site: { stmt: step.stmt ?? null, iter: step.iter ?? [], line: step.line },
    };
  }

  readOperation(entry: Operation, step: Step) {
    const invocation = this.leafOf(entry.call, step);
    invocation.operations += 1;
    invocation.ends = Math.max(invocation.ends, step.i);
    if (invocation.kind === "line" || invocation.kind === "own") invocation.order = this.order++;
    this.touch(invocation, step.i);
    this.flowInto(invocation, entry.inputs, step.i);
    const cut = entry.inputs.map((uid) => this.cuts.get(uid)).find(Boolean);
    if (!step.visit) for (const uid of entry.inputs) if (!invocation.makes.has(uid)) invocation.reads.add(uid);
    for (const [k, uid] of entry.outputs.entries()) {
      this.maker.set(uid, invocation);
      if (!step.visit) invocation.makes.add(uid);
      if (cut && !entry.requires_grad[k]) this.cuts.set(uid, cut);
    }
    this.placeNodes(entry.outputs, invocation, step);
  }

  /** The invocation that an operation of a call is part of: the line, else the module itself. */
  leafOf(call: number | null | undefined, step: Step): Invocation {
    const { parent, site } = this.placeOf(call, step);
    if (site.stmt === undefined && !this.callers.has(parent)) return parent;
    const part = site.stmt === undefined ? (this.modulesIn.get(parent) ?? 0) : site.stmt;
    const key = `${this.numbers.get(parent)}|${part}|${site.iter?.join() ?? ""}`;
    let invocation = this.lines.get(key);
    if (!invocation) {
      invocation = this.addInvocation(site.stmt === undefined ? "own" : "line", parent, {
        ...site,
        begins: step.i,
        ends: step.i,
      });
      this.lines.set(key, invocation);
    }
    return invocation;
  }

  flowInto(to: Invocation, tensors: string[], step: number) {
    for (const tensor of tensors) {
      const cut = this.cuts.get(tensor) ?? null;
      const source = this.maker.get(cut?.source ?? tensor);
      const from = source?.nodes.length ? source : this.maker.get(tensor); // a leaf has no history to leave behind
      if (from && from !== to) this.flows.push({ from, to, step, cut });
    }
  }

  touch(invocation: Invocation, step: number) {
    const invocations = this.touched.get(step);
    if (invocations) invocations.add(invocation);
    else this.touched.set(step, new Set([invocation]));
  }

  /** A frame of the program's own: a module's forward where it is the first within its call, else a function. */
  /** Of what makes an object the name of its class. */
  nameOfFrame({ name, vars }: Pick<Delta, "name" | "vars">, { i, set }: Step): string {
    if (name !== "__init__") return name ?? "";
    const uid = referencedUid(vars?.self ?? null);
    const fields = uid ? set?.[uid] : undefined;
    const type = fields?.kind === "object" ? fields.type : findEntity(this.opened.state(i), uid ?? "", "object")?.type;
    return type?.split(".").at(-1) ?? name;
  }

  enterFrame(uid: string, caller: string | null, name: string, step: Step) {
    if (this.frames.has(uid)) return;
    if (!caller) {
      this.frames.set(uid, { invocation: this.root, site: null, call: null });
      return;
    }
    const call = this.running.at(-1) ?? null;
    const owner = call === null ? undefined : this.invocationByModuleCall.get(call);
    const isForward = owner && !this.withForward.has(owner) && name === "forward";
    if (isForward) this.withForward.add(owner);
    const { parent, site } = this.placeOf(call, step);
    const invocation = isForward
      ? owner
      : this.addInvocation("function", parent, { ...site, name, begins: step.i, ends: step.i });
    const isOfStep = step.frame === uid; // a hook that began within it
    this.frames.set(uid, { invocation, site: isOfStep ? null : step, call });
  }

  /** The nodes behind results that nobody has made yet. */
  placeNodes(outputs: string[], invocation: Invocation, { i, set }: Step) {
    const pending = outputs.flatMap((uid) => this.nodeOf(uid) ?? []);
    for (let uid = pending.pop(); uid !== undefined; uid = pending.pop()) {
      const fields = set?.[uid];
      if (fields?.kind !== "node" || fields.variable || this.invocationByNode.has(uid)) continue;
      if (typeof fields.born === "number" && fields.born !== i) continue;
      this.placeNode(uid, invocation, i);
      for (const edge of fields.next ?? []) if (edge) pending.push(edge[0]);
    }
  }

  placeNode(uid: string, invocation: Invocation, i: number) {
    invocation.nodes.push(uid);
    invocation.ends = Math.max(invocation.ends, i);
    this.invocationByNode.set(uid, invocation);
    this.touch(invocation, i);
  }

  /** Those of the step that no operation's result leads to. */
  placeOtherNodes(step: Step) {
    for (const [uid, fields] of Object.entries(step.set ?? {}))
      if (fields.kind === "node" && !fields.variable && !this.invocationByNode.has(uid) && fields.born === step.i)
        this.placeNode(uid, this.leafOf(this.calls.callOfNode.get(uid), step), step.i);
  }

  /** A statement of a function that makes tensors, or changes gradients or parameters, without a part of a net. */
  placeStatement(step: Step) {
    const owner = this.frames.get(step.frame ?? "")?.invocation ?? this.root;
    const makesObjects = Object.values(step.set ?? {}).some(({ kind }) => kind === "object");
    if (makesObjects)
      for (
        let invocation: Invocation | null = owner;
        invocation && invocation !== this.root;
        invocation = invocation.parent
      )
        invocation.makesObjects = true;
    const isKnown = [...(this.touched.get(step.i) ?? [])].some(({ kind, nodes }) => kind !== "line" || nodes.length);
    if (owner.kind !== "function" || isKnown || !isStatementStep(step) || !this.statements.has(step.stmt ?? -1)) return;
    // where a loop ends, its head gives the body nothing
    if (loopHead(statementTree(this.opened.trace.program, step.stmt)) && !bindsTensor(this.opened, step)) return;
    if ((step.log ?? []).some((entry) => entry.kind === "event" && entry.event === "module_returned")) return;
    const invocation = this.leafOf(null, step);
    invocation.isStatement = true;
    invocation.makesObjects ||= makesObjects;
    invocation.ends = Math.max(invocation.ends, step.i);
    if (!step.visit) this.touch(invocation, step.i);
  }

  /** The statement at which the run ended, where nothing that it began has a place. */
  placeRaisingStatement(step: Step) {
    const hasRow = [...(this.touched.get(step.i) ?? [])].some(
      ({ kind, isStatement, nodes, begins }) => isStatement || nodes.length || (kind === "module" && begins === step.i),
    );
    if (hasRow) return;
    const invocation = this.leafOf(this.frames.get(step.frame ?? "")?.call, step);
    invocation.isStatement = invocation.hasRaised = true;
    invocation.ends = Math.max(invocation.ends, step.i);
    this.touch(invocation, step.i);
  }

  /** Nodes that others of the invocation read come first. */
  sortNodes(invocation: Invocation) {
    const own = new Set(invocation.nodes);
    const sorted = new Set<string>();
    for (const first of invocation.nodes) {
      const pending = [first];
      while (pending.length) {
        const uid = pending[pending.length - 1];
        const next = this.opened.index.nodes.get(uid)?.next ?? [];
        const before = next.flatMap((edge) => (edge && own.has(edge[0]) && !sorted.has(edge[0]) ? [edge[0]] : []));
        if (before.length && pending.length <= own.size) pending.push(...before.reverse());
        else {
          sorted.add(uid);
          pending.pop();
        }
      }
    }
    invocation.nodes = [...sorted];
  }
}

const isStatementStep = ({ kind }: Step) => kind === "statement" || kind === "visit" || kind === "head";

/** Whether a step makes tensors, changes gradients or steps an optimizer. */
function hasEffect({ log, set, visit }: Step): boolean {
  const isEffect = (entry: LogEntry) =>
    entry.kind === "op"
      ? entry.outputs.length > 0
      : entry.kind === "event" && (EFFECTS.has(entry.event) || (entry.event === "path_cut" && Boolean(entry.result)));
  return (
    visit !== undefined ||
    (log ?? []).some(isEffect) ||
    Object.entries(set ?? {}).some(([uid, fields]) => uid[0] === "t" && fields.kind === undefined && "grad" in fields)
  );
}

/** Whether a loop's head gives its body tensors. */
function bindsTensor({ trace }: OpenTrace, { set, stmt }: Step): boolean {
  const target = loopHead(statementTree(trace.program, stmt))?.target;
  const names = target ? mentionedNames(target) : new Set<string>();
  return Object.values(set ?? {}).some(({ vars }) =>
    Object.entries(vars ?? {}).some(([name, value]) => names.has(name) && referencedUid(value)?.[0] === "t"),
  );
}

const EFFECTS = new Set(["optimizer_stepped", "written"]);
