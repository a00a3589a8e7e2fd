/**
 * What a run did, row by row: a row is an executed statement, with the visits of its backward; steps turned into rows.
 */

import { loomGradientChip } from "../text/grad_chip.ts";
import { recordRowChanges } from "./loom_row_changes.ts";
import { skippedStatements } from "../../trace/steps/skipped_iterations.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { TraceIndex } from "../../trace/trace_index.ts";
import type { Step, Trace } from "../../trace/wire.ts";
import type { LoomRow, LoomPin, LoomRows } from "./run_row.ts";

/** Lines of a statement that are shown. */
const MAX_CODE_LINES = 4;
const BLOCKS = new Set(
  "For AsyncFor With AsyncWith FunctionDef AsyncFunctionDef While If Try TryStar ClassDef Match".split(" "),
);
/** Kinds of steps that go on with the statement of a visit before them. */
const CONTINUING_KINDS = new Set(["visit", "statement", "raise", "return"]);

export function buildLoomRows(opened: OpenTrace): LoomRows {
  const { trace, index } = opened;
  const { steps } = trace;
  const sourceLines = trace.program.source.split("\n");
  const run: LoomRows = {
    rows: [],
    rowOfStep: [],
    storages: new Map(),
    nodes: new Map(),
    pins: new Map(),
    visits: index.visitStepsByNode,
    gradWidths: new Map(),
    storageNames: new Map(),
  };
  for (let first = 0; first < opened.count; first = run.rowOfStep.length) {
    const last = lastStepOfRow(steps, first);
    const row = emptyLoomRow(trace, sourceLines, first, last);
    const r = run.rows.push(row) - 1;
    for (let k = first; k <= last; k++) {
      run.rowOfStep.push(r);
      const { visit } = steps[k];
      if (!visit) continue;
      row.visits.push(k);
      const grad = visit.grad_outputs?.find(Boolean);
      if (grad) run.gradWidths.set(k, loomGradientChip(grad).width);
    }
  }
  addNodesToRows(run, index);
  addSavedTensorPins(run, index);
  for (const r of run.rows.keys()) recordRowChanges(run, r, opened);
  const end = run.rows.length - 1;
  for (const life of run.storages.values()) if (!life.freed) life.death = end;
  return run;
}

function addNodesToRows(runRows: LoomRows, index: TraceIndex) {
  for (const [uid, facts] of index.nodes) {
    const row = runRows.rowOfStep[index.lifetimes.get(uid)?.birth ?? 0];
    runRows.nodes.set(uid, facts);
    runRows.rows[row].nodes.push(uid);
  }
}

function addSavedTensorPins(runRows: LoomRows, index: TraceIndex) {
  const rowOf = (step: number | null) => (step === null ? null : runRows.rowOfStep[step]);
  for (const [key, { stale, changed, released, ...slot }] of index.slots)
    runRows.pins.set(key, {
      ...slot,
      birth: runRows.rowOfStep[slot.birth],
      death: rowOf(released) ?? runRows.rows.length - 1,
      broken: rowOf(stale),
      silent: rowOf(changed),
      released: released !== null,
      steps: { broken: stale ?? Infinity, silent: changed ?? Infinity, released: released ?? Infinity },
    });
}

/** Inputs before what they go into. */
export function sortInputsFirst(nodes: string[], runRows: LoomRows) {
  const included = new Set(nodes);
  const ordered = new Set<string>();
  for (const start of nodes) {
    const stack = [start];
    const opened = new Set();
    while (stack.length) {
      const uid = stack[stack.length - 1];
      const inputs = ordered.has(uid)
        ? []
        : (runRows.nodes.get(uid)?.next ?? []).flatMap((e) =>
            e && included.has(e[0]) && !ordered.has(e[0]) && !opened.has(e[0]) ? [e[0]] : [],
          );
      opened.add(uid);
      if (inputs.length) stack.push(...inputs.reverse());
      else ordered.add(stack.pop() as string);
    }
  }
  return [...ordered];
}

/** What a saved slot is at a step, as the trace says it. */
export function savedSlotStateAt({ steps }: LoomPin, i: number): "held" | "broken" | "silent" | "released" {
  if (steps.broken <= i) return "broken";
  if (steps.silent <= i) return "silent";
  return steps.released <= i ? "released" : "held";
}

/** The last step of a row: what the engine visits belongs to the statement that called it. */
function lastStepOfRow(steps: Step[], first: number) {
  let k = first;
  while (
    steps[k].kind === "visit" &&
    steps[k + 1] &&
    areSameStatement(steps[k], steps[k + 1]) &&
    CONTINUING_KINDS.has(steps[k + 1].kind)
  )
    k++;
  return k;
}

function areSameStatement(a: Step, b: Step) {
  return a.stmt === b.stmt && a.frame === b.frame && String(a.iter) === String(b.iter);
}

function emptyLoomRow(trace: Trace, sourceLines: string[], firstStep: number, lastStep: number): LoomRow {
  const traceStep = trace.steps[lastStep];
  const { code, indent } = firstStatementLines(trace, sourceLines, traceStep);
  return {
    first: firstStep,
    last: lastStep,
    line: traceStep.line,
    kind: traceStep.kind,
    inset: Math.min(6, (traceStep.depth ?? 0) + Math.floor(indent / 4)),
    skipped: skippedStatements(trace.steps[firstStep]),
    code: traceStep.kind === "end" ? [] : code,
    turn: traceStep.iter?.length ? traceStep.iter.join(", ") : "",
    visits: [],
    readers: [],
    writes: new Map(),
    bumps: new Map(),
    nodes: [],
    freed: 0,
  };
}

/** The first lines of a step's statement, without the indentation of the first; of a block its head alone. */
function firstStatementLines(trace: Trace, sourceLines: string[], traceStep: Step) {
  const statement = trace.program.statements?.[traceStep.stmt ?? -1];
  const wholeStatement = statement && !BLOCKS.has(statement.kind) ? statement : null;
  const lastLine = wholeStatement
    ? Math.min(wholeStatement.end_line, wholeStatement.line + MAX_CODE_LINES - 1)
    : traceStep.line;
  const lines = sourceLines.slice((wholeStatement ?? traceStep).line - 1, lastLine);
  const indent = lines.length ? indentOf(lines[0]) : 0;
  const code = lines.map((line) => line.slice(Math.min(indent, indentOf(line))).trimEnd());
  return { code, indent };
}

function indentOf(line: string) {
  return line.length - line.trimStart().length;
}
