/** What diagnoses ask of a run: who made, named, wrote, saved and visited a thing, and when. Built once for a trace, lazily. */

import { find, findHandle, mergeFields } from "../trace/entities.js";
import { EntityHistory } from "../trace/entity_history.js";
import { code } from "./finding.js";
import { Naming } from "./naming.js";
import { operationName } from "./operation_name.js";
import { Scan } from "./scan.js";
import { StepNames } from "./step_names.js";

/** @typedef {import("../trace/entities.js").Handle} Handle */
/** @typedef {import("../trace/entities.js").Tensor} Tensor */
/** @typedef {import("../trace/wire.js").Step} Step */
/** @typedef {import("../trace/trace_index.js").SavedSlot} SavedSlot */
/** @typedef {import("../trace/wire.js").Slot} Slot */
/** @typedef {import("./finding.js").Fact} Fact */
/** @typedef {import("./finding.js").Code} Code */
/** @typedef {import("./finding.js").Place} Place */
/** @typedef {import("./scan.js").Operation} Operation */
/** @typedef {import("./scan.js").BackwardCall} BackwardCall */
/** @typedef {{type: string, message: string, line: number, step: number}} RunError   step: the last that was recorded, where
 *   the trace does not say */

/** Characters of a statement that are looked at: expressions over a text may take as many steps as its square. */
const MAX_CODE = 4000;

const COMPOUND = /^(Async)?(For|With|FunctionDef)$|^(While|If|Try|TryStar|ClassDef|Match)$/;

/** Built for one trace; every method answers for the state after a step, unless it says otherwise. */
export class RunFacts {
  /** @param {import("../trace/state.js").OpenTrace} opened */
  constructor(opened) {
    this.opened = opened;
    this.trace = opened.trace;
    /** @type {Step[]} */
    this.steps = opened.trace.steps ?? [];
    this.source = opened.trace.program.source.split("\n");
    /** @type {Scan | null} */
    this._scan = null;
    /** @type {Naming | null} */
    this._naming = null;
    /** @type {EntityHistory | null} */
    this._entities = null;
    /** @type {StepNames | null} */
    this._names = null;
    /** @type {string[]} by statement, as `code` gives it */
    this._codes = [];
    this.error = runErrorOf(opened.trace, this.steps.length);
  }

  get index() {
    return this.opened.index;
  }

  get scan() {
    this._scan ??= new Scan(this.steps, this.index);
    return this._scan;
  }

  get naming() {
    this._naming ??= new Naming(this);
    return this._naming;
  }

  get entities() {
    this._entities ??= new EntityHistory(this.steps, this.index);
    return this._entities;
  }

  /** The names by which the program reaches things after a step. @param {number} step */
  names(step) {
    this._names ??= new StepNames(this.index, this.entities);
    return this._names.namesAt(step);
  }

  /** The entities after a step, by their uids. @param {number} step */
  state(step) {
    return this.entities.after(step);
  }

  /** A tensor or array as it is after a step; where the step both made and freed it, as it was made.
   * @param {string | null | undefined} uid @param {number} step @returns {Handle | undefined} */
  handle(uid, step) {
    if (!uid) return undefined;
    const current = findHandle(this.state(step), uid);
    if (current) return current;
    const fields = this.scan.initialFields(uid);
    const initial = fields ? mergeFields(undefined, fields) : null;
    return initial?.kind === "tensor" || initial?.kind === "array" ? initial : undefined;
  }

  /** A tensor as it is after a step, as `handle`. @param {string | null | undefined} uid @param {number} step
   * @returns {Tensor | undefined} */
  tensor(uid, step) {
    const handle = this.handle(uid, step);
    return handle?.kind === "tensor" ? handle : undefined;
  }

  /** A node as it is after a step. @param {string | null | undefined} uid @param {number} step */
  node(uid, step) {
    return find(this.state(step), uid, "node");
  }

  /** The step that made an entity; -1 for one that is not known. @param {string | null | undefined} uid */
  birth(uid) {
    return this.index.lives.get(uid ?? "")?.birth ?? -1;
  }

  /** A step's line and number. @param {number} step @returns {Place} */
  place(step) {
    return { line: this.steps[step]?.line ?? 0, step };
  }

  /** A step's line in a sentence; empty for what was there when the recording began. @param {number} step @returns {number | ""} */
  lineOf(step) {
    return this.steps[step]?.kind === "begin" ? "" : this.place(step).line;
  }

  /** The statement of a step as it is written, but for the end of a very long one; of a block its head; empty where there
   * is none. @param {number} step */
  code(step) {
    return this.statementText(step).slice(0, MAX_CODE);
  }

  /** @param {number} step */
  statementText(step) {
    const stmt = this.steps[step]?.stmt ?? -1;
    const statement = this.trace.program.statements?.[stmt];
    if (!statement) return this.source[(this.steps[step]?.line ?? 0) - 1]?.trim() ?? "";
    this._codes[stmt] ??= this.textOf(statement);
    return this._codes[stmt];
  }

  /** @param {import("../trace/wire.js").Statement} statement */
  textOf(statement) {
    if (COMPOUND.test(statement.kind) || statement.end_line === statement.line)
      return this.source[statement.line - 1]
        .slice(statement.col, COMPOUND.test(statement.kind) ? undefined : statement.end_col)
        .trim();
    const lines = this.source.slice(statement.line - 1, statement.end_line);
    lines[lines.length - 1] = lines[lines.length - 1].slice(0, statement.end_col);
    return [lines[0].slice(statement.col), ...lines.slice(1).map((line) => line.trim())].join(" ").trim();
  }

  /** A short form of a step's statement, as a fact. @param {number} step @returns {Code} */
  codeFact(step) {
    const text = this.code(step).replace(/\s+#.*$/, "");
    return code(text.length > 60 ? `${text.slice(0, 59)}…` : text);
  }

  /** The operations of a step, in order. @param {number} step @returns {Operation[]} */
  opsAt(step) {
    return this.scan.opsAt(step);
  }

  /** The operation that made a tensor. @param {string | null | undefined} uid @returns {Operation | undefined} */
  producer(uid) {
    return uid ? this.scan.producer(uid) : undefined;
  }

  /** Every event of a kind, in order.
   * @template {import("../trace/wire.js").Event["event"]} E @param {E} event @returns {import("./scan.js").Occurrence<E>[]} */
  events(event) {
    return /** @type {import("./scan.js").Occurrence<E>[]} */ (this.scan.events(event));
  }

  /** The writes of a storage, in order. @param {string | null | undefined} storageUid */
  writesOf(storageUid) {
    return this.scan.writes.get(storageUid ?? "") ?? [];
  }

  /** The operation that an event says it came from. @param {{step: number, op?: number | null}} event
   * @returns {Operation | undefined} */
  operationOfEvent({ step, op }) {
    return typeof op === "number" ? this.opsAt(step).find(({ at }) => at === op) : undefined;
  }

  /** Calls of the engine, in order. @returns {BackwardCall[]} */
  get backwards() {
    return this.scan.backwards;
  }

  /** The call of the engine that ran at a step, the innermost. @param {number} step @returns {BackwardCall | undefined} */
  backwardAt(step) {
    return this.backwards.findLast((call) => call.step <= step && step <= call.end);
  }

  /** The visit in which the backward failed that raised the error. @returns {{step: number, node: string} | null} */
  get failedVisit() {
    const { error, steps } = this;
    if (!error) return null;
    for (let i = Math.min(error.step, steps.length - 1); i >= 0; i--) {
      const { visit, kind } = steps[i];
      if (visit?.failed) return { step: i, node: visit.node };
      if (kind !== "raise" && kind !== "visit" && i < error.step) return null;
    }
    return null;
  }

  /** The steps of the exception that ended the run, from where it was raised to where it left the program. @returns {number[]} */
  get raiseSteps() {
    const { error, steps } = this;
    if (!error) return [];
    let firstRaise = error.step;
    while (firstRaise > 0 && steps[firstRaise].kind === "raise" && steps[firstRaise - 1].kind === "raise") firstRaise--;
    return Array.from({ length: error.step - firstRaise + 1 }, (_, k) => firstRaise + k);
  }

  /** The step at which the error was raised: the innermost. */
  get errorStep() {
    return this.raiseSteps[0] ?? -1;
  }

  /** The operation of torch that raised the error, where it was one. @returns {Operation | null} */
  get failedOperation() {
    for (const step of this.raiseSteps) {
      const failed = this.opsAt(step).findLast((op) => op.failed);
      if (failed) return failed;
    }
    return null;
  }

  /** The saved slots of a node. @param {string} nodeUid @returns {SavedSlot[]} */
  slotsOfNode(nodeUid) {
    const slots = this.index.nodes.get(nodeUid)?.slots ?? [];
    return slots.flatMap((slot) => this.index.slots.get(`${nodeUid}:${slot}`) ?? []);
  }

  /** What a reader calls a thing: its name, else how it was made; a uid is never said.
   * @param {string | null | undefined} uid @param {number} step at which it is spoken of @returns {Fact} */
  nameFact(uid, step) {
    return this.naming.nameFact(uid, step);
  }

  /** The name that leads to a thing, by the frame of the step before others; null where none ever did.
   * @param {string | null | undefined} uid @param {number} step @returns {string | null} */
  nameText(uid, step) {
    return this.naming.nameText(uid, step);
  }

  /** A node's operation as a reader would call it: `sigmoid`, `addmm`. @param {string | null | undefined} uid */
  operation(uid) {
    return operationName(this.index.nodes.get(uid ?? "")?.name ?? "");
  }
}

/** @param {import("../trace/wire.js").Trace} trace @param {number} count of steps @returns {RunError | null} */
function runErrorOf({ outcome }, count) {
  const { status, error } = outcome;
  if (status !== "raised" || !error) return null;
  const step = Math.min(error.step ?? count - 1, count - 1);
  return { type: error.type, message: error.message, line: error.line ?? 0, step };
}
