/**
 * Where the last backward until a step stops: the modules of its round in the order of their calls, each with its
 * gradient.
 */

import { RunFacts } from "../findings/facts/run_facts.ts";
import { moduleCallsOf, type ModuleCall, type ModuleCalls } from "../trace/module_calls.ts";
import { gradientOfCall, outputNodesOf } from "./call_gradients.ts";
import { shapeOfOutput } from "../nets/module_table.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface GradientStopRow {
  /** norm: a gradient came; none: it has a history, and none came; frozen: nothing in it wants one */
  kind: "norm" | "none" | "frozen";
  path: string;
  type: string;
  line: number;
  shape: number[] | null;
  norm: number;
  step: number;
}

/** the history ends before the row that follows */
interface Cut {
  line: number | null;
  code: string;
  step: number;
}

export interface GradientStops {
  rows: GradientStopRow[];
  /** by the row that follows */
  cuts: Map<number, Cut>;
  /** of a longer list, rows before and after those that are shown */
  before: number;
  after: number;
}

const MAX_ROWS = 8;

/** Null where no backward began, or where its gradient comes to every module that wants one. */
export function gradientStopsAt(opened: OpenTrace, step: number): GradientStops | null {
  const facts = new RunFacts(opened);
  const backward = facts.backwardCalls.findLast((call) => call.step <= step && call.api === "backward");
  if (!backward || backward.end > step) return null;
  const found = moduleCallsOf(opened);
  const ended = facts.eventsOfKind("optimizer_stepped").findLast((event) => event.step < backward.step)?.step ?? -1;
  const calls = shownCalls(found, (call) => call.begins > ended && (call.ends ?? Infinity) < backward.step);
  const rows = calls.map((call): GradientStopRow => {
    const norm = gradientOfCall(opened, call, backward.uid, backward.end);
    const kind = norm !== null ? "norm" : outputNodesOf(opened, call).length ? "none" : "frozen";
    const { line } = opened.trace.steps[call.begins];
    const shape = shapeOfOutput(opened, call);
    return { kind, path: call.path ?? call.type, type: call.type, line, shape, norm: norm ?? 0, step: call.begins };
  });
  if (!rows.some(({ kind }) => kind === "none") || !rows.some(({ kind }) => kind === "norm")) return null;
  const cuts = cutsBetween(facts, rows, calls);
  return excerpt({ rows, cuts, before: 0, after: 0 });
}

/** The calls of the level at which all fit: those of the outermost modules, opened while there is room. */
function shownCalls({ calls }: ModuleCalls, isWanted: (call: ModuleCall) => boolean): ModuleCall[] {
  let shown = [...calls.values()].filter((call) => call.within === null && isWanted(call));
  for (;;) {
    const opened = shown.flatMap((call) =>
      call.inner.length ? call.inner.flatMap((number) => calls.get(number) ?? []) : [call],
    );
    if (opened.length === shown.length || (opened.length > MAX_ROWS && shown.length > 1)) return shown;
    shown = opened;
  }
}

function cutsBetween(facts: RunFacts, rows: GradientStopRow[], calls: ModuleCall[]) {
  const cuts = new Map<number, Cut>();
  const events = facts.eventsOfKind("path_cut");
  rows.forEach((row, k) => {
    if (k === 0 || row.kind !== "norm" || rows[k - 1].kind !== "none") return;
    const from = calls[k - 1].ends ?? calls[k - 1].begins;
    const event = events.findLast((each) => each.step >= from && each.step <= calls[k].begins);
    const at = event?.step ?? from;
    const line = event ? facts.place(event.step).line : null;
    cuts.set(k, { line, code: event ? facts.statementFact(event.step).code : "", step: at });
  });
  return cuts;
}

/** Of many rows those around the first cut. */
function excerpt({ rows, cuts }: GradientStops): GradientStops {
  const first = [...cuts.keys()][0] ?? rows.findIndex(({ kind }) => kind === "none");
  const from = Math.max(0, Math.min(first - MAX_ROWS / 2, rows.length - MAX_ROWS));
  const to = Math.min(rows.length, from + MAX_ROWS);
  const shownCuts = new Map([...cuts].flatMap(([k, cut]) => (k >= from && k < to ? [[k - from, cut]] : [])));
  return { rows: rows.slice(from, to), cuts: shownCuts as Map<number, Cut>, before: from, after: rows.length - to };
}
