/**
 * Which places of a net have a row at a step: what the step is in is open, then what there is room for; the rest is
 * folded.
 */

import { changesShapeOnly } from "./net_words.ts";
import type { NetFacts } from "./net_state.ts";
import { nodesOfInvocation, type CallSite } from "./net_call_sites.ts";
import { referencedUid } from "../trace/names.ts";
import type { Value } from "../trace/wire.ts";

/**
 * head: of a place whose inner ones follow; place: closed, or without inner ones; lines: neighbours that change shapes
 * alone; fold: neighbours that there is no room for; repeat: the same, of one class
 */
type RowKind = "head" | "place" | "lines" | "fold" | "repeat";

export interface NetRow {
  key: string;
  kind: RowKind;
  /** the first of them, in order */
  places: CallSite[];
  depth: number;
  /** the keys of the frames that it is in */
  within: CallSite[];
}

export const NET_HEAD_HEIGHT = 20;
const ROW_HEIGHT = 22;
export const MIN_ROW_HEIGHT = 20;
/** As many rows are readable at a look. */
const MAX_ROWS = 25;
/** More places than these are not read one by one where a single step runs all of them. */
const MAX_TOUCHED = 9;
/** As many rows of a step stay in any room. */
const MAX_KEPT = 4;
/** Of so many neighbours of one class the first and the last stay. */
const MIN_REPETITION = 5;

/** What the reader opened and closed: by the key of a place, or of a fold. */
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

/** The rows of a net at a step. `room` is in pixels; `ends` are places that have a row in any case. */
export function netRows(
  facts: NetFacts,
  i: number,
  room: number,
  choices: OpenedRows,
  ends: CallSite[] = [],
): NetRow[] {
  const size = { room, head: NET_HEAD_HEIGHT, row: ROW_HEIGHT, least: MIN_ROW_HEIGHT, most: MAX_ROWS, isSparing: true };
  const at = stepOfOpenRow(facts, i) ?? i;
  const path = new Set([...callSitesAroundStep(facts, i), ...callSitesAroundStep(facts, at), ...placesAround(ends)]);
  const open = placesToOpen(facts, path, size, choices);
  const touched = [...new Set([...touchedCallSites(facts, at), ...touchedCallSites(facts, i)])];
  const rows = rowsOf(facts, facts.net.top, open).filter(({ places: [place] }) =>
    place.isPassing
      ? touched.includes(place)
      : !place.isLoop || [i, at].some((step) => facts.units(place).has(facts.net.stretchOfStep[step])),
  );
  let folded = foldRows(rows, new Set([...path, ...touched, ...ends]), size, choices);
  // the path above names the frames that there is no room for; a step that runs too much is folded like all else
  for (let head = 0; !doFit(folded, size, choices) && head >= 0; ) {
    head = folded.findIndex(({ kind }, k) => kind === "head" && folded.slice(k + 1).some((row) => row.kind === "head"));
    if (head >= 0) folded = folded.filter((_, k) => k !== head);
  }
  const isTooMuch = !doFit(folded, size, choices) && touched.length > MAX_KEPT;
  return isTooMuch ? foldRows(folded, new Set(ends), size, choices) : folded;
}

/**
 * The rows of a net for a whole run: the same at every step, opened by the reader alone and where there is room.
 * `folding`: the room in which rows are folded, where those that do not fit scroll.
 */
export function netRowsOfWholeRun(facts: NetFacts, size: RowRoom, choices: OpenedRows, folding = size): NetRow[] {
  const open = placesToOpen(facts, new Set(), size, choices);
  const rows = rowsOf(facts, facts.net.top, open).filter(({ places: [place] }) => !place.isPassing);
  return foldRows(rows, new Set(), folding, choices);
}

/**
 * The step whose row is open at a step: the step itself, or the last before it that a row is about, so that nothing
 * moves where a round begins; null where there is none.
 */
export function stepOfOpenRow(facts: NetFacts, i: number): number | null {
  for (let k = facts.anchors.length; k <= i; k++)
    facts.anchors[k] = isTelling(facts, k) && touchedCallSites(facts, k).length ? k : (facts.anchors[k - 1] ?? null);
  return facts.anchors[i];
}

/** Whether a step does anything to tensors, which an open row would show. */
function isTelling({ opened }: NetFacts, i: number): boolean {
  const { visit, log, set } = opened.trace.steps[i];
  const isTensor = (value: Value) => referencedUid(value)?.[0] === "t";
  return (
    Boolean(visit) ||
    log.some(({ kind }) => kind !== "out") ||
    Object.values(set).some(({ grad, vars }) => grad !== undefined || Object.values(vars ?? {}).some(isTensor))
  );
}

/** The place whose row is open at a step: the last that the anchor step is about. */
export function openCallSiteOf(facts: NetFacts, i: number): CallSite | null {
  const at = stepOfOpenRow(facts, i);
  return at === null ? null : (touchedCallSites(facts, at).at(-1) ?? null);
}

/** The path to a step: the places around it, and its own where it is one. */
export function pathOfStep(facts: NetFacts, i: number): CallSite[] {
  const path = [...callSitesAroundStep(facts, i)].sort((a, b) => a.key.length - b.key.length);
  const touched = touchedCallSites(facts, i);
  return touched.length === 1 ? [...path, touched[0]] : path;
}

function placesAround(places: CallSite[]): Set<CallSite> {
  const around = new Set<CallSite>();
  for (const { parent } of places) for (let outer = parent; outer; outer = outer.parent) around.add(outer);
  return around;
}

/** The places around what a step touched, and around the code that it runs. */
export function callSitesAroundStep(facts: NetFacts, i: number): Set<CallSite> {
  const path = new Set<CallSite>();
  const add = (place: CallSite | null | undefined) => {
    for (let outer = place; outer; outer = outer.parent) path.add(outer);
  };
  const touched = touchedCallSites(facts, i);
  for (const place of touched) add(place.parent);
  if (!touched.length) add(callSiteOfStep(facts, i));
  return path;
}

/** The places that a step is about, without those around them; where they are many, what they are in, closed. */
function touchedCallSites(facts: NetFacts, i: number): CallSite[] {
  const places = facts.touchedAt(i).flatMap((unit) => facts.net.callSiteOfInvocation.get(unit) ?? []);
  let touched = new Set(places.filter((place) => !place.inner.length));
  while (touched.size > MAX_TOUCHED) {
    const outer = new Map([...touched].map((place) => [place, nearestCallSiteWithRow(place)]));
    const deepest = Math.max(...[...touched].map((place) => (outer.get(place) ? levelOf(place) : -1)));
    if (deepest < 0) break;
    touched = new Set([...touched].map((place) => (levelOf(place) === deepest && outer.get(place)) || place));
  }
  return [...touched];
}

/** The nearest place around one that has a row of its own. */
function nearestCallSiteWithRow({ parent }: CallSite): CallSite | null {
  let outer = parent;
  while (outer?.isBare) outer = outer.parent;
  return outer;
}

function levelOf(place: CallSite) {
  let level = 0;
  for (let outer = place.parent; outer; outer = outer.parent) level += 1;
  return level;
}

/** The place whose code a step runs. */
function callSiteOfStep({ net, opened }: NetFacts, i: number): CallSite | null {
  let unit = net.invocationByFrame.get(opened.trace.steps[i]?.frame ?? "") ?? null;
  while (unit && !net.callSiteOfInvocation.has(unit)) unit = unit.parent;
  const place = unit && net.callSiteOfInvocation.get(unit);
  return place?.key ? place : null;
}

function placesToOpen(facts: NetFacts, path: Set<CallSite>, size: RowRoom, choices: OpenedRows): Set<CallSite> {
  const open = new Set<CallSite>();
  const opens = (place: CallSite) =>
    place.inner.length > 0 && (place.isBare || (choices.get(place.key) ?? path.has(place)));
  const collect = (places: CallSite[]) => {
    for (const place of places)
      if (opens(place)) {
        open.add(place);
        collect(place.inner);
      }
  };
  collect(facts.net.top);
  const cost = (rows: NetRow[]) => rows.reduce((sum, { kind }) => sum + (kind === "head" ? size.head : size.row), 0);
  const rows = rowsOf(facts, facts.net.top, open);
  let [height, count] = [cost(rows), rows.length];
  const closed = rows.flatMap(({ kind, places }) => (kind === "place" && places[0].inner.length ? [places[0]] : []));
  let level = nearestFirst(closed, rows, path);
  for (let isFull = false; level.length && !isFull; ) {
    const next: CallSite[] = [];
    for (const place of level) {
      if (choices.get(place.key) === false || (choices.get(place.key) !== true && isEvaluation(facts, place))) continue;
      const inside = rowsOf(facts, place.inner, withBare(place.inner));
      const added = cost(inside) + size.head - size.row;
      if (height + added > size.room || count + inside.length > size.most) {
        isFull = true; // nothing of a deeper level opens while something of this one is closed
        continue;
      }
      [height, count] = [height + added, count + inside.length];
      for (const part of [place, ...withBare(place.inner)]) open.add(part);
      next.push(...inside.flatMap(({ places }) => (places[0].inner.length ? [places[0]] : [])));
    }
    level = next;
  }
  return open;
}

/** A net that makes nodes where it is called elsewhere, and none here. */
function isEvaluation({ net }: NetFacts, place: CallSite) {
  const makesNodes = ({ units }: CallSite) => units.some((unit) => nodesOfInvocation(unit).length > 0);
  return place.isTwice && !makesNodes(place) && net.top.some((other) => other.path === place.path && makesNodes(other));
}

/** The outermost first, of one level those near to what is open around the step. */
function nearestFirst(places: CallSite[], rows: NetRow[], path: ReadonlySet<CallSite>): CallSite[] {
  const at = rows.findLastIndex((row) => row.places.some((place) => path.has(place)));
  const rank = new Map(
    places.map((place) => {
      const row = rows.findIndex((other) => other.places[0] === place);
      return [place, [rows[row].depth, at < 0 ? row : Math.abs(row - at)]];
    }),
  );
  const rankOf = (place: CallSite) => rank.get(place) ?? [0, 0];
  return places.sort((a, b) => rankOf(a)[0] - rankOf(b)[0] || rankOf(a)[1] - rankOf(b)[1]);
}

/** Those that stand for themselves nowhere, with those within them. */
function withBare(places: CallSite[]): Set<CallSite> {
  const bare = places.filter(({ isBare }) => isBare);
  return new Set(bare.flatMap((place) => [place, ...withBare(place.inner)]));
}

function rowsOf(facts: NetFacts, places: CallSite[], open: ReadonlySet<CallSite>, within: CallSite[] = []): NetRow[] {
  const rows: NetRow[] = [];
  for (const place of places) {
    const [key, depth] = [place.key, within.length];
    if (place.isBare && open.has(place)) rows.push(...rowsOf(facts, place.inner, open, within));
    else if (open.has(place)) {
      rows.push({ key, kind: "head", places: [place], depth, within });
      rows.push(...rowsOf(facts, place.inner, open, [...within, place]));
    } else {
      const before = rows.at(-1);
      if (
        before &&
        before.depth === depth &&
        isShapeLine(facts, place) &&
        before.kind !== "head" &&
        isShapeLine(facts, before.places[0])
      )
        rows[rows.length - 1] = { ...before, kind: "lines", places: [...before.places, place] };
      else rows.push({ key, kind: "place", places: [place], depth, within });
    }
  }
  return rows;
}

function isShapeLine({ net, opened }: NetFacts, { kind, units }: CallSite) {
  const nodes = kind === "line" ? units[0].nodes : [];
  return (
    nodes.length > 0 &&
    net.top.length > 0 &&
    nodes.every((uid) => changesShapeOnly(opened.index.nodes.get(uid)?.name ?? ""))
  );
}

/** Rows that fit: the outermost, longest runs of closed neighbours become one row, but not what the step is in. */
function foldRows(rows: NetRow[], kept: ReadonlySet<CallSite>, size: RowRoom, choices: OpenedRows): NetRow[] {
  const isFixed = (row: NetRow) =>
    row.kind === "head" || choices.get(`rows ${row.key}`) === true || row.places.some((place) => kept.has(place));
  for (;;) {
    if (doFit(rows, size, choices)) return rows;
    const statements = runOfStatements(rows, isFixed);
    const run = statements ?? runToFold(rows, isFixed);
    if (!run) return rows;
    if (size.isSparing && !statements) shorten(run, rows, size);
    rows = [...rows.slice(0, run.from), foldedRow(rows.slice(run.from, run.to)), ...rows.slice(run.to)];
  }
}

function doFit(rows: NetRow[], { room, head, least, most }: RowRoom, choices: OpenedRows) {
  const height = rows.reduce((sum, { kind }) => sum + (kind === "head" ? head : least), 0);
  const pinned = rows.filter((row) => choices.get(`rows ${row.key}`) === true).length;
  return height <= room && rows.length - pinned <= most;
}

/** The middle of a run: as many rows as make room for the others. */
function shorten(run: { from: number; to: number }, rows: NetRow[], { room, head, least }: RowRoom) {
  const height = rows.reduce((sum, { kind }) => sum + (kind === "head" ? head : least), 0);
  const count = Math.min(run.to - run.from, Math.max(2, Math.ceil((height - room) / least) + 1));
  run.from += Math.floor((run.to - run.from - count) / 2);
  run.to = run.from + count;
}

/** The last statements beside each other, as what clears, runs backward and steps: folded before the net. */
function runOfStatements(rows: NetRow[], isFixed: (row: NetRow) => boolean): { from: number; to: number } | null {
  const isStatement = (row: NetRow) =>
    row.kind === "place" && row.places[0].units[0].isStatement && !row.places[0].inner.length && !isFixed(row);
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
  const [first, other] = [a.places[0], b.places[0]];
  return (
    a.kind === "place" &&
    b.kind === "place" &&
    first.kind === "module" &&
    other.kind === "module" &&
    first.type === other.type
  );
}

function foldedRow(rows: NetRow[]): NetRow {
  const [first] = rows;
  const isRepetition = rows.every((row) => isSameClass(first, row) || row.kind === "repeat");
  const places = rows.flatMap((row) => row.places);
  return { ...first, key: `fold ${first.key}`, kind: isRepetition ? "repeat" : "fold", places };
}

/** As many rows come out of a fold at a time; those after them stay in it. */
const MAX_UNFOLDED = 60;

/** The keys under which the rows of a fold are opened. */
export function keysToUnfoldRow(row: NetRow): string[] {
  return row.places.slice(0, MAX_UNFOLDED).map(({ key }) => `rows ${key}`);
}
