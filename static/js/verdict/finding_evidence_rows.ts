/**
 * The rows that a finding is about: tensors by their names with the numbers they hold, what a line wrote over,
 * gradients.
 */

import { cellReads, unqualifiedDtype } from "../trace/reads.ts";
import { resolvePath } from "../findings/facts/resolve.ts";
import { operationNameOfNode } from "../trace/format.ts";
import { findEntity, isHandle, type Cell, type Handle } from "../trace/entities.ts";
import type { ChainLink, Fact, Finding } from "../findings/finding.ts";
import type { RunFacts } from "../findings/facts/run_facts.ts";
import type { Summary } from "../trace/wire.ts";

export interface FindingSummaryRow {
  uid: string;
  step: number;
  storage: string | null;
  /** the line after which it is so */
  line: number;
  /** those that lead to its memory, its own first; empty for what has none */
  names: string[];
  /** what it is called where it has no name */
  called: Fact;
  shape: number[];
  dtype: string;
  /** in logical order; null where the trace does not list them */
  cells: Cell[] | null;
  /** what the step wrote over, by place; null where it wrote nothing there */
  old: (Cell | undefined)[] | null;
  summary: Summary | null;
  /** the versions of its counter before and after the step; null where it has none */
  versions: [number | null, number] | null;
  /** the operation of the node that made it; "" for a tensor without history */
  history: string;
  requiresGrad: boolean;
  leaf: boolean;
  /** a gradient, a `.grad` that is None, or neither */
  kind: "tensor" | "gradient" | "none";
  tone: "cause" | "effect" | "";
}

/** a saved slot as the failing or misled node finds it */
export interface FindingSummaryPin {
  node: string;
  expected: number;
  found: number;
}

interface FindingEvidence {
  /** before the cut, if there is one; else all */
  rows: FindingSummaryRow[];
  /** what the cut leaves */
  rowsAfterCut: FindingSummaryRow[];
  isCut: boolean;
  pin: FindingSummaryPin | null;
}

const MAX_ROWS = 4;
const MAX_NAMES = 3;
const GRADIENT_ROLES = new Set(["none", "gradient", "nonfinite", "used"]);

/** `cause` has the finding's links at the first of the two lines, `effect` those at the second. */
export function findingEvidenceRows(
  facts: RunFacts,
  finding: Finding,
  cause: ChainLink[],
  effect: ChainLink[],
): FindingEvidence {
  const list = new RowList(facts);
  const pin = brokenPin(facts, finding, effect);
  const isCut = cause.some(({ role }) => role === "cut");
  if (pin) list.addPinned(pin.slotKey, finding.cause.step);
  for (const { uids, step } of cause) for (const uid of uids) list.add(uid, step, "cause");
  const before = isCut ? list.take() : [];
  if (isCut || !list.length) for (const { step } of cause) list.addMade(step, "cause");
  for (const { uids, step } of effect) for (const uid of uids) list.add(uid, step, "effect");
  if (!finding.explainsError && finding.chain.some(({ role }) => GRADIENT_ROLES.has(role)))
    addGradients(facts, list, finding, cause, effect);
  for (const { code } of finding.names) list.addNamed(code, effect.at(-1)?.step ?? finding.cause.step);
  if (!list.length && !before.length)
    for (const { uids, step } of finding.chain) for (const uid of uids) list.add(uid, step, "");
  const after = list.take().sort((a, b) => rankOfRow(a) - rankOfRow(b));
  return {
    rows: isCut ? before.slice(0, 2) : after.slice(0, MAX_ROWS),
    rowsAfterCut: isCut ? after.slice(0, MAX_ROWS - Math.min(2, before.length)) : [],
    isCut,
    pin: pin && { node: pin.node, expected: pin.expected, found: pin.found },
  };
}

/** What is about the cause, then gradients, then the rest. */
function rankOfRow({ tone, kind, leaf }: FindingSummaryRow) {
  if (tone === "cause" && !leaf && kind === "tensor") return 0;
  return kind === "tensor" ? 2 : 1;
}

/** The gradients that the cause wrote over, and those that its effect leaves. */
function addGradients(facts: RunFacts, list: RowList, finding: Finding, cause: ChainLink[], effect: ChainLink[]) {
  const withoutGradient = new Set(finding.chain.flatMap(({ role, uids }) => (role === "none" ? uids : [])));
  for (const { uids, step } of cause) for (const uid of uids) list.addGradientOf(uid, step, { onlyWritten: true });
  const shownStep = effect.at(-1)?.step ?? finding.cause.step;
  const step = facts.backwardAt(shownStep)?.end ?? shownStep;
  const named = finding.names.map(({ code }) => resolvePath(facts, code.replace(/\.grad$/, ""), step));
  for (const uid of [...effect.flatMap(({ uids }) => uids), ...cause.flatMap(({ uids }) => uids), ...named])
    if (uid) list.addGradientOf(uid, step, { orNone: withoutGradient.has(uid) });
}

/** Collects rows, each tensor once as long as it holds the same. */
class RowList {
  _facts: RunFacts;
  _rows: FindingSummaryRow[] = [];
  /** by memory, since the last `take` */
  _seen = new Map<string, string>();
  /** by tensor */
  _contents = new Map<string, string>();

  constructor(facts: RunFacts) {
    this._facts = facts;
  }

  get length() {
    return this._rows.length;
  }

  /** The rows so far; the list goes on without them. */
  take() {
    const rows = this._rows;
    this._rows = [];
    this._seen.clear();
    return rows;
  }

  add(uid: string, step: number, tone: FindingSummaryRow["tone"]) {
    const facts = this._facts;
    // what a line binds anew is gone after it, and stood before it
    const birth = facts.birthStep(uid);
    const shownStep = birth === step || facts.stateAt(step).get(uid) ? step : step - 1;
    const handle = birth <= step ? facts.handle(uid, shownStep) : undefined;
    if (handle) this._push(rowOfHandle(facts, uid, handle, shownStep, tone));
  }

  /** What a step made that has a name. */
  addMade(step: number, tone: FindingSummaryRow["tone"]) {
    for (const uid of this._facts.opened.at(step).fresh)
      if (isHandle(this._facts.stateAt(step).get(uid)) && this._facts.nameText(uid, step)) this.add(uid, step, tone);
  }

  /** The memory that a slot keeps. */
  addPinned(slotKey: string, step: number) {
    const slot = this._facts.index.slots.get(slotKey);
    if (!slot) return;
    const uids = [slot.tensor, ...handlesOn(this._facts, slot.storage, step)];
    const uid = uids.find((candidate) => candidate && this._facts.handle(candidate, step));
    if (uid) this.add(uid, step, "cause");
  }

  /** A tensor by a name of the finding. */
  addNamed(name: string, step: number) {
    const uid = resolvePath(this._facts, name, step);
    if (uid) this.add(uid, step, "");
  }

  /**
   * The `.grad` of a tensor, or that it is None after a backward. `onlyWritten`: where the step wrote over it;
   * `orNone`: also of a result, which has none of its own.
   */
  addGradientOf(uid: string, step: number, options: { onlyWritten?: boolean; orNone?: boolean }) {
    const facts = this._facts;
    const tensor = facts.tensor(uid, step);
    const name = facts.nameText(uid, step);
    if (!name || !tensor?.requires_grad) return;
    const names = [`${name}.grad`];
    const grad = tensor.grad ? facts.handle(tensor.grad, step) : undefined;
    if (grad && tensor.grad) {
      const row = rowOfHandle(facts, tensor.grad, grad, step, "effect");
      if (row.old || !options.onlyWritten) this._push({ ...row, names, kind: "gradient" });
      return;
    }
    const mayHave = tensor.leaf || tensor.retains_grad || options.orNone;
    if (options.onlyWritten || !mayHave || !facts.backwardCalls.some((call) => call.end <= step)) return;
    const row = rowOfHandle(facts, uid, tensor, step, "effect");
    this._push({ ...row, uid: `${uid}.grad`, names, kind: "none", cells: null, old: null, summary: null });
  }

  _push(row: FindingSummaryRow) {
    const memory = row.kind === "none" ? row.uid : (row.storage ?? row.uid);
    const content = JSON.stringify([row.cells, row.shape]);
    const isOld = this._seen.get(memory) === content || this._contents.get(row.uid) === content;
    if (isOld) return;
    this._seen.set(memory, content);
    this._contents.set(row.uid, content);
    this._rows.push(row);
  }
}

function rowOfHandle(
  facts: RunFacts,
  uid: string,
  handle: Handle,
  step: number,
  tone: FindingSummaryRow["tone"],
): FindingSummaryRow {
  const state = facts.stateAt(step);
  const storage = findEntity(state, handle.storage, "storage") ?? null;
  const version = versionAt(facts, handle.counter, step);
  const nodeName = facts.index.nodes.get(handle.grad_fn ?? "")?.name ?? "";
  return {
    uid,
    step,
    storage: handle.storage ?? null,
    line: facts.place(step).line,
    names: namesOf(facts, uid, handle, step),
    called: facts.nameFact(uid, step),
    shape: handle.shape ?? [],
    dtype: unqualifiedDtype(handle.dtype),
    cells: facts.cellsOf(uid, step),
    old: overwrittenCells(facts, handle, step),
    summary: storage?.summary?.[unqualifiedDtype(handle.dtype)] ?? null,
    versions: version === null ? null : [versionAt(facts, handle.counter, step - 1), version],
    history: operationNameOfNode(nodeName),
    requiresGrad: Boolean(handle.requires_grad),
    leaf: Boolean(handle.requires_grad && handle.leaf),
    kind: "tensor",
    tone,
  };
}

/** Its own name, then those of others on the same memory. */
function namesOf(facts: RunFacts, uid: string, handle: Handle, step: number): string[] {
  const names = [uid, ...handlesOn(facts, handle.storage, step)].map((other) => {
    const name = facts.nameText(other, step);
    const meansOther = name && !facts.naming.nameAt(other, step) && facts.naming.isBound(name, step);
    return meansOther ? null : name;
  });
  const own = names[0];
  return own ? [...new Set(names.filter((name): name is string => name !== null))].slice(0, MAX_NAMES) : [];
}

function handlesOn(facts: RunFacts, storageUid: string | null | undefined, step: number): string[] {
  if (!storageUid) return [];
  const namedUids = facts.namesAt(step);
  return [...facts.opened.at(step).entities].flatMap(([uid, entity]) =>
    isHandle(entity) && entity.storage === storageUid && namedUids.tags.has(uid) ? [uid] : [],
  );
}

/** What a step wrote over, in the order in which a handle reads it. */
function overwrittenCells(facts: RunFacts, handle: Handle, step: number): (Cell | undefined)[] | null {
  const { oldValues } = facts.opened.at(step);
  if (!oldValues.size) return null;
  const dtype = unqualifiedDtype(handle.dtype);
  const old = cellReads(handle, 1024).map(({ cell }) => oldValues.get(`${handle.storage}:${dtype}:${cell}`));
  return old.some((value) => value !== undefined) ? old : null;
}

function versionAt(facts: RunFacts, counter: string | null | undefined, step: number): number | null {
  return findEntity(facts.stateAt(step), counter, "counter")?.value ?? null;
}

/** The slot of the finding's effect, with the version that its node expects and the one that it finds. */
function brokenPin(facts: RunFacts, finding: Finding, effect: ChainLink[]) {
  const slotKey = [...effect, ...finding.chain].find(({ slot }) => slot)?.slot;
  const slot = slotKey ? facts.index.slots.get(slotKey) : undefined;
  if (!slotKey || !slot || slot.expected === null) return null;
  const found = versionAt(facts, slot.counter, (effect.at(-1) ?? finding.cause).step);
  if (found === null) return null;
  return {
    slotKey,
    node: operationNameOfNode(facts.index.nodes.get(slot.node)?.name ?? ""),
    expected: slot.expected,
    found,
  };
}
