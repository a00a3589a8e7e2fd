/** The map of a run's graph: a dot for every node at a place that is decided once, from the finished graphs. */

import { addToList } from "../../trace/multimap.ts";
import { textWidth } from "../text/metrics.ts";
import { shortenNodeLabel } from "../text/node_labels.ts";
import { IntervalPacker } from "../packing.ts";
import type { EdgePlace } from "./graph_edges.ts";
import type { GraphComponent, GraphModel, NodeBlock } from "./graph_parts.ts";
import type { GraphStep, VisitOrder } from "./graph_step.ts";
import type { Rect } from "../pane.ts";

/** its rectangle is that around the dot */
export type MapDot = Rect & {
  uid: string;
  /** what it does: a node, a leaf, or a node between a leaf and its reader */
  kind: "node" | "leaf" | "shaping";
  /** the leaf stands for itself at another reader */
  again: boolean;
  turn: VisitOrder | null;
  /** whether this step made, changed or visited it */
  touched: boolean;
  broken: boolean;
  /** of nodes, where there is room */
  label: { text: string; name: string; x: number; nameX: number } | null;
};

export interface GraphMap {
  /** where it begins in its pane */
  left: number;
  w: number;
  dots: MapDot[];
  /** their paths are counted from the map's left: they stay as they are where the map moves */
  edges: EdgePlace[];
  /** nodes whose graph has given its place to a later one, or leaves that no node reads */
  rest: (Rect & { key: string; uids: string[] })[];
}

/** of a whole run in a pane of one size */
interface MapPlaces {
  /** from one node to the next */
  pitch: number;
  radius: number;
  /** by node that has a line of its own, its middle */
  lines: Map<string, number>;
  /** by graph, the last step for which it has its places */
  ends: Map<string, number>;
  /** what the steps before had by node: most of it stays */
  labels: Map<string, { name: string; x: number; right: number; label: MapDot["label"] }>;
  /** for each of its edges */
  edges: Map<string, DrawnEdge[]>;
}

/** an edge, and what it goes from and to: each x from the map's left, y, and width */
interface DrawnEdge {
  edge: EdgePlace;
  input: [number, number, number];
  reader: [number, number, number];
}

/** The highest and the lowest line, and the lowest that has room for a label. */
const MAX_MAP_PITCH = 24;
export const MIN_LABELLED_PITCH = 11.5;
const MAX_DOT_RADIUS = 4.5;
export const MAP_FONT_SIZE = 12;
/** What the step did is seen, as far as no dot lies over another. */
const MIN_TOUCHED_RADIUS = 2.6;
const MAP_TOP = 12;
/** Below the dots: a line for what has none. */
const MAP_REST_HEIGHT = 20;
/** Between two graphs that live at the same time, in lines. */
const GRAPH_GAP = 0.6;
/** From the left of the map to the dots: edges that pass others bend there, and leaves stand there. */
const DOT_OFFSET = 34;
const LEAF_SPACING = 9;
const MAX_CACHED_SIZES = 8;

const shapingsByBlock = new WeakMap<NodeBlock, string[]>();
const placesByModel = new WeakMap<GraphModel, Map<string, MapPlaces>>();

/** Where every node of a run has its dot in a pane of height `h`. */
export function graphMapPlaces(model: GraphModel, h: number): MapPlaces {
  const cache = placesByModel.get(model) ?? new Map<string, MapPlaces>();
  placesByModel.set(model, cache);
  const cached = cache.get(String(h));
  if (cached) return cached;
  const room = h - MAP_TOP - 2 * MAP_REST_HEIGHT;
  let ends = new Map(model.components.map((graph) => [graph.key, lastStepOfPlace(model, graph, false)]));
  let packed = packGraphs(model, ends, true);
  if (packed.count * MIN_LABELLED_PITCH > room) packed = packGraphs(model, ends, false);
  if (packed.count * MIN_LABELLED_PITCH > room) {
    ends = new Map(model.components.map((graph) => [graph.key, lastStepOfPlace(model, graph, true)]));
    packed = packGraphs(model, ends, false);
  }
  const pitch = Math.min(MAX_MAP_PITCH, room / Math.max(1, packed.count));
  const lines = new Map([...packed.lines].map(([uid, line]) => [uid, MAP_TOP + (line + 0.5) * pitch]));
  const places = {
    pitch,
    radius: Math.max(0.8, Math.min(MAX_DOT_RADIUS, pitch * 0.36)),
    lines,
    ends,
    labels: new Map(),
    edges: new Map(),
  };
  if (cache.size >= MAX_CACHED_SIZES) cache.clear();
  cache.set(String(h), places);
  return places;
}

/**
 * Which line each node has, counted from 0, and how many lines there are. `hasShapings`: what stands between a leaf and
 * its reader has a line above that.
 */
function packGraphs(model: GraphModel, ends: Map<string, number>, hasShapings: boolean) {
  const packer = new IntervalPacker();
  const lines = new Map<string, number>();
  for (const { key, birth, order } of model.components) {
    const uids = order.flatMap((block) => [...(hasShapings ? shapingsOf(block) : []), block.uid]);
    const first = packer.allocate(birth, ends.get(key) ?? birth, uids.length + GRAPH_GAP);
    uids.forEach((uid, k) => lines.set(uid, first + k));
  }
  return { lines, count: Math.max(1, packer.height - GRAPH_GAP) };
}

/**
 * Until when a graph has its places: as long as it lives, or, where backward is done with it, until no step touches it.
 * `scarce`: every graph gives its places away once no step touches it any more.
 */
function lastStepOfPlace(model: GraphModel, { order, birth, death }: GraphComponent, scarce: boolean) {
  if (!scarce && !order.some(({ visited }) => visited)) return death;
  let last = birth;
  for (const { uid } of order) {
    last = Math.max(last, model.history.lastTouchStep(uid, death));
    for (const { backward } of model.visits.get(uid) ?? [])
      last = Math.max(last, model.backwards.get(backward)?.last ?? last); // until its leaves have their gradients
  }
  return last;
}

/** The map at a step. It begins at `left`; edges whose keys are `inFocus` are drawn in full beside it. */
export function layoutGraphMap(
  graphStep: GraphStep,
  { left, w, h }: { left: number; w: number; h: number },
  inFocus: ReadonlySet<string>,
): GraphMap {
  const places = graphMapPlaces(graphStep.model, h);
  const dots: MapDot[] = [];
  const dotsByUid = new Map<string, MapDot>();
  const displaced: string[] = [];
  const placed = new Set<string>();
  const shown = graphsOnMap(graphStep, places);
  for (const component of graphStep.components) {
    const blocks = graphStep.livingBlocks.get(component.key) ?? [];
    if (!shown.has(component)) {
      for (const block of blocks) displaced.push(...uidsOfBlock(block));
      continue;
    }
    for (const block of blocks)
      for (const dot of dotsOfBlock(graphStep, places, block, left, w)) {
        dots.push(dot);
        if (!dot.again) placed.add(dot.uid);
        if (!dot.again || !dotsByUid.has(dot.uid)) dotsByUid.set(dot.uid, dot);
      }
  }
  if (places.pitch < MIN_LABELLED_PITCH) keepLabelsOfStep(graphStep, dots);
  const edges = mapEdges(graphStep, { dots, dotsByUid, left }, places, inFocus);
  const unread = graphStep.unreadLeaves();
  const others = [...new Set(displaced)].filter((uid) => graphStep.node(uid) && !placed.has(uid));
  const restLine = (key: string, uids: string[], y: number) => ({ key, uids, x: left + 6, y, w: w - 12, h: 16 });
  const rest = [];
  if (others.length) rest.push(restLine("graph others", others, h - 2 * MAP_REST_HEIGHT));
  if (unread.length) rest.push(restLine("graph idle", unread, h - MAP_REST_HEIGHT));
  return { left, w, dots, edges, rest };
}

/** The graphs that have their places, and those that gave theirs away but whose successor isn't there yet. */
function graphsOnMap(graphStep: GraphStep, { lines, ends }: MapPlaces): Set<GraphComponent> {
  const shown = new Set<GraphComponent>();
  const taken = new Set<number>();
  const linesOf = ({ order }: GraphComponent) =>
    order.flatMap((block) => [...shapingsOf(block), block.uid].flatMap((uid) => lines.get(uid) ?? []));
  const hasPlaces = (graph: GraphComponent) => (ends.get(graph.key) ?? -1) >= graphStep.i;
  const add = (graph: GraphComponent) => {
    shown.add(graph);
    for (const y of linesOf(graph)) taken.add(Math.round(y * 4));
  };
  const { components } = graphStep;
  for (const graph of components) if (hasPlaces(graph)) add(graph);
  for (const graph of [...components].reverse()) {
    const own = linesOf(graph);
    const [top, bottom] = [own[0] * 4 - 2, own[own.length - 1] * 4 + 2];
    if (!shown.has(graph) && ![...taken].some((y) => y >= top && y <= bottom)) add(graph);
  }
  return shown;
}

/** A node, what is between it and its leaves, and the leaves. */
function uidsOfBlock({ uid, docks }: NodeBlock) {
  return [uid, ...docks.flatMap(({ vias, leaf }) => [...vias, leaf])];
}

/** What stands between a node and its leaves, from them down to it. */
function shapingsOf(block: NodeBlock) {
  let uids = shapingsByBlock.get(block);
  if (!uids) {
    uids = [...new Set(block.docks.flatMap(({ vias }) => [...vias].reverse()))];
    shapingsByBlock.set(block, uids);
  }
  return uids;
}

function dotsOfBlock(graphStep: GraphStep, places: MapPlaces, block: NodeBlock, left: number, w: number): MapDot[] {
  const cy = places.lines.get(block.uid) ?? 0;
  const x = left + DOT_OFFSET;
  const { radius, pitch } = places;
  const most = pitch / 2;
  const dots = [makeDot(graphStep, block, { uid: block.uid, kind: "node", x, cy, radius, most })];
  dots[0].label = cachedLabel(graphStep, places, block.uid, x + MAX_DOT_RADIUS + 5, left + w - 4);
  for (const uid of shapingsOf(block)) {
    const own = places.lines.get(uid);
    if (own === undefined || !graphStep.node(uid)) continue;
    const dot = makeDot(graphStep, block, { uid, kind: "shaping", x, cy: own, radius, most });
    dot.label = cachedLabel(graphStep, places, uid, x + MAX_DOT_RADIUS + 5, left + w - 4);
    dots.push(dot);
  }
  const beside = dotsBesideLines(block, places, cy);
  for (const [lineY, docked] of beside) {
    const spacing = Math.min(LEAF_SPACING, (DOT_OFFSET - 8) / Math.max(1, docked.length));
    docked.forEach(({ uid, kind }, n) => {
      if (!graphStep.node(uid)) return;
      const small = Math.max(0.6, Math.min(radius * 0.72, spacing * 0.4));
      const place = {
        uid,
        kind,
        x: x - radius - spacing * (n + 0.7),
        cy: lineY,
        radius: small,
        most: Math.min(most, spacing / 2),
      };
      const dot = makeDot(graphStep, block, place);
      dot.again = kind === "leaf" && graphStep.mainReaderOf(uid) !== block.uid;
      dots.push(dot);
    });
  }
  return dots;
}

/**
 * By the height of a line, what stands at its left: leaves, and what is between them and their reader where that has no
 * line of its own.
 */
function dotsBesideLines(block: NodeBlock, { lines }: MapPlaces, cy: number) {
  const out = new Map<number, { uid: string; kind: MapDot["kind"] }[]>();
  for (const { leaf, vias } of block.docks) {
    const lined = vias.filter((uid) => lines.has(uid));
    const y = lines.get(lined.at(-1) ?? "") ?? cy;
    for (const uid of vias) if (!lines.has(uid)) addToList(out, y, { uid, kind: "shaping" });
    addToList(out, y, { uid: leaf, kind: "leaf" });
  }
  return out;
}

function makeDot(
  graphStep: GraphStep,
  block: NodeBlock,
  {
    uid,
    kind,
    x,
    cy,
    radius,
    most,
  }: { uid: string; kind: MapDot["kind"]; x: number; cy: number; radius: number; most: number },
): MapDot {
  const touched = uid === graphStep.visitedNode || graphStep.touched.uids.has(uid);
  const broken = graphStep.hasBrokenSlot(uid);
  const r = touched || broken ? Math.max(Math.min(MIN_TOUCHED_RADIUS, most), radius) : radius;
  return {
    ...{ uid, kind, x: x - r, y: cy - r, w: 2 * r, h: 2 * r, again: false, label: null, touched, broken },
    turn: graphStep.visitOrder(uid, block.component),
  };
}

/** Where lines are too narrow for labels, what the step did still has them, the visited node first. */
function keepLabelsOfStep(graphStep: GraphStep, dots: MapDot[]) {
  const visited = dots.filter(({ uid }) => uid === graphStep.visitedLine);
  const heights: number[] = [];
  const labelled = new Set<MapDot>();
  for (const dot of [...visited, ...dots.filter(({ touched, broken }) => touched || broken)]) {
    const y = middle(dot);
    if (!dot.label || heights.some((other) => Math.abs(other - y) < MIN_LABELLED_PITCH)) continue;
    heights.push(y);
    labelled.add(dot);
  }
  for (const dot of dots) if (!labelled.has(dot)) dot.label = null;
}

function cachedLabel(graphStep: GraphStep, { labels }: MapPlaces, uid: string, x: number, right: number) {
  const name = graphStep.outputs.get(uid)?.texts[0] ?? "";
  const cached = labels.get(uid);
  if (cached && cached.name === name && cached.x === x && cached.right === right) return cached.label;
  const label = placeLabel(graphStep.model.labels.get(uid) ?? uid, name, x, right);
  labels.set(uid, { name, x, right, label });
  return label;
}

/** What a node is called, with its number as everywhere else, and the name of what it made where that has room. */
function placeLabel(full: string, name: string, x: number, right: number): MapDot["label"] {
  const fits = (text: string) => x + textWidth(text, MAP_FONT_SIZE) <= right;
  const characters = Math.max(2, Math.floor((right - x) / textWidth("0", MAP_FONT_SIZE)));
  const text = shortenNodeLabel(full, characters);
  const shown = name && fits(`${text} ${name}`) ? name : "";
  return { text, name: shown, x, nameX: x + textWidth(`${text} `, MAP_FONT_SIZE) };
}

/** Every edge whose ends have dots, but those that are drawn in full. */
function mapEdges(
  graphStep: GraphStep,
  { dots, dotsByUid, left }: { dots: MapDot[]; dotsByUid: Map<string, MapDot>; left: number },
  places: MapPlaces,
  drawn: ReadonlySet<string>,
): EdgePlace[] {
  const out: EdgePlace[] = [];
  const dotsAgain = dots.filter(({ again }) => again);
  const uidsAgain = new Set(dotsAgain.map(({ uid }) => uid));
  const againByLine = new Map(dotsAgain.map((dot) => [`${dot.uid} ${middle(dot)}`, dot]));
  const inputOf = (uid: string, reader: MapDot) =>
    (uidsAgain.has(uid) ? againByLine.get(`${uid} ${middle(reader)}`) : undefined) ?? dotsByUid.get(uid);
  for (const reader of dots) {
    if (reader.kind === "leaf") continue;
    const visit = reader.turn && reader.turn.step <= graphStep.i ? reader.turn.step : -1;
    const cachedEdges = places.edges.get(reader.uid) ?? [];
    places.edges.set(reader.uid, cachedEdges);
    const grads = graphStep.model.opened.trace.steps[visit]?.visit?.grad_inputs;
    (graphStep.node(reader.uid)?.next ?? []).forEach((edge, k) => {
      const input = edge && inputOf(edge[0], reader);
      if (!edge || !input) return;
      const flow = !grads?.[k] ? "" : visit === graphStep.i ? "flow" : "flowed";
      const cached = cachedEdges[k];
      const isSame =
        cached?.edge.to === edge[0] &&
        cached.edge.flow === flow &&
        isPlacedAt(cached.input, input, left) &&
        isPlacedAt(cached.reader, reader, left);
      const place = isSame ? cached.edge : mapEdge({ input, reader, left, to: edge[0], k, flow }, places.pitch);
      if (!isSame) cachedEdges[k] = { edge: place, input: placeOf(input, left), reader: placeOf(reader, left) };
      if (!drawn.has(place.key)) out.push(place);
    });
  }
  return out;
}

function middle({ y, h }: Rect) {
  return Math.round((y + h / 2) * 100) / 100;
}

/** A place counted from the map's left: the same number wherever the map stands. */
export function relativeToMapLeft<T extends { x: number }>(place: T, left: number): T {
  return { ...place, x: Math.round((place.x - left) * 100) / 100 };
}

function mapEdge(
  ends: { input: MapDot; reader: MapDot; left: number; to: string; k: number; flow: EdgePlace["flow"] },
  pitch: number,
): EdgePlace {
  const { input, reader, left, to, k, flow } = ends;
  return {
    ...{ key: `${reader.uid}:${k}`, from: reader.uid, to, flow, arrow: null, lane: 0, past: false },
    top: Math.min(input.y, reader.y),
    bottom: Math.max(input.y, reader.y) + reader.h,
    d: mapEdgePath(relativeToMapLeft(input, left), relativeToMapLeft(reader, left), pitch),
  };
}

function placeOf({ x, y, w }: MapDot, left: number): DrawnEdge["input"] {
  return [x - left, y, w];
}

function isPlacedAt([x, y, w]: DrawnEdge["input"], dot: MapDot, left: number) {
  return x === dot.x - left && y === dot.y && w === dot.w;
}

/** Straight between neighbours, else an arc at the left. */
function mapEdgePath(input: Rect, reader: Rect, pitch: number) {
  const [y0, y1] = [middle(input), middle(reader)];
  const x0 = input.x + input.w / 2;
  const x1 = reader.x + reader.w / 2;
  if (y0 === y1) return `M${input.x + input.w} ${y0}H${reader.x}`;
  if (Math.abs(x0 - x1) < 0.02 && Math.abs(y1 - y0) < pitch * 1.7) return `M${x0} ${input.y + input.h}V${reader.y}`;
  const bend = Math.min(22, 6 + Math.abs(y1 - y0) / (pitch || 1));
  return `M${input.x} ${y0}C${input.x - bend} ${y0} ${reader.x - bend} ${y1} ${reader.x} ${y1}`;
}
