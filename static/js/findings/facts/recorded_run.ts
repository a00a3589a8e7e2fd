/** What a trace tells of a run: who made, named, wrote, saved and visited a thing, and when. */

import { codeFact, type CodeFact, type Fact, type LineAndStep } from "../finding.ts";
import { findEntity, findHandle, mergeEntityFields, type Handle } from "../../trace/entities.ts";
import { addToList } from "../../trace/multimap.ts";
import { EntityHistory } from "../../trace/entity_history.ts";
import { FieldHistory } from "./field_history.ts";
import { EntityNaming } from "./naming.ts";
import { operationName } from "./operation_name.ts";
import { RunScan, type BackwardCall, type EventOccurrence, type NameBinding, type Operation } from "./scan.ts";
import { StepNames } from "./step_names.ts";
import { textOfStatement } from "../../syntax/statement_text.ts";
import { statementTree, type SyntaxNode } from "../../syntax/tree.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { SavedSlot } from "../../trace/trace_index.ts";
import type { CodePlace, Event, SkippedIteration, Step, Tensor, Trace } from "../../trace/wire.ts";

export interface RunError {
  type: string;
  message: string;
  line: number;
  /** the last that was recorded, where the trace does not say */
  step: number;
  /** of a module without steps that raised it */
  place?: CodePlace | null;
  /** that it was raised in, where that was not recorded */
  skippedIteration?: SkippedIteration | null;
  /** whether an edit is offered that lets the program go on, as where there is no CUDA device */
  hasRepairs?: boolean;
}

/** Characters of a statement that are looked at: expressions over a text may take as many steps as its square. */
const MAX_STATEMENT_CHARACTERS = 4000;

/** Built for one trace, lazily; every method answers for the state after a step, unless it says otherwise. */
export class RecordedRun {
  opened: OpenTrace;
  trace: Trace;
  steps: Step[];
  source: string[];
  _scan: RunScan | null = null;
  private enclosingMeanings = new Map<string, NameBinding | null>();
  _naming: EntityNaming | null = null;
  _entities: EntityHistory | null = null;
  _names: StepNames | null = null;
  _history: FieldHistory | null = null;
  _gradientTensors: Set<string> | null = null;
  _gradients: Map<string, EventOccurrence<"grad_accumulated">[]> | null = null;
  /** as they were made, of those that were asked for where they are not */
  private _initialHandles = new Map<string, Handle>();
  /** by statement, as `code` gives it */
  _codes: string[] = [];
  error: RunError | null;

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.trace = opened.trace;
    this.steps = opened.trace.steps ?? [];
    this.source = opened.trace.program.source.split("\n");
    this.error = runErrorOf(opened.trace, this.steps.length);
  }

  get index() {
    return this.opened.index;
  }

  get scan() {
    this._scan ??= new RunScan(this.steps, this.index);
    return this._scan;
  }

  get naming() {
    this._naming ??= new EntityNaming(this);
    return this._naming;
  }

  get entities() {
    this._entities ??= new EntityHistory(this.steps, this.index);
    return this._entities;
  }

  /** How the fields of tensors and the sizes of storages changed. */
  get history() {
    this._history ??= new FieldHistory(this.steps, this.index);
    return this._history;
  }

  /** The last step of what the program does: where it ends with a call for no result, as `main()`, that in it. */
  lastStep(): number {
    const { steps } = this;
    let last = steps.findLastIndex(({ kind }) => kind !== "end");
    const isCallForNoResult = ({ kind, stmt }: Step) =>
      kind === "statement" && typeof stmt === "number" && this.trace.program.statements?.[stmt]?.kind === "Expr";
    while (last > 0 && isCallForNoResult(steps[last]) && steps[last - 1].depth > steps[last].depth) last--;
    return last;
  }

  /** The names by which the program reaches things after a step. */
  namesAt(step: number) {
    this._names ??= new StepNames(this.index, this.entities);
    return this._names.namesAt(step);
  }

  /** What leads to each thing after a step, as a frame reads it; null for the module's. */
  objectNamesAt(step: number, frameUid: string | null) {
    this._names ??= new StepNames(this.index, this.entities);
    return this._names.objectNamesAt(step, frameUid);
  }

  /** The entities after a step, by their uids. */
  stateAt(step: number) {
    return this.entities.stateAfter(step);
  }

  /** A tensor or array as it is after a step; where the step both made and freed it, as it was made. */
  handle(uid: string | null | undefined, step: number): Handle | undefined {
    if (!uid) return undefined;
    const current = findHandle(this.stateAt(step), uid);
    if (current) return current;
    const known = this._initialHandles.get(uid);
    if (known) return known;
    const fields = this.scan.initialFields(uid);
    const initial = fields ? mergeEntityFields(undefined, fields) : null;
    if (initial?.kind !== "tensor" && initial?.kind !== "array") return undefined;
    this._initialHandles.set(uid, initial);
    return initial;
  }

  /** A tensor as it is after a step, as `handle`. */
  tensor(uid: string | null | undefined, step: number): Tensor | undefined {
    const handle = this.handle(uid, step);
    return handle?.kind === "tensor" ? handle : undefined;
  }

  /** A node as it is after a step. */
  node(uid: string | null | undefined, step: number) {
    return findEntity(this.stateAt(step), uid, "node");
  }

  object(uid: string | null | undefined, step: number) {
    return findEntity(this.stateAt(step), uid, "object");
  }

  frame(uid: string | null | undefined, step: number) {
    return findEntity(this.stateAt(step), uid, "frame");
  }

  storage(uid: string | null | undefined, step: number) {
    return findEntity(this.stateAt(step), uid, "storage");
  }

  /** The step that made an entity; -1 for one that is not known. */
  birthStep(uid: string | null | undefined) {
    return this.index.lifetimes.get(uid ?? "")?.birth ?? -1;
  }

  /** The last step at which an entity is there; Infinity for one that is not known. */
  deathStep(uid: string | null | undefined) {
    return this.index.lifetimes.get(uid ?? "")?.death ?? Infinity;
  }

  isParameter(uid: string | null | undefined) {
    return this.scan.initialFields(uid)?.type === "Parameter";
  }

  /** The uids of a tensor's storage, of its `.grad` and of its node after a step. */
  storageOf(uid: string | null | undefined, step: number) {
    return this.history.valueAt(uid ?? "", "storage", step) as string | null;
  }

  gradOf(uid: string | null | undefined, step: number) {
    return this.history.valueAt(uid ?? "", "grad", step) as string | null;
  }

  gradFnOf(uid: string | null | undefined, step: number) {
    return this.history.valueAt(uid ?? "", "grad_fn", step) as string | null;
  }

  /** The names that a thing was given, in order. */
  bindingsOf(uid: string | null | undefined): NameBinding[] {
    return this.scan.bindingsByUid.get(uid ?? "") ?? [];
  }

  /** What a name of a frame came to mean, in order; of a variable of the function around it, first what that meant. */
  meaningsOf(frame: string | null | undefined, name: string | null | undefined): NameBinding[] {
    const meanings = this.scan.meaningsByName.get(`${frame}/${name}`) ?? [];
    const isFree = meanings.length > 0 && this.scan.initialFields(frame)?.free?.includes(name ?? "");
    if (!isFree || meanings[0].step !== this.birthStep(frame)) return meanings;
    const key = `${frame}/${name}`;
    let around = this.enclosingMeanings.get(key);
    if (around === undefined) {
      around = this.enclosingMeaning(meanings[0]);
      this.enclosingMeanings.set(key, around);
    }
    return around ? [around, ...meanings.slice(1)] : meanings;
  }

  /** What a free variable meant last in another function before its own began. */
  private enclosingMeaning({ uid, name, frame, step }: NameBinding): NameBinding | null {
    let found: NameBinding | null = null;
    for (const meanings of this.scan.meaningsByName.values()) {
      if (meanings[0].name !== name || meanings[0].frame === frame) continue;
      const last = meanings.findLast((meaning) => meaning.step < step);
      if (last && last.uid === uid && (!found || last.step > found.step)) found = last;
    }
    return found;
  }

  /** The steps at which backwards came to a node, in order. */
  visitsOf(node: string | null | undefined): number[] {
    return this.index.visitStepsByNode.get(node ?? "") ?? [];
  }

  /** A step's line and number. */
  place(step: number): LineAndStep {
    return { line: this.steps[step]?.line ?? 0, step };
  }

  /** Where a call of the engine stands: its first step may be one of a hook, whose line is another. */
  placeOfBackward({ stmt, step }: BackwardCall): LineAndStep {
    const statement = this.trace.program.statements?.[stmt ?? -1];
    return { line: statement?.line ?? this.place(step).line, step };
  }

  /** A short form of the statement that called the engine, as a fact. */
  backwardStatementFact({ stmt, step }: BackwardCall): CodeFact {
    return typeof stmt === "number"
      ? shortCodeFact(textOfStatement(this.trace.program, stmt))
      : this.statementFact(step);
  }

  /** A step's line in a sentence; empty for what was there before. */
  lineOf(step: number): number | "" {
    return isInitialStateStep(this.steps[step]) ? "" : this.place(step).line;
  }

  /** The statement of a step as `textOfStatement` has it, but for the end of a very long one. */
  statementCode(step: number) {
    return this.statementText(step).slice(0, MAX_STATEMENT_CHARACTERS);
  }

  statementText(step: number) {
    const { stmt, line } = this.steps[step] ?? {};
    if (typeof stmt !== "number") return this.source[(line ?? 0) - 1]?.trim() ?? "";
    this._codes[stmt] ??= textOfStatement(this.trace.program, stmt);
    return this._codes[stmt];
  }

  /** What the statement of a step mentions, of a block its head; null where that is unknown. */
  syntax(step: number): SyntaxNode | null {
    return statementTree(this.trace.program, this.steps[step]?.stmt);
  }

  /** A short form of a step's statement, as a fact. */
  statementFact(step: number): CodeFact {
    return shortCodeFact(this.statementCode(step));
  }

  /** The operations of a step, in order. */
  opsAt(step: number): Operation[] {
    return this.scan.opsAt(step);
  }

  /** The operations that took a tensor, in order. */
  usesOf(uid: string): Operation[] {
    return this.scan.usesOf(uid);
  }

  /** The operation that made a tensor. */
  producingOperation(uid: string | null | undefined): Operation | undefined {
    return uid ? this.scan.producingOperation(uid) : undefined;
  }

  /**
   * Whether a step is a visit behind the first of its backward; the first has what its statement computed before, too.
   */
  isInsideBackward(step: number) {
    const backward = this.steps[step]?.visit?.backward;
    return backward !== undefined && this.steps[step - 1]?.visit?.backward === backward;
  }

  /** Every event of a kind, in order. */
  eventsOfKind<E extends Event["event"]>(event: E): EventOccurrence<E>[] {
    return this.scan.eventsOfKind(event) as EventOccurrence<E>[];
  }

  /** The writes of a storage, in order. */
  writesOf(storageUid: string | null | undefined) {
    return this.scan.writesByStorage.get(storageUid ?? "") ?? [];
  }

  /** The writes of the storage that a tensor has after a step, in order. */
  writesTo(uid: string | null | undefined, step: number) {
    return this.writesOf(this.storageOf(uid, step));
  }

  /** The gradients that were added to a tensor's `.grad`, in order. */
  gradientsTo(uid: string) {
    if (!this._gradients) {
      this._gradients = new Map();
      for (const event of this.eventsOfKind("grad_accumulated")) addToList(this._gradients, event.tensor, event);
    }
    return this._gradients.get(uid) ?? [];
  }

  /** The tensors that a backward left in a `.grad`. */
  get gradientTensors(): Set<string> {
    const grads = () =>
      this.eventsOfKind("grad_accumulated").flatMap((event) => this.gradOf(event.tensor, event.step) ?? []);
    this._gradientTensors ??= new Set(grads());
    return this._gradientTensors;
  }

  /** The operation that an event says it came from. */
  operationOfEvent({ step, op }: { step: number; op?: number | null }): Operation | undefined {
    return typeof op === "number" ? this.opsAt(step).find(({ at }) => at === op) : undefined;
  }

  /** Calls of the engine, in order. */
  get backwardCalls(): BackwardCall[] {
    return this.scan.backwardCalls;
  }

  /** The call of the engine that ran at a step, the innermost. */
  backwardAt(step: number): BackwardCall | undefined {
    return this.backwardCalls.findLast((call) => call.step <= step && step <= call.end);
  }

  /** The visit in which the backward failed that raised the error. */
  get failedVisit(): { step: number; node: string } | null {
    const { error, steps } = this;
    if (!error) return null;
    for (let i = Math.min(error.step, steps.length - 1); i >= 0; i--) {
      const { visit, kind } = steps[i];
      if (visit?.failed) return { step: i, node: visit.node };
      if (kind !== "raise" && kind !== "visit" && i < error.step) return null;
    }
    return null;
  }

  /** The steps of the exception that ended the run, from where it was raised to where it left the program. */
  get stepsOfFinalException(): number[] {
    const { error, steps } = this;
    if (!error) return [];
    let firstRaise = error.step;
    while (firstRaise > 0 && steps[firstRaise].kind === "raise" && steps[firstRaise - 1].kind === "raise") firstRaise--;
    return Array.from({ length: error.step - firstRaise + 1 }, (_, k) => firstRaise + k);
  }

  /** The step at which the error was raised: the innermost. */
  get errorStep() {
    return this.stepsOfFinalException[0] ?? -1;
  }

  /**
   * Whether the program came to its end, or to an `assert` of its own that failed outside of any loop: only then what
   * did not happen never did.
   */
  get ranToItsEnd(): boolean {
    if (this.trace.outcome.status === "finished") return true;
    if (this.error?.type !== "AssertionError") return false;
    const statements = this.stepsOfFinalException.map(
      (step) => this.trace.program.statements?.[this.steps[step].stmt ?? -1],
    );
    return statements[0]?.kind === "Assert" && statements.every((each) => each && (each.loop ?? null) === null);
  }

  /** The operation of torch that raised the error, where it was one. */
  get failedOperation(): Operation | null {
    for (const step of this.stepsOfFinalException) {
      const failed = this.opsAt(step).findLast((op) => op.failed);
      if (failed) return failed;
    }
    return null;
  }

  /** The saved slots of a node. */
  slotsOfNode(nodeUid: string): SavedSlot[] {
    const slots = this.index.nodes.get(nodeUid)?.slots ?? [];
    return slots.flatMap((slot) => this.index.slots.get(`${nodeUid}:${slot}`) ?? []);
  }

  /** What a reader calls a thing at a step: its name, else how it was made; a uid is never said. */
  nameFact(uid: string | null | undefined, step: number): Fact {
    return this.naming.nameFact(uid, step);
  }

  /** The nearest tensor with a name that one without is a view of; itself where there is none. */
  namedViewSource(uid: string, step: number): string {
    const storage = this.handle(uid, step)?.storage;
    for (let current: string | undefined = uid; current; current = this.producingOperation(current)?.inputs[0]) {
      if (this.handle(current, step)?.storage !== storage) break;
      if (this.nameText(current, step)) return current;
    }
    return uid;
  }

  /** The name that leads to a thing, by the frame of the step before others; null where none ever did. */
  nameText(uid: string | null | undefined, step: number): string | null {
    return this.naming.nameText(uid, step);
  }

  /** A node's operation as a reader would call it: `sigmoid`, `addmm`. */
  nodeOperationName(uid: string | null | undefined) {
    return operationName(this.index.nodes.get(uid ?? "")?.name ?? "");
  }
}

function shortCodeFact(text: string): CodeFact {
  return codeFact(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/**
 * Whether a step made nothing of what it shows first: the one with which the recording began, and a call by code that
 * is not the program's.
 */
export function isInitialStateStep(step: Step | undefined) {
  return step?.kind === "begin" || (step?.kind === "call" && step.depth === 0 && (step.stmt ?? null) === null);
}

/** `count` is the number of steps. */
function runErrorOf({ outcome }: Trace, count: number): RunError | null {
  const { status, error } = outcome;
  if (status !== "raised" || !error) return null;
  const step = Math.min(error.step ?? count - 1, count - 1);
  const { type, message, line, place, skipped_iteration: skippedIteration, repairs } = error;
  return { type, message, line: line ?? 0, step, place, skippedIteration, hasRepairs: Boolean(repairs?.length) };
}
