/**
 * The ledger of a gradient: which backwards are in a tensor's `.grad`, what rewrote it, which step used it, and what
 * dropped it.
 */

import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { rangeOfTensor } from "../facts/tensor_values.ts";
import { addToList } from "../../trace/multimap.ts";
import { gradReadings } from "../statements/grad_readings.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { LogEntry } from "../../trace/wire.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Operation } from "../facts/scan.ts";

/**
 * added by a backward; clipped, divided by a scaler's scale, or rewritten otherwise; emptied or filled with other
 * numbers; used by an optimizer's step; read by the program; unseen: anything may have happened among steps that were
 * not recorded
 */
type LedgerEntryKind = "added" | "clipped" | "unscaled" | "rewritten" | "reset" | "used" | "read" | "unseen";

export interface LedgerEntry {
  kind: LedgerEntryKind;
  step: number;
  /** its place in the step's log; Infinity where only the state after the step tells of it */
  at: number;
  /** the backward that added, the optimizer that used */
  by: string;
}

/** a tensor that had a `.grad`, and all that became of it, in order */
export interface GradientLedger {
  uid: string;
  entries: LedgerEntry[];
}

const IN_PLACE_OPERATION = /^aten::\w*[a-z0-9]_(?:\.|$)/;
const REPLACING_OPERATION = /^aten::(?:_foreach_)?(?:zero|fill|copy|set|normal|uniform|masked_fill)_(?:\.|$)/;
const UNSCALING_OPERATION = "aten::_amp_foreach_non_finite_check_and_unscale_";
const NORM_OPERATION = /norm/;
const CLAMPING_OPERATION = /clamp|clip/;

/** The ledger of a tensor; null where no backward gave it a `.grad`. */
export function gradientLedgerOf(facts: RunFacts, uid: string): GradientLedger | null {
  return ledgersByTensor(facts).get(uid) ?? null;
}

/** The ledgers of all tensors that a backward gave a `.grad`, in order of appearance. */
export function gradientLedgers(facts: RunFacts): GradientLedger[] {
  return [...ledgersByTensor(facts).values()];
}

const ledgersByTensor = memoizePerRun((facts: RunFacts): Map<string, GradientLedger> => {
  const uids = facts.index.sortUidsByAppearance([
    ...new Set(facts.eventsOfKind("grad_accumulated").map(({ tensor }) => tensor)),
  ]);
  const entriesByTensor = new Map<string, LedgerEntry[]>(uids.map((uid) => [uid, []]));
  if (uids.length) {
    addAdditions(facts, entriesByTensor);
    addUses(facts, entriesByTensor);
    addWritesAndReads(facts, entriesByTensor);
    addReadsOfText(facts, entriesByTensor);
  }
  const ledgers = new Map<string, GradientLedger>();
  for (const [uid, entries] of entriesByTensor)
    ledgers.set(uid, { uid, entries: entries.sort((a, b) => a.step - b.step || a.at - b.at) });
  return ledgers;
});

function addAdditions(facts: RunFacts, entriesByTensor: Map<string, LedgerEntry[]>) {
  for (const { tensor, step, at } of facts.eventsOfKind("grad_accumulated")) {
    const by = facts.steps[step].visit?.backward ?? facts.backwardAt(step)?.uid ?? "";
    entriesByTensor.get(tensor)?.push({ kind: "added", step, at, by });
  }
}

function addUses(facts: RunFacts, entriesByTensor: Map<string, LedgerEntry[]>) {
  for (const { uid: optimizer, stepped } of facts.optimizers)
    for (const { step, at } of stepped)
      for (const uid of facts.parametersOf(optimizer, step)) {
        const entries = entriesByTensor.get(uid);
        const hasGrad =
          facts.gradOf(uid, step - 1) ||
          entries?.some((entry) => entry.kind === "added" && entry.step === step && entry.at < at);
        if (hasGrad) entries?.push({ kind: "used", step, at, by: optimizer });
      }
}

/** What operations did with gradients, and what became of them without one. */
function addWritesAndReads(facts: RunFacts, entriesByTensor: Map<string, LedgerEntry[]>) {
  const opsByGrad = operationsOnGradients(facts);
  const optimizerPlaces = new Map(facts.eventsOfKind("optimizer_stepped").map(({ step, at }) => [step, at]));
  const skippedSteps = facts.steps.flatMap(({ skipped }, step) => (skipped ? [step] : []));
  for (const [uid, entries] of entriesByTensor) {
    for (const step of skippedSteps) entries.push({ kind: "unseen", step, at: -1, by: "" });
    const changes = facts.history.fieldChanges(uid, "grad");
    const additions = new Set(entries.flatMap(({ kind, step }) => (kind === "added" ? [step] : [])));
    changes.forEach(({ step, value }, k) => {
      const wasAdded = additions.has(step);
      if (!value) entries.push({ kind: "reset", step, at: Infinity, by: "" });
      else if (!wasAdded && k && changes[k - 1].value) {
        const before = String(changes[k - 1].value);
        // steps that were not recorded may have brought another gradient
        const isAnew = !facts.steps[step].skipped && isUnrelatedGradient(facts, before, String(value), step);
        const kind = isAnew ? "reset" : "rewritten";
        entries.push({ kind, step, at: Infinity, by: "" });
      }
    });
    for (const grad of new Set(changes.flatMap(({ value }) => (typeof value === "string" ? [value] : []))))
      entries.push(...entriesOfOperations(facts, grad, opsByGrad.get(grad) ?? [], optimizerPlaces));
  }
}

/** Whether the tensor that took a gradient's place at a step holds nothing of it: zeros, or numbers from elsewhere. */
function isUnrelatedGradient(facts: RunFacts, before: string, after: string, step: number): boolean {
  const range = rangeOfTensor(facts, after, step);
  if (range && range.min === 0 && range.max === 0) return true;
  return facts.dataflow.shortestPath(before, [after], step) === null;
}

/** The operations that took a `.grad`, outside of backward, by the gradient's tensor and step. */
function operationsOnGradients(facts: RunFacts): Map<string, Map<number, Operation[]>> {
  const grads = facts.gradientTensors;
  const out = new Map<string, Map<number, Operation[]>>();
  for (let step = 0; step < facts.steps.length; step++) {
    const { visit, log } = facts.steps[step];
    const takesGradient = (entry: LogEntry) => entry.kind === "op" && entry.inputs.some((uid) => grads.has(uid));
    if (visit || !log?.some(takesGradient) || isPartOfBackward(facts, step)) continue;
    for (const op of facts.opsAt(step))
      for (const uid of new Set(op.inputs)) {
        if (!grads.has(uid)) continue;
        const bySteps = out.get(uid) ?? new Map<number, Operation[]>();
        addToList(bySteps, step, op);
        out.set(uid, bySteps);
      }
  }
  return out;
}

/** Whether a step is that of the statement that ran a backward, which accumulated. */
function isPartOfBackward(facts: RunFacts, step: number) {
  const call = facts.backwardAt(step);
  return call !== undefined && call.stmt === facts.steps[step].stmt;
}

/**
 * `operations` are those that took the gradient, by step. `optimizerPlaces` has, by step, the last place in its log at
 * which an optimizer's step ended.
 */
function entriesOfOperations(
  facts: RunFacts,
  grad: string,
  operations: Iterable<[number, Operation[]]>,
  optimizerPlaces: Map<number, number>,
): LedgerEntry[] {
  const out: LedgerEntry[] = [];
  for (const [step, all] of operations) {
    const unscaling = all.find(({ name }) => name === UNSCALING_OPERATION);
    if (unscaling) out.push({ kind: "unscaled", step, at: unscaling.at, by: "" });
    const stepEnd = optimizerPlaces.get(step) ?? -1;
    const ops = all.filter((op) => op !== unscaling && op.at > stepEnd); // those before are the optimizer's own
    const counter = facts.tensor(grad, step)?.counter ?? facts.tensor(grad, step - 1)?.counter;
    const candidate = ops.findLast(({ name }) => IN_PLACE_OPERATION.test(name));
    const writer = candidate && isCounterBumped(facts, step, counter) ? candidate : undefined;
    const kind = writer && kindOfWrite(writer, ops);
    if (writer && kind) out.push({ kind, step, at: writer.at, by: "" });
    const reader = kind === "clipped" ? undefined : ops.find((op) => op !== writer);
    if (reader) out.push({ kind: "read", step, at: reader.at, by: "" });
  }
  return out;
}

function isCounterBumped({ steps }: RunFacts, step: number, counter: string | null | undefined) {
  return steps[step].log.some(
    (entry) => entry.kind === "event" && entry.event === "version_bumped" && entry.counter === counter,
  );
}

function kindOfWrite(writer: Operation, ops: Operation[]): LedgerEntryKind {
  if (REPLACING_OPERATION.test(writer.name)) return "reset";
  const isClip =
    CLAMPING_OPERATION.test(writer.name) || ops.some((op) => op.at < writer.at && NORM_OPERATION.test(op.name));
  return isClip ? "clipped" : "rewritten";
}

/** Where the text reads a `.grad`: of a tensor that it names, or of one that can't be told from the text. */
function addReadsOfText(facts: RunFacts, entriesByTensor: Map<string, LedgerEntry[]>) {
  const told = new Set<SyntaxNode>();
  for (const { uid, step, node } of gradReadings(facts)) {
    told.add(node);
    entriesByTensor.get(uid)?.push({ kind: "read", step, at: Infinity, by: "" });
  }
  facts.steps.forEach(({ kind, stmt }, step) => {
    if (!["statement", "return", "head"].includes(kind) || typeof stmt !== "number") return;
    if (facts.mentionsAt(step).gradReads.every((node) => told.has(node))) return;
    for (const entries of entriesByTensor.values()) entries.push({ kind: "read", step, at: Infinity, by: "" });
  });
}
