/** What a run did, row by row: a row is an executed statement, with the visits of its backward; steps turned into rows. */

import { gradientChip } from "./chip.js";
import { recordRow } from "./loom_row_changes.js";
import { RowState } from "./loom_row_state.js";

/** @typedef {import("../trace/entities.js").Cell} Cell */
/** @typedef {import("../trace/wire.js").Step} Step */
/** @typedef {import("../trace/wire.js").Trace} Trace */
/**
 * @typedef {{was: Cell, now: Cell}} Change
 * @typedef {{storage: string, by: string | null, silent: boolean, cells: Map<string, Change>, step: number,
 *   span: [string, number, number] | null}} Write
 *   cells by `dtype:index`; span: dtype, first and last element, where the elements are too many to list
 * @typedef {{uid: string, key: string, entity: import("../trace/entities.js").Handle, title: string, alias: boolean, grad: boolean,
 *   named: boolean, cut: string | null, step: number}} Reader
 *   a handle where it was made, moved or given one more name; cut: why no gradient comes back
 * @typedef {{first: number, last: number, line: number, kind: string, code: string[], inset: number, turn: string,
 *   skipped: number, visits: number[], readers: Reader[], writes: Map<string, Write>, bumps: Map<string, [number, number]>,
 *   nodes: string[], freed: number}} Row
 *   first, last: its steps; freed: storages made and freed within the row; inset: how deep it stands in blocks and calls
 * @typedef {{uid: string, birth: number, death: number, freed: boolean, cells: Map<string, number>, summary: boolean,
 *   nbytes: number, owner: string | null, named: number, counters: string[]}} StorageLife
 *   birth, death: rows; cells: the most under each dtype; owner: the storage of whose tensor it is the .grad;
 *   named: the row in which it first has a name
 * @typedef {import("../trace/trace_index.js").NodeFacts & {row: number}} GraphNode   row: of the statement that made it
 * @typedef {{key: string, node: string, slot: string, storage: string, counter: string | null, expected: number | null,
 *   tensor: string | null, birth: number, death: number, broken: number | null, silent: number | null, released: boolean,
 *   steps: {broken: number, silent: number, released: number}}} Pin
 *   a saved slot; birth, death, broken, silent: rows; steps: when each came to be so, Infinity where it never did
 * @typedef {{rows: Row[], rowOfStep: number[], storages: Map<string, StorageLife>, nodes: Map<string, GraphNode>,
 *   pins: Map<string, Pin>, visits: Map<string, number[]>, gradWidths: Map<number, number>, storageNames: Map<string, string>}} RunRows
 *   rowOfStep: the row of each step; visits: the steps at which each node ran; gradWidths: by the step of a visit, how wide
 *   its gradient is written; storageNames: the first name of a tensor on each storage
 */

/** Lines of a statement that are shown. */
const MAX_CODE = 4;
const COMPOUND = /^(Async)?(For|With|FunctionDef)$|^(While|If|Try|ClassDef|Match)$/;

/** @param {import("../trace/state.js").OpenTrace} opened @returns {RunRows} */
export function runRows(opened) {
  const { trace, index } = opened;
  const { steps } = trace;
  const sourceLines = trace.program.source.split("\n");
  /** @type {RunRows} */
  const run = {
    rows: [],
    rowOfStep: [],
    storages: new Map(),
    nodes: new Map(),
    pins: new Map(),
    visits: index.visitsOf,
    gradWidths: new Map(),
    storageNames: new Map(),
  };
  for (let first = 0; first < opened.count; first = run.rowOfStep.length) {
    const last = lastStepOfRow(steps, first);
    const row = emptyRow(trace, sourceLines, first, last);
    const r = run.rows.push(row) - 1;
    for (let k = first; k <= last; k++) {
      run.rowOfStep.push(r);
      const { visit } = steps[k];
      if (!visit) continue;
      row.visits.push(k);
      const grad = visit.grad_outputs?.find(Boolean);
      if (grad) run.gradWidths.set(k, gradientChip(grad).width);
    }
  }
  addNodes(run, index);
  addSlotSpans(run, index);
  const rowState = new RowState(steps);
  run.rows.forEach((row, r) => {
    rowState.advance(row.first, row.last);
    recordRow(run, row, r, rowState, steps);
  });
  const end = run.rows.length - 1;
  for (const life of run.storages.values()) if (!life.freed) life.death = end;
  return run;
}

/** @param {RunRows} runRows @param {import("../trace/trace_index.js").TraceIndex} index */
function addNodes(runRows, index) {
  for (const [uid, facts] of index.nodes) {
    const row = runRows.rowOfStep[index.lives.get(uid)?.birth ?? 0];
    runRows.nodes.set(uid, { ...facts, row });
    runRows.rows[row].nodes.push(uid);
  }
}

/** @param {RunRows} runRows @param {import("../trace/trace_index.js").TraceIndex} index */
function addSlotSpans(runRows, index) {
  const rowOf = (/** @type {number | null} */ step) => (step === null ? null : runRows.rowOfStep[step]);
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

/** Inputs before what they go into. @param {string[]} nodes @param {RunRows} runRows */
export function inputsFirst(nodes, runRows) {
  const included = new Set(nodes);
  /** @type {Set<string>} */
  const ordered = new Set();
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
      else ordered.add(/** @type {string} */ (stack.pop()));
    }
  }
  return [...ordered];
}

/** What a saved slot is at a step, as the trace says it. @param {Pin} pin @param {number} i
 * @returns {"held" | "broken" | "silent" | "released"} */
export function pinState({ steps }, i) {
  if (steps.broken <= i) return "broken";
  if (steps.silent <= i) return "silent";
  return steps.released <= i ? "released" : "held";
}

/** The last step of a row: what the engine visits belongs to the statement that called it. @param {Step[]} steps @param {number} first */
function lastStepOfRow(steps, first) {
  let k = first;
  while (
    steps[k].kind === "visit" &&
    steps[k + 1] &&
    sameStatement(steps[k], steps[k + 1]) &&
    /^(visit|statement|raise|return)$/.test(steps[k + 1].kind)
  )
    k++;
  return k;
}

/** @param {Step} a @param {Step} b */
function sameStatement(a, b) {
  return a.stmt === b.stmt && a.frame === b.frame && String(a.iter) === String(b.iter);
}

/** @param {Trace} trace @param {string[]} sourceLines its lines @param {number} firstStep @param {number} lastStep @returns {Row} */
function emptyRow(trace, sourceLines, firstStep, lastStep) {
  const traceStep = trace.steps[lastStep];
  const { code, indent } = codeOf(trace, sourceLines, traceStep);
  return {
    first: firstStep,
    last: lastStep,
    line: traceStep.line,
    kind: traceStep.kind,
    inset: Math.min(6, (traceStep.depth ?? 0) + Math.floor(indent / 4)),
    skipped: trace.steps[firstStep].skipped ?? 0,
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

/** The first lines of a step's statement, without the indentation of the first; of a block its head alone.
 * @param {Trace} trace @param {string[]} sourceLines @param {Step} traceStep */
function codeOf(trace, sourceLines, traceStep) {
  const statement = trace.program.statements?.[traceStep.stmt ?? -1];
  const wholeStatement = statement && !COMPOUND.test(statement.kind) ? statement : null;
  const lastLine = wholeStatement
    ? Math.min(wholeStatement.end_line, wholeStatement.line + MAX_CODE - 1)
    : traceStep.line;
  const lines = sourceLines.slice((wholeStatement ?? traceStep).line - 1, lastLine);
  const indent = lines.length ? (lines[0].match(/^ */)?.[0].length ?? 0) : 0;
  const code = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)).trimEnd());
  return { code, indent };
}
