/**
 * Which call sites of a net have a row at a step: what the step is in is open, then what there is room for; the rest is
 * folded.
 */

import { changesShapeOnly } from "./net_words.ts";
import type { NetFacts } from "./net_state.ts";
import { nodesOfInvocation, type CallSite } from "./net_call_sites.ts";
import { referencedUid } from "../trace/names.ts";
import type { Value } from "../trace/wire.ts";

/**
 * head: of a call site whose inner ones follow; callSite: closed, or without inner ones; lines: neighbours that change
 * shapes
 * alone; fold: neighbours that there is no room for; repeat: the same, of one class
 */
type RowKind = "head" | "callSite" | "lines" | "fold" | "repeat";

export interface NetRow {
  key: string;
  kind: RowKind;
  /** the first of them, in order */
  callSites: CallSite[];
  depth: number;
  /** the keys of the frames that it is in */
  within: CallSite[];
}

export const NET_HEAD_HEIGHT = 20;
const ROW_HEIGHT = 22;
export const MIN_ROW_HEIGHT = 20;
/** As many rows are readable at a look. */
const MAX_ROWS = 25;
/** More call sites than these are not read one by one where a single step runs all of them. */
const MAX_TOUCHED = 9;
/** As many rows of a step stay in any room. */
const MAX_KEPT = 4;
/** Of so many neighbours of one class the first and the last stay. */
const MIN_REPETITION = 5;

/** What the reader opened and closed: by the key of a call site, or of a fold. */
export type OpenedRows = ReadonlyMap<string, boolean>;

/** What there is room for, along the way in which rows follow each other: in pixels, and how many at most. */
interface RowRoom {
  room: number;
  /** of what is opened, of a row where there is enough room, and at least */
  head: number;
  row: number;
  least: number;
  most: number;
  /** whether no more is folded than has to be */
  isSparing?: boolean;
}

/** The rows of a net at a step. `room` is in pixels; `ends` are call sites that have a row in any case. */
export function netRows(
  facts: NetFacts,
  i: number,
  room: number,
  choices: OpenedRows,
  ends: CallSite[] = [],
): NetRow[] {
  const size = { room, head: NET_HEAD_HEIGHT, row: ROW_HEIGHT, least: MIN_ROW_HEIGHT, most: MAX_ROWS, isSparing: true };
  const at = stepOfOpenRow(facts, i) ?? i;
  const path = new Set([...callSitesAroundStep(facts, i), ...callSitesAroundStep(facts, at), ...callSitesAround(ends)]);
  const open = callSitesToOpen(facts, path, size, choices);
  const touched = [...new Set([...touchedCallSites(facts, at), ...touchedCallSites(facts, i)])];
  const rows = rowsOf(facts, facts.net.top, open).filter(({ callSites: [callSite] }) =>
    callSite.isPassThrough
      ? touched.includes(callSite)
      : !callSite.isLoop || [i, at].some((step) => facts.invocations(callSite).has(facts.net.stretchOfStep[step])),
  );
  let folded = foldRows(rows, new Set([...path, ...touched, ...ends]), size, choices);
  // the path above names the frames that there is no room for; a step that runs too much is folded like all else
  for (let head = 0; !doRowsFit(folded, size, choices) && head >= 0; ) {
    head = folded.findIndex(({ kind }, k) => kind === "head" && folded.slice(k + 1).some((row) => row.kind === "head"));
    if (head >= 0) folded = folded.filter((_, k) => k !== head);
  }
  const isTooMuch = !doRowsFit(folded, size, choices) && touched.length > MAX_KEPT;
  return isTooMuch ? foldRows(folded, new Set(ends), size, choices) : folded;
}

/**
 * The rows of a net for a whole run: the same at every step, opened by the reader alone and where there is room.
 * `folding`: the room in which rows are folded, where those that do not fit scroll.
 */
export function netRowsOfWholeRun(facts: NetFacts, size: RowRoom, choices: OpenedRows, folding = size): NetRow[] {
  const open = callSitesToOpen(facts, new Set(), size, choices);
  const rows = rowsOf(facts, facts.net.top, open).filter(({ callSites: [callSite] }) => !callSite.isPassThrough);
  return foldRows(rows, new Set(), folding, choices);
}

/**
 * The step whose row is open at a step: the step itself, or the last before it that a row is about, so that nothing
 * moves where a round begins; null where there is none.
 */
export function stepOfOpenRow(facts: NetFacts, i: number): number | null {
  for (let k = facts.anchors.length; k <= i; k++)
    facts.anchors[k] =
      (doesStepTouchTensors(facts, k) || hasStepRaised(facts, k)) && touchedCallSites(facts, k).length
        ? k
        : (facts.anchors[k - 1] ?? null);
  return facts.anchors[i];
}

/** Whether a step does anything to tensors, which an open row would show. */
function doesStepTouchTensors({ opened }: NetFacts, i: number): boolean {
  const { visit, log, set } = opened.trace.steps[i];
  const isTensor = (value: Value) => referencedUid(value)?.[0] === "t";
  return (
    Boolean(visit) ||
    log.some(({ kind }) => kind !== "out") ||
    Object.values(set).some(({ grad, vars }) => grad !== undefined || Object.values(vars ?? {}).some(isTensor))
  );
}

const hasStepRaised = ({ opened }: NetFacts, i: number) => opened.trace.outcome.error?.step === i;

/** The call site whose row is open at a step: the last that the anchor step is about. */
export function openCallSiteOf(facts: NetFacts, i: number): CallSite | null {
  const at = stepOfOpenRow(facts, i);
  return at === null ? null : (touchedCallSites(facts, at).at(-1) ?? null);
}

/** The path to a step: the call sites around it, and its own where it is one. */
export function pathOfStep(facts: NetFacts, i: number): CallSite[] {
  const path = [...callSitesAroundStep(facts, i)].sort((a, b) => a.key.length - b.key.length);
  const touched = touchedCallSites(facts, i);
  return touched.length === 1 ? [...path, touched[0]] : path;
}

function callSitesAround(callSites: CallSite[]): Set<CallSite> {
  const around = new Set<CallSite>();
  for (const { parent } of callSites) for (let outer = parent; outer; outer = outer.parent) around.add(outer);
  return around;
}

/** The call sites around what a step touched, and around the code that it runs. */
export function callSitesAroundStep(facts: NetFacts, i: number): Set<CallSite> {
  const path = new Set<CallSite>();
  const add = (callSite: CallSite | null | undefined) => {
    for (let outer = callSite; outer; outer = outer.parent) path.add(outer);
  };
  const touched = touchedCallSites(facts, i);
  for (const callSite of touched) add(callSite.parent);
  if (!touched.length) add(callSiteOfStep(facts, i));
  return path;
}

/** The call sites that a step is about, without those around them; where they are many, what they are in, closed. */
function touchedCallSites(facts: NetFacts, i: number): CallSite[] {
  const callSites = facts.touchedAt(i).flatMap((invocation) => facts.net.callSiteOfInvocation.get(invocation) ?? []);
  let touched = new Set(callSites.filter((callSite) => !callSite.inner.length));
  while (touched.size > MAX_TOUCHED) {
    const outer = new Map([...touched].map((callSite) => [callSite, nearestCallSiteWithRow(callSite)]));
    const deepest = Math.max(...[...touched].map((callSite) => (outer.get(callSite) ? levelOf(callSite) : -1)));
    if (deepest < 0) break;
    touched = new Set(
      [...touched].map((callSite) => (levelOf(callSite) === deepest && outer.get(callSite)) || callSite),
    );
  }
  return [...touched];
}

/** The nearest call site around one that has a row of its own. */
function nearestCallSiteWithRow({ parent }: CallSite): CallSite | null {
  let outer = parent;
  while (outer?.isTransparent) outer = outer.parent;
  return outer;
}

function levelOf(callSite: CallSite) {
  let level = 0;
  for (let outer = callSite.parent; outer; outer = outer.parent) level += 1;
  return level;
}

/** The call site whose code a step runs. */
function callSiteOfStep({ net, opened }: NetFacts, i: number): CallSite | null {
  let invocation = net.invocationByFrame.get(opened.trace.steps[i]?.frame ?? "") ?? null;
  while (invocation && !net.callSiteOfInvocation.has(invocation)) invocation = invocation.parent;
  const callSite = invocation && net.callSiteOfInvocation.get(invocation);
  return callSite?.key ? callSite : null;
}

function callSitesToOpen(facts: NetFacts, path: Set<CallSite>, size: RowRoom, choices: OpenedRows): Set<CallSite> {
  const open = new Set<CallSite>();
  const opens = (callSite: CallSite) =>
    callSite.inner.length > 0 && (callSite.isTransparent || (choices.get(callSite.key) ?? path.has(callSite)));
  const collect = (callSites: CallSite[]) => {
    for (const callSite of callSites)
      if (opens(callSite)) {
        open.add(callSite);
        collect(callSite.inner);
      }
  };
  collect(facts.net.top);
  const cost = (rows: NetRow[]) => rows.reduce((sum, { kind }) => sum + (kind === "head" ? size.head : size.row), 0);
  const rows = rowsOf(facts, facts.net.top, open);
  let [height, count] = [cost(rows), rows.length];
  const closed = rows.flatMap(({ kind, callSites }) =>
    kind === "callSite" && callSites[0].inner.length ? [callSites[0]] : [],
  );
  let level = nearestFirst(closed, rows, path);
  for (let isFull = false; level.length && !isFull; ) {
    const next: CallSite[] = [];
    for (const callSite of level) {
      if (choices.get(callSite.key) === false || (choices.get(callSite.key) !== true && isEvaluation(facts, callSite)))
        continue;
      const inside = rowsOf(facts, callSite.inner, transparentCallSitesWithInner(callSite.inner));
      const added = cost(inside) + size.head - size.row;
      if (height + added > size.room || count + inside.length > size.most) {
        isFull = true; // nothing of a deeper level opens while something of this one is closed
        continue;
      }
      [height, count] = [height + added, count + inside.length];
      for (const part of [callSite, ...transparentCallSitesWithInner(callSite.inner)]) open.add(part);
      next.push(...inside.flatMap(({ callSites }) => (callSites[0].inner.length ? [callSites[0]] : [])));
    }
    level = next;
  }
  return open;
}

/** A net that makes nodes where it is called elsewhere, and none here. */
function isEvaluation({ net }: NetFacts, callSite: CallSite) {
  const makesNodes = ({ invocations }: CallSite) =>
    invocations.some((invocation) => nodesOfInvocation(invocation).length > 0);
  return (
    callSite.isTwice &&
    !makesNodes(callSite) &&
    net.top.some((other) => other.path === callSite.path && makesNodes(other))
  );
}

/** The outermost first, of one level those near to what is open around the step. */
function nearestFirst(callSites: CallSite[], rows: NetRow[], path: ReadonlySet<CallSite>): CallSite[] {
  const at = rows.findLastIndex((row) => row.callSites.some((callSite) => path.has(callSite)));
  const rank = new Map(
    callSites.map((callSite) => {
      const row = rows.findIndex((other) => other.callSites[0] === callSite);
      return [callSite, [rows[row].depth, at < 0 ? row : Math.abs(row - at)]];
    }),
  );
  const rankOf = (callSite: CallSite) => rank.get(callSite) ?? [0, 0];
  return callSites.sort((a, b) => rankOf(a)[0] - rankOf(b)[0] || rankOf(a)[1] - rankOf(b)[1]);
}

/** Those that stand for themselves nowhere, with those within them. */
function transparentCallSitesWithInner(callSites: CallSite[]): Set<CallSite> {
  const transparent = callSites.filter(({ isTransparent }) => isTransparent);
  return new Set(transparent.flatMap((callSite) => [callSite, ...transparentCallSitesWithInner(callSite.inner)]));
}

function rowsOf(
  facts: NetFacts,
  callSites: CallSite[],
  open: ReadonlySet<CallSite>,
  within: CallSite[] = [],
): NetRow[] {
  const rows: NetRow[] = [];
  for (const callSite of callSites) {
    const [key, depth] = [callSite.key, within.length];
    if (callSite.isTransparent && open.has(callSite)) rows.push(...rowsOf(facts, callSite.inner, open, within));
    else if (open.has(callSite)) {
      rows.push({ key, kind: "head", callSites: [callSite], depth, within });
      rows.push(...rowsOf(facts, callSite.inner, open, [...within, callSite]));
    } else {
      const before = rows.at(-1);
      if (
        before &&
        before.depth === depth &&
        isShapeLine(facts, callSite) &&
        before.kind !== "head" &&
        isShapeLine(facts, before.callSites[0])
      )
        rows[rows.length - 1] = { ...before, kind: "lines", callSites: [...before.callSites, callSite] };
      else rows.push({ key, kind: "callSite", callSites: [callSite], depth, within });
    }
  }
  return rows;
}

function isShapeLine({ net, opened }: NetFacts, { kind, invocations }: CallSite) {
  const nodes = kind === "line" ? invocations[0].nodes : [];
  return (
    nodes.length > 0 &&
    net.top.length > 0 &&
    nodes.every((uid) => changesShapeOnly(opened.index.nodes.get(uid)?.name ?? ""))
  );
}

/** Rows that fit: the outermost, longest runs of closed neighbours become one row, but not what the step is in. */
function foldRows(rows: NetRow[], kept: ReadonlySet<CallSite>, size: RowRoom, choices: OpenedRows): NetRow[] {
  const isFixed = (row: NetRow) =>
    row.kind === "head" ||
    choices.get(`rows ${row.key}`) === true ||
    row.callSites.some((callSite) => kept.has(callSite));
  for (;;) {
    if (doRowsFit(rows, size, choices)) return rows;
    const statements = runOfStatements(rows, isFixed);
    const run = statements ?? runToFold(rows, isFixed);
    if (!run) return rows;
    if (size.isSparing && !statements) rowsToFoldInMiddle(run, rows, size);
    rows = [...rows.slice(0, run.from), foldedRow(rows.slice(run.from, run.to)), ...rows.slice(run.to)];
  }
}

function doRowsFit(rows: NetRow[], { room, head, least, most }: RowRoom, choices: OpenedRows) {
  const height = rows.reduce((sum, { kind }) => sum + (kind === "head" ? head : least), 0);
  const pinned = rows.filter((row) => choices.get(`rows ${row.key}`) === true).length;
  return height <= room && rows.length - pinned <= most;
}

/** The middle of a run: as many rows as make room for the others. */
function rowsToFoldInMiddle(run: { from: number; to: number }, rows: NetRow[], { room, head, least }: RowRoom) {
  const height = rows.reduce((sum, { kind }) => sum + (kind === "head" ? head : least), 0);
  const count = Math.min(run.to - run.from, Math.max(2, Math.ceil((height - room) / least) + 1));
  run.from += Math.floor((run.to - run.from - count) / 2);
  run.to = run.from + count;
}

/** The last statements beside each other, as what clears, runs backward and steps: folded before the net. */
function runOfStatements(rows: NetRow[], isFixed: (row: NetRow) => boolean): { from: number; to: number } | null {
  const isStatement = (row: NetRow) =>
    row.kind === "callSite" &&
    row.callSites[0].invocations[0].isStatement &&
    !row.callSites[0].inner.length &&
    !isFixed(row);
  let to = rows.length;
  while (to > 1 && !(isStatement(rows[to - 1]) && isStatement(rows[to - 2]))) to -= 1;
  let from = to;
  while (from > 0 && isStatement(rows[from - 1]) && rows[from - 1].depth === rows[to - 1].depth) from -= 1;
  return to > 1 && to - from > 1 ? { from, to } : null;
}

/** The run that is folded next; of one class only its middle at first. */
function runToFold(rows: NetRow[], isFixed: (row: NetRow) => boolean): { from: number; to: number } | null {
  let best: { from: number; to: number; depth: number; count: number } | null = null;
  for (let from = 0; from < rows.length; ) {
    const first = rows[from];
    let to = from;
    while (to < rows.length && !isFixed(rows[to]) && rows[to].within.at(-1) === first.within.at(-1)) to += 1;
    let [start, end] = [from, to];
    const repetition = longestRepetition(rows, from, to);
    if (repetition.to - repetition.from >= MIN_REPETITION) [start, end] = [repetition.from + 1, repetition.to - 1];
    const isBetter = !best || first.depth < best.depth || (first.depth === best.depth && end - start > best.count);
    if (end - start >= 2 && isBetter) best = { from: start, to: end, depth: first.depth, count: end - start };
    from = Math.max(to, from + 1);
  }
  return best;
}

/** The longest run of modules of one class between two rows. */
function longestRepetition(rows: NetRow[], from: number, to: number) {
  let best = { from, to: from };
  for (let start = from; start < to; ) {
    let end = start + 1;
    while (end < to && isSameClass(rows[start], rows[end])) end += 1;
    if (end - start > best.to - best.from) best = { from: start, to: end };
    start = end;
  }
  return best;
}

function isSameClass(a: NetRow, b: NetRow) {
  const [first, other] = [a.callSites[0], b.callSites[0]];
  return (
    a.kind === "callSite" &&
    b.kind === "callSite" &&
    first.kind === "module" &&
    other.kind === "module" &&
    first.type === other.type
  );
}

function foldedRow(rows: NetRow[]): NetRow {
  const [first] = rows;
  const isRepetition = rows.every((row) => isSameClass(first, row) || row.kind === "repeat");
  const callSites = rows.flatMap((row) => row.callSites);
  return { ...first, key: `fold ${first.key}`, kind: isRepetition ? "repeat" : "fold", callSites };
}

/** As many rows come out of a fold at a time; those after them stay in it. */
const MAX_UNFOLDED = 60;

/** The keys under which the rows of a fold are opened. */
export function keysToUnfoldRow(row: NetRow): string[] {
  return row.callSites.slice(0, MAX_UNFOLDED).map(({ key }) => `rows ${key}`);
}
