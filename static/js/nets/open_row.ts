/**
 * What the open row of a step shows: the tensors that its call site read and made, each beside its gradient, and the
 * nodes
 * between them with what they kept.
 */

import { cellAsNumber, cellsReadBy } from "../findings/facts/cell_values.ts";
import { parameterStatesOf } from "../findings/account/parameter_rounds.ts";
import { entityHistoryOf } from "../trace/entity_history.ts";
import { findEntity, mergeEntityFields, type Cell, type EntityLookup } from "../trace/entities.ts";
import { operationExpression } from "../findings/facts/operation_expression.ts";
import { mentionedNames } from "../syntax/name_uses.ts";
import { referencedUid } from "../trace/names.ts";
import { statementTree } from "../syntax/tree.ts";
import { itemsize, numel, unqualifiedDtype } from "../trace/reads.ts";
import { changesShapeOnly, operationLabel } from "./net_words.ts";
import type { Grad, Step, Summary } from "../trace/wire.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { Invocation } from "./net_calls.ts";

/** An expression that is longer leaves no room for what is said beside it. */
const MAX_NAME_CHARACTERS = 28;

/** Numbers in logical order; where there are too many to list, what the trace has of all of them. */
export interface RowValues {
  shape: number[];
  cells: Cell[] | null;
  summary: Summary | null;
}

/** in: came to a result; out: went on from what was read; grad: in the `.grad` of a leaf */
type GradientRole = "in" | "out" | "grad";

export interface RowGradient extends RowValues {
  role: GradientRole;
  /** it came, or was written, with this step */
  isFresh: boolean;
}

export interface RowTensor extends RowValues {
  uid: string;
  role: "read" | "parameter" | "made";
  /** as its module or the program calls it; null where nothing leads to it */
  name: string | null;
  /** what made it; null for a leaf and where that is not known */
  maker: Invocation | null;
  madeOn: number | null;
  isLeaf: boolean;
  requiresGrad: boolean;
  /** null where the trace does not tell */
  version: number | null;
  /** its memory has been freed: its numbers are the last that it had */
  isGone: boolean;
  /** this step wrote it */
  isWritten: boolean;
  /** how far an optimizer's step moved it; undefined where none did */
  moved: number | undefined;
  gradient: RowGradient | null;
  /** where no gradient is shown: it may still come; none: backward has passed; absent: its `.grad` is None, and a
   * finding says so; cleared: the step set it to None */
  gradientState: "waits" | "none" | "absent" | "cleared" | null;
  /** a finding speaks of it */
  isTold: boolean;
}

/** kept: for backward; gone: let go of; now: let go of by this step; changed: written over since */
type SlotState = "kept" | "gone" | "now" | "changed";

interface RowSlot {
  name: string;
  shape: number[] | null;
  state: SlotState;
}

export interface RowNode {
  word: string;
  isShapeOnly: boolean;
  isNow: boolean;
  hasRun: boolean;
  slots: RowSlot[];
}

export interface OpenRow {
  invocation: Invocation;
  read: RowTensor[];
  nodes: RowNode[];
  made: RowTensor[];
  /** the program raised in it, at the step that is shown */
  hasRaised: boolean;
}

/** The open row of a call site at a step; null for one that has not run. `told` are tensors that are shown first. */
export function openRowOf(facts: NetFacts, callSite: CallSite, i: number, told: string[] = []): OpenRow | null {
  const { calls, shown } = facts.stateAt(callSite, i);
  // of several calls that of which something is told
  const uses = ({ inputs, reads }: Invocation) => told.some((uid) => inputs.includes(uid) || reads.has(uid));
  const call = calls.find(({ invocation, hasBegun }) => hasBegun && uses(invocation)) ?? calls[shown];
  const invocation = call?.hasBegun ? call.invocation : unfinishedInvocation(callSite, i);
  return invocation && new OpenRowReader(facts, invocation, i, told).read();
}

/** A statement that an error ended before it had run. */
function unfinishedInvocation({ invocations }: CallSite, i: number): Invocation | null {
  return invocations.find(({ isStatement, begins, ends }) => isStatement && begins <= i && i <= ends) ?? null;
}

const tensorsByInvocation = new WeakMap<Invocation, { reads: string[]; made: string[] }>();

function invocationsWithin(invocation: Invocation): Invocation[] {
  return [invocation, ...invocation.inner.flatMap(invocationsWithin)];
}

class OpenRowReader {
  facts: NetFacts;
  invocation: Invocation;
  i: number;
  step: Step;
  nodes: string[];
  told: Set<string>;

  constructor(facts: NetFacts, invocation: Invocation, i: number, told: string[]) {
    this.told = new Set(told);
    this.facts = facts;
    this.invocation = invocation;
    this.i = i;
    this.step = facts.opened.trace.steps[i];
    this.nodes = facts.nodes(invocation);
  }

  get hasRaised() {
    return this.invocation.hasRaised || this.facts.opened.trace.outcome.error?.step === this.i;
  }

  read(): OpenRow {
    const { invocation, facts } = this;
    const nodes = this.nodes.map((uid) => this.node(uid));
    const isModule = invocation.kind === "module";
    const steps = invocation.isStatement ? this.writtenParameters() : [];
    if (steps.length) {
      const told = this.toldTensors().filter(
        (uid) => findEntity(facts.opened.state(this.i), uid, "tensor")?.type === "Parameter",
      );
      const written = [...new Set([...told, ...steps])];
      const first = [...this.backwardRoots()].map((uid) => this.tensor(uid, "read"));
      const read = written
        .map((uid) => this.tensor(uid, "parameter"))
        .sort((a, b) => updateMagnitude(b) - updateMagnitude(a));
      return { invocation, read: [...first, ...read], nodes, made: [], hasRaised: this.hasRaised };
    }
    let { reads, made } =
      isModule && invocation.outputs.length
        ? { reads: invocation.inputs, made: invocation.outputs }
        : this.tensorsOf(invocation);
    if (invocation.hasRaised && !reads.length) reads = this.toldTensors();
    else if (!reads.length && !made.length && !nodes.length) made = this.lastBoundTensors();
    made = made.filter((uid) => findEntity(this.lastMomentOf(uid), uid, "tensor"));
    const parameters = isModule ? this.parametersOf(invocation) : [];
    const isShown = (uid: string) => !parameters.includes(uid) && !made.includes(uid);
    return {
      invocation,
      read: [
        ...[...new Set(reads)].filter(isShown).map((uid) => this.tensor(uid, "read")),
        ...parameters.map((uid) => this.tensor(uid, "parameter")),
      ],
      nodes,
      made: [...new Set(made)].map((uid) => this.tensor(uid, "made")),
      hasRaised: this.hasRaised,
    };
  }

  /** What the operations of an invocation read from elsewhere, and what they made: what has a name, else the last. */
  tensorsOf(invocation: Invocation): { reads: string[]; made: string[] } {
    let known = tensorsByInvocation.get(invocation);
    if (!known) {
      const inner = invocationsWithin(invocation);
      const makes = new Set(inner.flatMap((each) => [...each.makes]));
      const reads = inner.flatMap((each) => [...each.reads]).filter((uid) => !makes.has(uid));
      const named = [...makes].filter((uid) => this.facts.bindings.has(uid));
      known = { reads: [...new Set(reads)], made: named.length ? named : [...makes].slice(-1) };
      tensorsByInvocation.set(invocation, known);
    }
    return known;
  }

  /** Of the tensors that a finding speaks of, those that are there. */
  toldTensors(): string[] {
    return [...this.told].filter((uid) => findEntity(this.facts.opened.state(this.i), uid, "tensor"));
  }

  /** The tensors to which a statement has given names last. */
  lastBoundTensors(): string[] {
    const { steps } = this.facts.opened.trace;
    const stepOf = (bindings: { step: number }[]) =>
      bindings.findLast(({ step }) => step <= this.invocation.ends && steps[step].stmt === this.invocation.stmt)
        ?.step ?? -1;
    const found = [...this.facts.bindings].map(([uid, bindings]) => ({ uid, step: stepOf(bindings) }));
    const last = Math.max(0, ...found.map(({ step }) => step));
    return found.flatMap(({ uid, step }) => (step === last ? [uid] : []));
  }

  /** The steps of a statement: of a backward, those of its nodes too. */
  ownSteps() {
    const { begins, ends, stmt } = this.invocation;
    return this.facts.opened.trace.steps.slice(begins, ends + 1).filter((step) => step.stmt === stmt);
  }

  /** What a statement differentiates: the results of the nodes at which its backwards begin. */
  backwardRoots(): Set<string> {
    const first = new Map<string, string>();
    for (const { visit } of this.ownSteps())
      if (visit && !first.has(visit.backward)) first.set(visit.backward, visit.node);
    return new Set([...first.values()].flatMap((node) => this.facts.resultOfNode.get(node) ?? []));
  }

  /** Parameters, also those without a module, whose numbers or gradients a statement changed. */
  writtenParameters(): string[] {
    const storages = new Set<string>();
    const changed = new Set<string>();
    for (const { log, set, visit } of this.ownSteps()) {
      if (visit?.accumulates) changed.add(visit.accumulates);
      for (const [uid, fields] of Object.entries(set ?? {})) if ("grad" in fields) changed.add(uid);
      for (const entry of visit ? [] : (log ?? []))
        if (entry.kind === "event" && entry.event === "written") storages.add(entry.storage);
    }
    const { opened, bindings } = this.facts;
    const entities = entityHistoryOf(opened).stateAfter(this.invocation.ends);
    return [...new Set([...opened.index.moduleOfTensor.keys(), ...bindings.keys()])].filter((uid) => {
      const tensor = findEntity(entities, uid, "tensor");
      if (!tensor || !(tensor.type === "Parameter" || (tensor.leaf && tensor.requires_grad))) return false;
      const grad = findEntity(entities, tensor.grad, "tensor");
      return changed.has(uid) || storages.has(tensor.storage ?? "") || storages.has(grad?.storage ?? "");
    });
  }

  parametersOf({ uid, inner }: Invocation): string[] {
    const module = inner.length ? undefined : findEntity(this.facts.opened.state(this.i), uid ?? "", "object");
    return Object.values(module?.attrs ?? {}).flatMap((value) => {
      const ref = referencedUid(value);
      return ref && findEntity(this.facts.opened.state(this.i), ref, "tensor")?.type === "Parameter" ? [ref] : [];
    });
  }

  tensor(uid: string, role: RowTensor["role"]): RowTensor {
    const { opened } = this.facts;
    const now = opened.state(this.i);
    const lookup = now.has(uid) ? now : this.lastMomentOf(uid);
    const handle = findEntity(lookup, uid, "tensor");
    const storage = handle?.storage ?? null;
    const isGone = storage !== null && !now.has(storage);
    const values = isGone ? lookup : now;
    const birth = opened.index.lifetimes.get(uid)?.birth;
    const counter = findEntity(now, handle?.counter, "counter") ?? findEntity(lookup, handle?.counter, "counter");
    const gradient = handle ? this.gradientOf(uid, role) : null;
    return {
      uid,
      role,
      name: this.nameOf(uid, role),
      maker: this.facts.net.maker.get(uid) ?? null,
      madeOn: birth === undefined ? null : (opened.trace.steps[birth]?.line ?? null),
      isLeaf: handle?.leaf ?? false,
      requiresGrad: handle?.requires_grad ?? false,
      version: counter?.value ?? null,
      isGone,
      isWritten: storage !== null && this.writes(storage),
      moved: this.movedBy(uid),
      ...this.valuesOf(handle, values),
      shape: handle?.shape ?? [],
      gradient,
      gradientState: gradient ? null : this.gradientState(handle?.requires_grad ?? false, role, uid),
      isTold: this.told.has(uid),
    };
  }

  /** What there was when a tensor that is gone was there last: within its step, where it did not outlive that. */
  lastMomentOf(uid: string): EntityLookup {
    const { opened } = this.facts;
    const history = entityHistoryOf(opened);
    const { birth, death } = opened.index.lifetimes.get(uid) ?? { birth: 0, death: 0 };
    if (death >= birth) return history.stateAfter(Math.min(this.i, death));
    const { set } = opened.trace.steps[birth];
    const before = history.stateAfter(birth - 1);
    return {
      get(other) {
        const fields = set?.[other];
        return fields ? (mergeEntityFields(before.get(other), fields) ?? undefined) : before.get(other);
      },
    };
  }

  valuesOf(handle: ReturnType<typeof findEntity<"tensor">> | null, entities: Parameters<typeof cellsReadBy>[0]) {
    if (!handle) return { cells: null, summary: null };
    const cells = cellsReadBy(entities, handle);
    const storage = findEntity(entities, handle.storage, "storage");
    // of a part of a memory nothing is told by what holds of all of it
    const isAll = storage?.nbytes === numel(handle.shape) * itemsize(handle.dtype);
    const summary = cells || !isAll ? null : (storage?.summary?.[unqualifiedDtype(handle.dtype)] ?? null);
    return { cells, summary };
  }

  writes(storage: string) {
    return (this.step.log ?? []).some(
      (entry) => entry.kind === "event" && entry.event === "written" && entry.storage === storage,
    );
  }

  movedBy(uid: string) {
    const isStep = (this.step.log ?? []).some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped");
    return isStep ? parameterStatesOf(this.facts.opened).movedAt(uid, this.i) : undefined;
  }

  nameOf(uid: string, role: RowTensor["role"]): string | null {
    if (role === "parameter" && this.invocation.kind === "module") return this.facts.leafName(uid, this.i);
    if (this.facts.opened.index.moduleOfTensor.has(uid)) return this.facts.opened.names(this.i).paths.get(uid) ?? null;
    const { begins, ends, kind, stmt } = this.invocation;
    const until = role === "made" ? ends + 1 : begins - (kind === "module" ? 0 : 1);
    const tree = stmt === null ? null : statementTree(this.facts.opened.trace.program, stmt);
    const name = this.facts.variableOf(uid, until, tree ? mentionedNames(tree) : new Set());
    if (name) return name;
    const base = findEntity(this.lastMomentOf(uid), uid, "tensor")?.base;
    const whole = base && base !== uid ? this.nameOf(base, role) : null;
    if (whole) return whole.endsWith("]") ? whole : `${whole}[…]`;
    return role === "read" ? this.expressionOf(uid) : null;
  }

  /** The expression whose value a tensor without a name is, where it is as short as a name. */
  expressionOf(uid: string): string | null {
    const { trace, index } = this.facts.opened;
    const ops = (trace.steps[index.lifetimes.get(uid)?.birth ?? -1]?.log ?? []).filter((entry) => entry.kind === "op");
    const own = ops.findIndex(({ outputs }) => outputs.includes(uid));
    const expression = own < 0 ? null : operationExpression(trace.program, ops, own);
    return expression?.isValue && expression.text.length <= MAX_NAME_CHARACTERS ? expression.text : null;
  }

  /** The gradient of a tensor in the last backward that came this way. */
  gradientOf(uid: string, role: RowTensor["role"]): RowGradient | null {
    const { opened, gradFn } = this.facts;
    const now = opened.state(this.i);
    const handle = findEntity(now, uid, "tensor");
    const node = gradFn.get(uid);
    if (handle?.grad && (handle.leaf || !node)) {
      const grad = findEntity(now, handle.grad, "tensor");
      const isFresh = this.step.visit?.accumulates === uid || (grad?.storage ? this.writes(grad.storage) : false);
      return { role: "grad", isFresh, shape: grad?.shape ?? [], ...this.valuesOf(grad ?? null, now) };
    }
    if (handle?.leaf) return null;
    const isResult = node !== undefined && (this.nodes.includes(node) || this.invocation.isStatement);
    const parts = role !== "parameter" && isResult ? this.gradientsInto(uid, node) : this.gradientsSentTo(node);
    return parts.length ? { role: isResult ? "in" : "out", ...sumOf(parts, this.i) } : null;
  }

  /** What came to a node for one of its results. */
  gradientsInto(uid: string, node: string): { grad: Grad; step: number }[] {
    const step = this.facts.lastVisit(node, this.i);
    const number = findEntity(
      entityHistoryOf(this.facts.opened).stateAfter(this.invocation.ends),
      uid,
      "tensor",
    )?.output_nr;
    const grads = step === null ? [] : (this.facts.opened.trace.steps[step].visit?.grad_outputs ?? []);
    const grad = grads[number ?? 0];
    return grad && step !== null ? [{ grad, step }] : [];
  }

  /** What the nodes of this call site sent on to the node of a tensor that they read. */
  gradientsSentTo(node: string | undefined): { grad: Grad; step: number }[] {
    const { opened } = this.facts;
    if (!node) return [];
    return this.nodes.flatMap((own) => {
      const step = this.facts.lastVisit(own, this.i);
      const next = opened.index.nodes.get(own)?.next ?? [];
      return next.flatMap((edge, k) => {
        const grad = edge?.[0] === node && step !== null ? opened.trace.steps[step].visit?.grad_inputs[k] : null;
        return grad && step !== null ? [{ grad, step }] : [];
      });
    });
  }

  gradientState(requiresGrad: boolean, role: RowTensor["role"], uid: string): RowTensor["gradientState"] {
    const isCleared = this.step.set?.[uid]?.grad === null;
    // where a call of a module has raised, no gradient is what is missed
    const isMissed = this.told.has(uid) && !(this.hasRaised && this.invocation.kind === "module");
    if (role === "parameter" && requiresGrad && (isCleared || isMissed)) return isMissed ? "absent" : "cleared";
    if (!this.nodes.length && role === "read") return null;
    if (!requiresGrad || !this.facts.isBackward(this.i)) return null;
    if (this.facts.isLeftOut(this.nodes, this.i)) return "none";
    if (role === "parameter" || !this.facts.gradFn.has(uid)) return this.facts.willArrive(uid, this.i) ? "waits" : null;
    return this.nodes.some((node) => this.facts.lastVisit(node, this.i) === null) ? "waits" : null;
  }

  node(uid: string): RowNode {
    const { opened } = this.facts;
    const name = opened.index.nodes.get(uid)?.name ?? "";
    const now = findEntity(opened.state(this.i), uid, "node");
    const before = this.i > 0 ? findEntity(opened.state(this.i - 1), uid, "node") : undefined;
    const slots = Object.entries((now ?? before)?.saved ?? {}).filter(
      ([, slot]) => slot.storage || slot.tensor || slot.state === "freed",
    );
    const isGone = (node: typeof now) => !node || Boolean(node.released);
    return {
      word: operationLabel(name),
      isShapeOnly: changesShapeOnly(name),
      isNow: this.step.visit?.node === uid,
      hasRun: this.facts.lastVisit(uid, this.i) !== null,
      slots: slots.map(([slot, { shape, state }]) => ({
        name: slot.replace(/^_saved_/, ""),
        shape: shape ?? null,
        state: isGone(now)
          ? isGone(before)
            ? "gone"
            : "now"
          : state === "stale" || state === "changed"
            ? "changed"
            : "kept",
      })),
    };
  }
}

/** One gradient, or the sum of several where all their numbers are there. */
function sumOf(parts: { grad: Grad; step: number }[], i: number): RowValues & { isFresh: boolean } {
  const isFresh = parts.some(({ step }) => step === i);
  const last = parts.at(-1)?.grad as Grad;
  const numbers = parts.map(({ grad }) => grad.cells);
  const isListed = numbers.every(
    (cells) => cells && cells.length === numel(last.shape) && cells.every((cell) => typeof cell === "number"),
  );
  if (parts.length === 1)
    return { isFresh, shape: last.shape, cells: last.cells ?? null, summary: last.summary ?? null };
  const cells = isListed
    ? (numbers[0] as number[]).map((_, k) => numbers.reduce((sum, each) => sum + ((each as number[])[k] ?? 0), 0))
    : null;
  return { isFresh, shape: last.shape, cells, summary: null };
}

/** By what the parameters that a statement changed are sorted: how far they moved, else the size of their gradients. */
function updateMagnitude({ moved, gradient }: RowTensor): number {
  const numbers = gradient?.cells ?? gradient?.summary?.heat ?? [];
  return moved ?? Math.hypot(...numbers.map(cellAsNumber).filter(Number.isFinite));
}
