/** Where the rows of a whole run stand: in the order of a round with the rail, or sorted by a column without it. */

import {
  assignLanes,
  moduleFramesAround,
  isJoinedByAddition,
  rowsByCallSite,
  type Frame,
  type Rail,
} from "../rail_lanes.ts";
import { netRowLabel } from "../net_row_labels.ts";
import { netRowsOfWholeRun, type NetRow, type OpenedRows } from "../net_rows.ts";
import { parameterRunSummaries, type ParameterRunSummary } from "./parameters_of_run.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import type { WholeRunFacts, CallSiteRunSummary } from "./call_site_facts.ts";
import type { EdgeRun, CallSite } from "../net_call_sites.ts";

export type SortColumn = "name" | "learns" | "gradient" | "weight" | "moved" | "kept" | "called";
export type RowFilter = "all" | "findings" | "parameters";

export interface WholeRunRow extends NetRow {
  y: number;
  /** of a row for a parameter of the row before it */
  parameter: string | null;
  facts: CallSiteRunSummary;
  /** it has inner rows, or rows for its parameters */
  opens: boolean;
  isOpen: boolean;
  /** ways join at it by an addition */
  joins: boolean;
}

export interface WholeRunRail extends Rail<WholeRunRow> {
  key: string;
  /** a gradient came this way in some round; data: nothing here could have one */
  state: "returned" | "ran" | "data";
  /** in no run does a gradient find a way back */
  isCut: boolean;
}

interface WholeRunChoices {
  open: OpenedRows;
  sort: SortColumn | null;
  filter: RowFilter;
}

export interface WholeRunLayout {
  width: number;
  height: number;
  rows: WholeRunRow[];
  /** of a round; else sorted or filtered */
  isInOrder: boolean;
  rails: WholeRunRail[];
  frames: Frame[];
  columns: ColumnsOfRun;
  /** the longest way that the parameters of a row moved */
  mostMoved: number;
}

/** Left edges, but kept: the right one; null for a column that there is no room for. */
interface ColumnsOfRun {
  rail: number;
  name: number;
  learns: number;
  gradient: number;
  weight: number | null;
  moved: number | null;
  kept: number | null;
  called: number | null;
}

export const ROW_HEIGHT = 26;
export const INDENT = 12;
const TOP = 4;
/** Below it there is no room for how far weights moved, nor for how often a row ran. */
const MEDIUM_WIDTH = 900;
/** Of the width, as far as names go: longer ones of several are shortened. */
const MOST_OF_NAMES = 0.28;
/** Pixels of the longest words in the column of what learns. */
const VERDICT_WIDTH = 132;
/** Of `999.9 KiB`, of how far parameters moved, of `0.0123 → 0.0456`, and of norms by round with the last number. */
const [BYTES_WIDTH, MOVED_COLUMN_WIDTH, WEIGHT_WIDTH, GRADIENT_WIDTH] = [74, 116, 116, 150];
/** Rows are folded where even the outermost are more than this: all others scroll. */
const MAX_UNFOLDED = 60;

export function layoutWholeRun(
  run: WholeRunFacts,
  { width, height }: { width: number; height: number },
  { open, sort, filter }: WholeRunChoices,
): WholeRunLayout {
  const size = { head: ROW_HEIGHT, row: ROW_HEIGHT, least: ROW_HEIGHT };
  const opened = { ...size, room: Math.max(height - TOP, 8 * ROW_HEIGHT), most: MAX_UNFOLDED };
  const folded = { ...size, room: MAX_UNFOLDED * ROW_HEIGHT, most: MAX_UNFOLDED };
  const elsewhere = outermostCallSites(run.facts.net.top, (callSite) => run.trainedElsewhere(callSite) !== null);
  const choices = new Map([...elsewhere.map(({ key }) => [key, false] as const), ...open]);
  const netRows = netRowsOfWholeRun(run.facts, opened, choices, folded).filter(
    ({ callSites: [callSite] }) => !callSite.isLoop,
  );
  let rows = netRows.flatMap((row) => withParameterRows(run, row, open, true));
  if (rows.length * ROW_HEIGHT + 2 * TOP > height)
    rows = netRows.flatMap((row) => withParameterRows(run, row, open, false));
  if (filter !== "all") rows = rows.filter((row) => passesFilter(row, filter));
  if (sort) rows = sortRows(rows, sort);
  if (sort || filter !== "all") rows = rows.map((row) => ({ ...row, depth: 0 }));
  for (const [k, row] of rows.entries()) row.y = TOP + k * ROW_HEIGHT;
  const isInOrder = !sort && filter === "all";
  return {
    width,
    isInOrder,
    height: TOP * 2 + rows.length * ROW_HEIGHT,
    rows,
    rails: isInOrder ? railsBetween(run, rows) : [],
    frames: isInOrder ? moduleFramesAround(rows, ({ y }) => y + ROW_HEIGHT) : [],
    columns: columnsOfWidth(
      width,
      Math.max(0, ...rows.map((row) => row.depth * INDENT + textWidth(netRowLabel(row), 13))),
    ),
    mostMoved: Math.max(
      0,
      ...rows.filter(({ kind }) => kind !== "head").map(({ facts }) => facts.parameters?.moved || 0),
    ),
  };
}

function outermostCallSites(callSites: CallSite[], isWanted: (callSite: CallSite) => boolean): CallSite[] {
  return callSites.flatMap((callSite) =>
    isWanted(callSite) ? [callSite] : outermostCallSites(callSite.inner, isWanted),
  );
}

/** `names`: the room that the longest name takes, its indent included. */
function columnsOfWidth(width: number, names: number): ColumnsOfRun {
  if (width < 640)
    return {
      rail: 46,
      name: 66,
      learns: Math.max(196, width - 194),
      gradient: width - 62,
      weight: null,
      moved: null,
      kept: null,
      called: null,
    };
  const at = (share: number) => Math.round(84 + (width - 84) * share);
  const learns = Math.min(at(MOST_OF_NAMES), Math.max(at(width < 1000 ? 0.21 : 0.23), 84 + names + 24));
  const gradient = (share: number) => Math.max(at(share), learns + VERDICT_WIDTH);
  if (width < MEDIUM_WIDTH) {
    const [left, kept] = [gradient(0.42), width - 10];
    const weight = Math.max(at(0.69), left + GRADIENT_WIDTH);
    const hasWeight = weight + WEIGHT_WIDTH + BYTES_WIDTH <= kept;
    const columns = { rail: 58, name: 84, learns, gradient: left, weight: hasWeight ? weight : null, kept };
    return { ...columns, moved: null, called: null };
  }
  // in a narrow room each column is as wide as its longest number, with the space after it
  const kept = width - 70;
  const common = { rail: 58, name: 84, learns, kept, called: width - 58 };
  const moved = Math.min(at(0.725), kept - BYTES_WIDTH - MOVED_COLUMN_WIDTH);
  const weight = Math.min(at(0.6), moved - WEIGHT_WIDTH);
  const earliest = learns + VERDICT_WIDTH;
  // long names take the room of how far weights moved
  if (earliest + GRADIENT_WIDTH > weight)
    return { ...common, gradient: earliest, weight: kept - BYTES_WIDTH - WEIGHT_WIDTH, moved: null };
  return { ...common, gradient: Math.min(gradient(0.4), weight - GRADIENT_WIDTH), weight, moved };
}

/** `isRoomy`: rows with parameters are open unless the reader closed them. */
function withParameterRows(run: WholeRunFacts, row: NetRow, open: OpenedRows, isRoomy: boolean): WholeRunRow[] {
  const [callSite] = row.callSites;
  const found = run.of(row.callSites);
  const isElsewhere = row.callSites.length === 1 && run.trainedElsewhere(callSite) !== null;
  const facts = isElsewhere ? { ...found, parameters: null } : found;
  const isOne = row.kind === "head" || row.kind === "callSite";
  const own = isOne ? run.ownParametersOf(callSite) : [];
  const isLeaf = row.kind === "callSite" && !callSite.inner.length;
  const isOpen =
    row.kind === "head" || (isLeaf && own.length > 0 && (open.get(callSite.key) ?? (isRoomy && !isElsewhere)));
  const opens = !isOne || callSite.inner.length > 0 || own.length > 0;
  const placed: WholeRunRow = { ...row, y: 0, parameter: null, facts, opens, isOpen, joins: false };
  if (!isOpen) return [placed];
  const within = row.kind === "head" ? [...row.within, callSite] : row.within;
  const inner = own.map((uid): WholeRunRow => {
    const parameters = parameterRunSummaries(run.facts.opened).of([uid]);
    return {
      key: `${row.key} ${uid}`,
      kind: "callSite",
      callSites: [callSite],
      depth: row.depth + 1,
      within,
      y: 0,
      parameter: uid,
      facts: { ...facts, parameters, tone: parameters?.tone ?? null, kept: 0, calls: 0 },
      opens: false,
      isOpen: false,
      joins: false,
    };
  });
  return [placed, ...inner];
}

function passesFilter({ facts, kind, parameter }: WholeRunRow, filter: RowFilter) {
  if (filter === "findings") return facts.tone !== null && kind !== "head";
  return facts.parameters !== null && kind !== "head" && parameter === null;
}

const SORT_VALUES: Record<Exclude<SortColumn, "name">, (row: WholeRunRow) => number> = {
  learns: ({ facts: { parameters } }) => (parameters ? parameters.learning / parameters.uids.length : Number.NaN),
  gradient: ({ facts: { parameters } }) => -(lastKnown(parameters?.gradients ?? []) ?? Number.NaN),
  weight: ({ facts: { parameters } }) => -(parameters?.end ?? Number.NaN),
  moved: ({ facts: { parameters } }) => -(parameters?.moved ?? Number.NaN),
  kept: ({ facts: { kept } }) => -kept,
  called: ({ facts: { calls } }) => -calls,
};

/** The largest first, of what learns the least; what has no number comes last. Frames have no place in it. */
function sortRows(rows: WholeRunRow[], column: SortColumn): WholeRunRow[] {
  const leaves = rows.filter(({ kind, parameter }) => kind !== "head" && parameter === null);
  if (column === "name") return leaves.sort((a, b) => nameToSort(a).localeCompare(nameToSort(b)));
  const rankOf = (row: WholeRunRow) => {
    const value = SORT_VALUES[column](row);
    return Number.isNaN(value) ? Infinity : value;
  };
  const values = new Map(leaves.map((row) => [row, rankOf(row)]));
  return leaves.sort((a, b) => (values.get(a) as number) - (values.get(b) as number) || 0);
}

const nameToSort = ({ callSites: [callSite] }: WholeRunRow) => callSite.path ?? callSite.name;

/** The norm of the last round in which it is known that there was one; undefined where there is none. */
function lastKnown(gradients: ParameterRunSummary["gradients"]): number | undefined {
  return gradients.findLast((value): value is number => value !== null && !Number.isNaN(value));
}

function railsBetween(run: WholeRunFacts, rows: WholeRunRow[]): WholeRunRail[] {
  const { net, opened } = run.facts;
  const rowOf = rowsByCallSite(rows.filter(({ parameter }) => parameter === null));
  const rails = new Map<string, WholeRunRail>();
  const add = (edge: { from: CallSite; to: CallSite }, state: WholeRunRail["state"], isCut: boolean) => {
    const [from, to] = [rowOf.get(edge.from), rowOf.get(edge.to)];
    if (!from || !to || from === to) return;
    const key = `${from.key} ${to.key}`;
    const rail = rails.get(key);
    if (!rail) rails.set(key, { key, from, to, lane: 0, isBundled: false, state, isCut });
    else {
      if (state === "returned") rail.state = state;
      rail.isCut &&= isCut;
    }
  };
  for (const edge of net.edges) {
    const runs = [...edge.runs.values()].flat();
    add(
      edge,
      isReturned(opened, runs) ? "returned" : "ran",
      runs.every(({ cut }) => cut),
    );
  }
  // what a statement reads of a net, and that a net reads what a step moved, is told in words
  for (const way of run.dataWays)
    if (!way.to.invocations[0].isStatement && !run.isOptimizerStep(way.from))
      add(way, "data", run.ofCallSite(way.from).isCutOff);
  assignLanes(
    rows.filter(({ kind, parameter }) => kind !== "head" && parameter === null),
    [...rails.values()],
  );
  const arriving = [...rails.values()].map(({ to }) => to);
  for (const row of rows)
    row.joins = arriving.filter((to) => to === row).length > 1 && isJoinedByAddition(opened, row.callSites[0]);
  return [...rails.values()];
}

/** Whether a gradient came this way in any round. */
function isReturned({ trace, index }: WholeRunFacts["facts"]["opened"], runs: EdgeRun[]) {
  return runs.some(
    ({ node, edge }) =>
      node !== null && index.visitStepsByNode.get(node)?.some((step) => trace.steps[step].visit?.grad_inputs[edge]),
  );
}
