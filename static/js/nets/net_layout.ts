/** Where the rows of a net stand, and the rails between them: arithmetic over rows, in pixels. */

import {
  stepOfOpenRow,
  NET_HEAD_HEIGHT,
  MIN_ROW_HEIGHT,
  netRows,
  openCallSiteOf,
  pathOfStep,
  type OpenedRows,
  type NetRow,
} from "./net_rows.ts";
import { rowOfLastAliasUse, type RowEnd } from "./row_ends.ts";
import { nodeHeightInBody, type BodyRoom } from "./open_row_marks.ts";
import {
  assignLanes,
  moduleFramesAround,
  isJoinedByAddition,
  rowsByCallSite,
  type Frame,
  type Rail,
} from "./rail_lanes.ts";
import { openRowOf, type OpenRow } from "./open_row.ts";
import type { EdgeRun, NetEdge, CallSite } from "./net_call_sites.ts";
import { hasHiddenSteps } from "../trace/steps/truncated_trace.ts";
import { parameterRunSummaries } from "./whole_run/parameters_of_run.ts";
import type { NetFacts, CallSiteState } from "./net_state.ts";

export interface PlacedNetRow extends NetRow {
  y: number;
  h: number;
  states: CallSiteState[];
  isNow: boolean;
  /** ways join at it by an addition */
  joins: boolean;
  /** where its dot stands, from its top */
  dot: number;
  /**
   * Of the row of the step, and of the ends of a finding. `top`: what a sentence takes above it; `asOf`: the step after
   * which it is shown, where that is an earlier one.
   */
  body: { shown: OpenRow; room: BodyRoom; height: number; top: number; asOf: number | null } | null;
  /** of a finding */
  end: RowEnd | null;
}

/** A rail from a row's dot to another one. */
export interface NetRail extends Rail<PlacedNetRow> {
  key: string;
  hasRun: boolean;
  /** the gradient came this way; fresh: with this step */
  isReturned: boolean;
  isFresh: boolean;
  /** the line where what flows here left its history behind; null where a gradient can come back */
  cut: EdgeRun["cut"];
  /** it skips rows and joins others by an addition */
  isResidual: boolean;
}

export interface NetLayout {
  width: number;
  height: number;
  rows: PlacedNetRow[];
  rails: NetRail[];
  frames: Frame[];
  columns: NetColumns;
  path: CallSite[];
}

/** Left edges, but kept: the right one; null for a column that there is no room for. */
interface NetColumns {
  rail: number;
  name: number;
  /** what a row runs */
  parts: number | null;
  box: number;
  shape: number | null;
  norm: number;
  kept: number | null;
  learns: number | null;
}

/** The largest that fits: few, so that one row more moves none by a pixel or two. */
const ROW_HEIGHTS = [28, 24, MIN_ROW_HEIGHT];
const LEAST_BODY = 72;
const MAX_END_BODY = 168;
/** Of what is open of a row, by how high the view is: the same for all rows, so that a step moves one row alone. */
const BODY_HEIGHTS = [
  { from: 620, height: 222, ofTwo: 152 },
  { from: 520, height: 184, ofTwo: 122 },
  { from: 400, height: 148, ofTwo: 92 },
  { from: 0, height: 112, ofTwo: 72 },
];
const CUT_HEIGHT = 36;
/** Of the sentence of an end where it has lines of its own. */
export const ROW_END_TEXT_SIZE = { height: 36, line: 16 };
/** Above the first row, and above and below all together. */
const TOP = 4;
const PADDING = 12;
const NARROW_WIDTH = 560;
/** Below it there is no room for what a row runs, nor for cards of tensors. */
const MEDIUM_WIDTH = 820;
const RAIL_X = 66;

interface NetRoom {
  width: number;
  height: number;
  choices: OpenedRows;
  /** of the finding that the step is part of */
  ends?: RowEnd[];
}

export function layoutNet(facts: NetFacts, i: number, { width, height, choices, ends = [] }: NetRoom): NetLayout {
  const columns = columnsFor(width);
  // a column in which nothing ever stands is left out
  if (!facts.savedBytesByNode.size) columns.kept = null;
  // what learns is not known before the run's end
  if (hasHiddenSteps(facts.opened.trace) || !parameterRunSummaries(facts.opened).moments.size) columns.learns = null;
  const heights = BODY_HEIGHTS.find(({ from }) => height >= from);
  const other = ends.length ? null : rowOfLastAliasUse(facts, i);
  const count = Math.max(other ? 2 : 1, ends.length);
  const anchor = stepOfOpenRow(facts, i) ?? i;
  const { stretchOfStep } = facts.net;
  // what another round did is shown as it was then
  const openedAt = stretchOfStep[anchor] === stretchOfStep[i] ? i : anchor;
  const body = (count > 1 ? heights?.ofTwo : heights?.height) ?? 0;
  let placed: PlacedNetRow[] = [];
  let rails: NetRail[] = [];
  // which rows there are decides which cuts there are, and these take room from rows
  for (let [cuts, isTried] = [0, false]; !isTried; ) {
    const all = height - PADDING - cuts * CUT_HEIGHT;
    const within = [...ends, ...(other ? [other] : [])].map(({ callSite }) => callSite);
    const rows = netRows(facts, i, all - count * body, choices, within);
    // rows that can't be folded take the room of what is open
    const spare = Math.floor((all - minHeightOf(rows)) / count);
    // two ends take what room there is: they are looked at, and not stepped through
    const least = LEAST_BODY + (ends.length && columns.parts === null ? ROW_END_TEXT_SIZE.height : 0);
    const open = Math.max(least, Math.min(count > 1 ? MAX_END_BODY : body, spare));
    placed = placeRows(facts, rows, i, all - count * open);
    const bodyRoom = { columns, width, height: open, isNarrow: columns.parts === null };
    if (ends.length) for (const end of ends) openEndRow(facts, placed, end, bodyRoom);
    else openRow(facts, placed, openCallSiteOf(facts, i), openedAt, bodyRoom, { asOf: anchor < i ? anchor : null });
    if (other) openRow(facts, placed, other.callSite, i, bodyRoom, { told: other.uids });
    rails = railsBetween(facts, rowsByCallSite(placed), i);
    const needed = gapsForCuts(placed, rails).size;
    isTried = needed <= cuts || cuts > 0;
    cuts = needed;
  }
  makeRoomForCuts(placed, rails);
  assignLanes(
    placed.filter(({ kind }) => kind !== "head"),
    rails,
  );
  const arriving = new Map<PlacedNetRow, number>();
  for (const { to, cut } of rails) if (!cut) arriving.set(to, (arriving.get(to) ?? 0) + 1);
  for (const row of placed)
    row.joins =
      (arriving.get(row) ?? 0) >= 2 && row.kind === "callSite" && isJoinedByAddition(facts.opened, row.callSites[0]);
  for (const rail of rails) rail.isResidual = rail.lane > 0 && rail.to.joins;
  const last = placed.at(-1);
  const bottom = last ? bottomOf(last) + PADDING - TOP : 0;
  const frames = moduleFramesAround(placed, bottomOf);
  return { width, height: bottom, rows: placed, rails, frames, columns, path: pathOfStep(facts, i) };
}

function columnsFor(width: number): NetColumns {
  const isNarrow = width < NARROW_WIDTH;
  const [rail, name] = isNarrow ? [50, 68] : [RAIL_X, RAIL_X + 28];
  if (isNarrow)
    return { rail, name, parts: null, box: width - 118, shape: null, norm: width - 108, kept: null, learns: null };
  if (width < MEDIUM_WIDTH) {
    const [norm, shape] = [width - 190, width - 330];
    return { rail, name, parts: null, box: shape - 10, shape, norm, kept: width - 10, learns: null };
  }
  const learns = width - 148;
  const norm = learns - 206;
  const shape = norm - (width > 900 ? 190 : 140);
  const parts = name + Math.round((shape - name) * 0.44);
  return { rail, name, parts, box: shape - 10, shape, norm, kept: learns - 14, learns };
}

function minHeightOf(rows: NetRow[]) {
  return rows.reduce((sum, { kind }) => sum + (kind === "head" ? NET_HEAD_HEIGHT : MIN_ROW_HEIGHT), 0);
}

function placeRows(facts: NetFacts, rows: NetRow[], i: number, room: number): PlacedNetRow[] {
  const heads = rows.filter(({ kind }) => kind === "head").length;
  const others = Math.max(1, rows.length - heads);
  const rowHeight = ROW_HEIGHTS.find((height) => height * others + heads * NET_HEAD_HEIGHT <= room) ?? MIN_ROW_HEIGHT;
  let y = TOP;
  return rows.map((row) => {
    const h = row.kind === "head" ? NET_HEAD_HEIGHT : rowHeight;
    const states = row.callSites.map((callSite) => facts.stateAt(callSite, i));
    const placed = {
      ...row,
      y,
      h,
      states,
      isNow: row.kind !== "head" && states.some(({ isNow }) => isNow),
      joins: false,
      dot: (row.kind === "head" ? NET_HEAD_HEIGHT : rowHeight) / 2,
      body: null,
      end: null,
    };
    y += h;
    return placed;
  });
}

/** Opens a row, and makes room below it. */
function openRow(
  facts: NetFacts,
  rows: PlacedNetRow[],
  callSite: CallSite | null,
  i: number,
  room: BodyRoom,
  { told = [], top = 0, asOf = null }: { told?: string[]; top?: number; asOf?: number | null } = {},
) {
  const row = callSite && rowOfCallSite(rows, callSite);
  const shown = callSite && row ? openRowOf(facts, callSite, i, told) : null;
  if (!row || !shown || row.body || !(shown.read.length + shown.made.length + shown.nodes.length)) return;
  const inner = { ...room, height: room.height - top };
  row.body = { shown, room: inner, height: room.height, top, asOf };
  const node = nodeHeightInBody(shown, inner);
  if (node !== null) row.dot = row.h + top + node;
  for (const later of rows.slice(rows.indexOf(row) + 1)) later.y += room.height;
}

/** Opens an end of a finding as it was when that happened. */
function openEndRow(facts: NetFacts, rows: PlacedNetRow[], end: RowEnd, room: BodyRoom) {
  openRow(facts, rows, end.callSite, end.step, room, {
    told: end.uids,
    top: room.isNarrow ? ROW_END_TEXT_SIZE.height : 0,
  });
  const row = rowOfCallSite(rows, end.callSite);
  if (row) row.end = end;
}

function rowOfCallSite(rows: PlacedNetRow[], callSite: CallSite) {
  return rows.find(({ kind, callSites }) => (kind === "callSite" || kind === "lines") && callSites.includes(callSite));
}

/** Where a row ends, with what is open of it. */
export function bottomOf({ y, h, body }: PlacedNetRow) {
  return y + h + (body?.height ?? 0);
}

function railsBetween(facts: NetFacts, rowOf: Map<CallSite, PlacedNetRow>, i: number): NetRail[] {
  const rails = new Map<string, NetRail>();
  for (const edge of facts.net.edges) {
    const [from, to] = [rowOf.get(edge.from), rowOf.get(edge.to)];
    if (!from || !to || from === to) continue;
    const key = `${from.key} ${to.key}`;
    const rail = rails.get(key) ?? { key, from, to, lane: 0, ...NEW_RAIL, cut: firstCut(facts, edge, i) };
    rails.set(key, rail);
    addRuns(facts, rail, edge, i);
  }
  return [...rails.values()];
}

const NEW_RAIL = { hasRun: false, isReturned: false, isFresh: false, isResidual: false, isBundled: false };

function firstCut(facts: NetFacts, edge: NetEdge, i: number) {
  return edge.runs.get(facts.stretchAt(edge.to, i))?.find(({ cut }) => cut)?.cut ?? null;
}

function addRuns(facts: NetFacts, rail: NetRail, edge: NetEdge, i: number) {
  const runs = edge.runs.get(facts.stretchAt(edge.to, i)) ?? [];
  if (runs.some(({ cut }) => !cut)) rail.cut = null;
  if (facts.isWaiting(edge.to, i)) return;
  for (const { step, node, edge: k } of runs) {
    if (step > i) continue;
    rail.hasRun = true;
    const visit = node === null ? null : facts.lastVisit(node, i);
    if (visit === null || !facts.opened.trace.steps[visit].visit?.grad_inputs[k]) continue;
    rail.isReturned = true;
    if (visit === i) rail.isFresh = true;
  }
}

/** A cut has a line of its own above the row, or its frame, that it leads to. */
function gapsForCuts(rows: PlacedNetRow[], rails: NetRail[]): Set<PlacedNetRow> {
  const gaps = new Set<PlacedNetRow>();
  for (const { from, to, cut } of rails) {
    if (!cut) continue;
    const outer = to.within.findIndex((callSite) => !from.within.includes(callSite));
    gaps.add(rows.find((row) => row.kind === "head" && row.callSites[0] === to.within[outer]) ?? to);
  }
  return gaps;
}

function makeRoomForCuts(rows: PlacedNetRow[], rails: NetRail[]) {
  const gaps = gapsForCuts(rows, rails);
  let moved = 0;
  for (const row of rows) {
    if (gaps.has(row)) moved += CUT_HEIGHT;
    row.y += moved;
  }
}
