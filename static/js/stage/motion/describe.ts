/**
 * What moves from one step's drawing to the next: a written cell turns, a gradient travels its edge and lands in
 * `.grad`, what was freed fades, a rebound name slides to its new tensor, and what was laid out anew slides there. A
 * pure function of both drawings: the browser plays it, and a film can be written from it without one.
 */

import { shortNumberText } from "../../trace/format.ts";
import { h, parseTranslate, type VNode } from "../../browser/svg.ts";
import type { Rect } from "../../layout/pane.ts";
import type { PaneSide } from "../../layout/stage_plan.ts";
import type { Cell } from "../../trace/entities.ts";
import {
  boxOf,
  inertCopyInPlace,
  entitiesIn,
  findByAttribute,
  findPaneContents,
  middleOf,
  inertCopy,
  type DrawnItemPath,
  type StageDrawing,
  type DrawnItem,
  type PaneContents,
} from "./drawing.ts";
import type { StepChange } from "./step_change.ts";
import { distance, pathPoints, fractionsAlongPath, pathUpTo, type Point } from "./path.ts";

/** How long a step's motion takes, in milliseconds. */
const MOTION_MS = 180;
/** How long what is new takes to appear. */
const APPEAR_MS = 90;
const EASING = "cubic-bezier(0.2, 0.7, 0.2, 1)";
/** More numbers than these don't turn: as many would be a flicker, and cost a step. */
const MAX_TURNING_CELLS = 40;
const MAX_TRAVELLING_CHIPS = 12;
const MAX_FADING = 24;
const MAX_APPEARING = 24;
/** More rows than these don't slide: nobody follows so many. */
const MAX_SLIDING = 60;

/** Where something is on its way: moved from its place, and scaled about a point of it, in its own units. */
interface Pose {
  x?: number;
  y?: number;
  scale?: [number, number];
  about?: Point;
  opacity?: number;
}

/** at: from 0 to 1, of the motion's time; easing: from there to the next one */
export type MotionFrame = Pose & { at: number; easing?: string };

export interface Motion {
  kind: "written" | "arrived" | "landed" | "freed" | "rebound" | "moved" | "appeared";
  /** the entity or part of one, as its data attribute says */
  of: string;
  /** what moves: something drawn; a copy, there only on its way, in something drawn, behind a pane, or over
   * both panes with the looks that it has in one */
  mover: { drawn: DrawnItemPath } | { copy: VNode; into: DrawnItemPath | { behind: PaneSide } | { over: PaneSide } };
  /** where it is moved to by itself, whatever its frames say */
  base: Point | null;
  frames: MotionFrame[];
  /** of the whole, in milliseconds */
  duration: number;
  easing: string;
}

/** `change` is null where nothing but the layout changed, as where a fold was opened. */
export function describeMotion(before: StageDrawing, after: StageDrawing, change: StepChange | null): Motion[] {
  const sides = (["memory", "graph"] as const).flatMap((side) => {
    const [old, now] = [before[side], after[side]];
    return old && now ? [{ old: findPaneContents(side, old), now: findPaneContents(side, now) }] : [];
  });
  const moves = change?.back ? [] : sides.flatMap(slideMotions);
  if (!change) return moves;
  const fades = sides.flatMap((pair) => fadeOutMotions(pair, change.gone));
  if (change.back) return fades;
  const now = new Map(sides.map((pair) => [pair.now.side, pair.now]));
  const landing = gradientArrivalMotions(sides, now, change);
  const landed = new Set(landing.map(({ of }) => of));
  return [
    ...moves,
    ...fades,
    ...sides.flatMap((pair) => cellValueMotions(pair, change)),
    ...gradientTravelMotions(now.get("graph"), change),
    ...landing,
    ...sides.flatMap((pair) => nameSlideMotions(pair, moves)),
    ...sides.flatMap((pair) => appearanceMotions(pair, landed)),
  ];
}

interface PanePair {
  old: PaneContents;
  now: PaneContents;
}

/** What was laid out anew slides there. */
function slideMotions({ old, now }: PanePair): Motion[] {
  const places = new Map(old.units.map((unit) => [unit.identity, unit]));
  const out = now.units.flatMap((unit): Motion[] => {
    const [from, to] = [places.get(unit.identity)?.moved, unit.moved];
    if (!from || !to || (from[0] === to[0] && from[1] === to[1])) return [];
    const frames = fromTo({ x: from[0] - to[0], y: from[1] - to[1] }, { x: 0, y: 0 });
    return [makeMotion("moved", unit.node.key ?? "", { drawn: unit.at }, frames, { base: to })];
  });
  return out.length > MAX_SLIDING ? [] : out;
}

/** What was freed fades where it was, unless something new stands there. */
function fadeOutMotions({ old, now }: PanePair, gone: ReadonlySet<string>): Motion[] {
  if (!gone.size) return [];
  const staying = new Set(now.units.map(({ identity }) => identity));
  const freed = old.units.filter((unit) => {
    if (staying.has(unit.identity)) return false;
    if (unit.parent !== null && !staying.has(unit.parent)) return false; // what it is in fades with it
    return [...entitiesIn(unit.node)].some((uid) => gone.has(uid));
  });
  if (!freed.length || freed.length > MAX_FADING) return [];
  const wereThere = new Map(old.units.map((unit) => [unit.identity, unit]));
  const news = now.units.filter((unit) => {
    const was = wereThere.get(unit.identity);
    return !was || was.moved?.join() !== unit.moved?.join() || was.node.attrs.d !== unit.node.attrs.d;
  });
  const newBoxes = news.map(boxOf).filter((box) => box !== null);
  return freed.flatMap((unit): Motion[] => {
    const box = boxOf(unit);
    if (!box || newBoxes.some((other) => doRectsOverlap(box, other))) return [];
    const frames = fromTo({ opacity: 1 }, { opacity: 0 });
    const copy = { copy: inertCopyInPlace(unit), into: { behind: old.side } };
    return [makeMotion("freed", [...entitiesIn(unit.node)].join(" "), copy, frames, { easing: "linear" })];
  });
}

function doRectsOverlap(a: Rect, b: Rect) {
  return a.x < b.x + b.w - 1 && b.x < a.x + a.w - 1 && a.y < b.y + b.h - 1 && b.y < a.y + a.h - 1;
}

/** The old number shrinks to nothing, and the new one grows; what says that it is new stays. */
function cellValueMotions({ old, now }: PanePair, { oldValues }: StepChange): Motion[] {
  if (!oldValues.size) return [];
  const written = now.things.cell.filter(({ node }) => oldValues.has(keyOfCell(node)) && partOf(node, "val"));
  if (written.length > MAX_TURNING_CELLS) return [];
  const drawnBefore = new Map(old.things.cell.map((found) => [keyOfCell(found.node), found.node]));
  return written.flatMap((found): Motion[] => {
    const { node, at } = found;
    const value = oldValues.get(keyOfCell(node)) as Cell;
    const parts = ["cell-box", "val"].flatMap((name) => partOf(node, name) ?? []);
    const box = boxOf({ node: node.children[parts[0]], x: 0, y: 0 });
    if (!box) return [];
    const about = middleOf(box);
    const flat: [number, number] = [1, 0];
    const [shrinking, growing]: MotionFrame[][] = [
      [
        { at: 0, scale: [1, 1], about, easing: "ease-in" },
        { at: 0.5, scale: flat, about },
        { at: 1, scale: flat, about },
      ],
      [
        { at: 0, scale: flat, about },
        { at: 0.5, scale: flat, about, easing: EASING },
        { at: 1, scale: [1, 1], about },
      ],
    ];
    const of = node.attrs["data-cell"];
    const oldCell = h(
      "g",
      {},
      parts.map((k) => partBefore(node.children[k], drawnBefore.get(keyOfCell(node)), value)),
    );
    return [
      makeMotion("written", of, { copy: oldCell, into: at }, shrinking, { easing: "linear" }),
      ...parts.map((k) =>
        makeMotion("written", of, { drawn: { ...at, path: [...at.path, k] } }, growing, { easing: "linear" }),
      ),
    ];
  });
}

function keyOfCell({ attrs }: VNode) {
  const [storage, index] = attrs["data-cell"].split(":");
  return `${storage}:${attrs["data-dtype"]}:${index}`;
}

/** Which child of something has a class. */
function partOf({ children }: VNode, name: string): number | null {
  const k = children.findIndex(({ attrs }) => attrs.class?.split(" ").includes(name));
  return k < 0 ? null : k;
}

/** A part of a cell at its place of now, as it looked before. */
function partBefore(part: VNode, cellBefore: VNode | undefined, value: Cell): VNode {
  const copy = inertCopy(part);
  const k = cellBefore ? partOf(cellBefore, part.text === null ? "cell-box" : "val") : null;
  const was = k === null ? null : cellBefore?.children[k];
  if (part.text !== null) return { ...copy, text: was?.text ?? shortNumberText(value, Math.max(3, part.text.length)) };
  const looks = was?.attrs ?? { class: "cell-box" };
  return { ...copy, attrs: { ...copy.attrs, class: looks.class, "fill-opacity": looks["fill-opacity"] ?? "1" } };
}

/** Each gradient that a node sends goes from the node along its edge to where its chip stands. */
function gradientTravelMotions(graph: PaneContents | undefined, { visit }: StepChange): Motion[] {
  if (!graph || !visit) return [];
  const chips = graph.things.chip.filter(({ node }) => node.attrs["data-grad"].startsWith(`${visit.node}:`));
  const nodes = findByAttribute(graph, "data-node", visit.node).flatMap((found) => boxOf(found) ?? []);
  return chips.slice(0, MAX_TRAVELLING_CHIPS).flatMap((chip): Motion[] => {
    const box = boxOf(chip);
    if (!box) return [];
    const goal = middleOf(box);
    const way = gradientPath(graph, chip.node.attrs["data-grad"], nearestBox(nodes, goal), goal);
    if (way.length < 2) return [];
    const drift = [goal[0] - way[way.length - 1][0], goal[1] - way[way.length - 1][1]];
    const base = parseTranslate(chip.node.attrs.transform);
    const about: Point = [goal[0] - chip.x - base[0], goal[1] - chip.y - base[1]];
    const frames = fractionsAlongPath(way).map(({ share, at: [x, y] }) => {
      const [cx, cy] = [x + drift[0] * share, y + drift[1] * share];
      const size = 0.5 + 0.5 * share;
      const pose = { x: cx - goal[0], y: cy - goal[1], scale: [size, size] as [number, number], about };
      return { at: share, ...pose, opacity: Math.min(1, share * 4) };
    });
    return [makeMotion("arrived", chip.node.attrs["data-grad"], { drawn: chip.at }, frames, { base })];
  });
}

/** From a node's box along an edge, or straight where the edge isn't drawn, to where its chip stands beside it. */
function gradientPath(graph: PaneContents, edgeKey: string, node: Rect | null, goal: Point): Point[] {
  const ways = findByAttribute(graph, "data-edge", edgeKey).flatMap((edge): Point[][] => {
    const line = edge.node.children.find(({ tag }) => tag === "path");
    const points = pathPoints(line?.attrs.d ?? "").map(([x, y]): Point => [x + edge.x, y + edge.y]);
    if (points.length < 2) return [];
    const start = node ? middleOf(node) : points[points.length - 1];
    const isForwards = distance(points[0], start) < distance(points[points.length - 1], start);
    const way = pathUpTo(isForwards ? points : points.reverse(), goal);
    return way.length > 1 ? [way] : [];
  });
  const far = (way: Point[]) => distance(way[way.length - 1], goal);
  const [way] = ways.sort((a, b) => far(a) - far(b));
  if (way) return way;
  return node ? [[node.x + node.w / 2, node.y], goal] : [];
}

function nearestBox(boxes: Rect[], goal: Point): Rect | null {
  const far = (box: Rect) => distance(middleOf(box), goal);
  return boxes.reduce((best: Rect | null, box) => (best && far(best) <= far(box) ? best : box), null);
}

/** What arrives at a leaf grows out of its chip into the `.grad` beside its tensor, or goes into what is there. */
function gradientArrivalMotions(sides: PanePair[], now: Map<PaneSide, PaneContents>, { visit }: StepChange): Motion[] {
  const [memory, graph] = [now.get("memory"), now.get("graph")];
  if (!memory || !graph || !visit?.accumulates) return [];
  const places = memory.things.gradPlace.filter(({ node }) => node.attrs["data-grad-of"] === visit.accumulates);
  const filled = places.flatMap((place) => gradientStripIn(place) ?? []);
  const [target] = filled.sort((a, b) => b.box.w * b.box.h - a.box.w * a.box.h);
  const source = startOfGradientMotion(graph, visit.node);
  if (!target || !source) return [];
  const corner = (pane: PaneContents, [x, y]: Point): Point => [x + pane.drawing.x, y + pane.drawing.y];
  const from = corner(graph, middleOf(source.box));
  const to = corner(memory, middleOf(target.box));
  const [x, y] = [from[0] - to[0], from[1] - to[1]];
  const small = Math.max(0.2, Math.min(1, source.box.h / target.box.h, source.box.w / target.box.w));
  const uid = visit.accumulates;
  const { x: paneX, y: paneY } = memory.drawing;
  if (isNewGradient(sides, uid, target.uid)) {
    const about = to;
    const frames: MotionFrame[] = [
      { at: 0, x, y, scale: [small, small], about },
      { at: 1, x: 0, y: 0, scale: [1, 1], about },
    ];
    const hidden: MotionFrame[] = [
      { at: 0, opacity: 0 },
      { at: 0.999, opacity: 0 },
      { at: 1, opacity: 1 },
    ];
    return [
      makeMotion(
        "landed",
        uid,
        { copy: inertCopyInPlace(target.strip, paneX, paneY), into: { over: "memory" } },
        frames,
      ),
      makeMotion("landed", uid, { drawn: target.strip.at }, hidden, { easing: "linear" }),
    ];
  }
  if (!source.chip) return [];
  const frames: MotionFrame[] = [
    { at: 0, x: 0, y: 0, opacity: 1 },
    { at: 0.7, x: -x * 0.96, y: -y * 0.96, opacity: 1 },
    { at: 1, x: -x, y: -y, opacity: 0 },
  ];
  const chip = inertCopyInPlace(source.chip, graph.drawing.x, graph.drawing.y);
  return [makeMotion("landed", uid, { copy: chip, into: { over: "graph" } }, frames)];
}

/** The cells of a gradient in the place that is kept for it. */
function gradientStripIn(place: DrawnItem): { strip: DrawnItem; box: Rect; uid: string } | null {
  const uid = place.node.attrs["data-handle"];
  if (!uid) return null;
  const k = place.node.children.findIndex(({ attrs }) => attrs["data-storage-strip"] !== undefined);
  const strip =
    k < 0 ? place : { ...place, node: place.node.children[k], at: { ...place.at, path: [...place.at.path, k] } };
  const box = boxOf(strip);
  return box && { strip, box, uid };
}

/** Whether the place for a tensor's gradient did not show this one. */
function isNewGradient(sides: PanePair[], tensor: string, grad: string) {
  const memory = sides.find(({ old }) => old.side === "memory")?.old;
  return (
    !memory || !findByAttribute(memory, "data-grad-of", tensor).some(({ node }) => node.attrs["data-handle"] === grad)
  );
}

/** The chip on the edge to a leaf, or the leaf itself. */
function startOfGradientMotion(graph: PaneContents, leaf: string): { box: Rect; chip: DrawnItem | null } | null {
  for (const edge of findByAttribute(graph, "data-to", leaf)) {
    const [chip] = findByAttribute(graph, "data-grad", edge.node.attrs["data-edge"] ?? "");
    const box = chip && boxOf(chip);
    if (box) return { box, chip };
  }
  const [own] = findByAttribute(graph, "data-grad", leaf);
  const [node] = findByAttribute(graph, "data-node", leaf);
  const box = (own && boxOf(own)) ?? (node && boxOf(node));
  return box ? { box, chip: own ?? null } : null;
}

/** A name that means another tensor slides there from the row of the one that it meant. */
function nameSlideMotions({ old, now }: PanePair, moves: Motion[]): Motion[] {
  const key = ({ node }: DrawnItem) => `${node.attrs["data-frame"] ?? ""}/${node.attrs["data-name"]}`;
  return now.things.name.flatMap((found): Motion[] => {
    const { node, at } = found;
    const was = old.things.name.filter((other) => key(other) === key(found));
    if (!node.attrs["data-ref"] || was.length !== 1 || was[0].node.attrs["data-ref"] === node.attrs["data-ref"])
      return [];
    if (!was[0].node.attrs["data-ref"] || now.things.name.filter((other) => key(other) === key(found)).length !== 1)
      return [];
    const [from, to] = [boxOf(was[0]), boxOf(found)];
    if (!from || !to) return [];
    const row = moves.find(({ mover }) => "drawn" in mover && isWithin(at, mover.drawn))?.frames[0];
    const [x, y] = [from.x - to.x - (row?.x ?? 0), from.y - to.y - (row?.y ?? 0)];
    if (Math.abs(x) < 1 && Math.abs(y) < 1) return [];
    const frames = fromTo({ x, y }, { x: 0, y: 0 });
    return [
      makeMotion("rebound", node.attrs["data-name"], { drawn: at }, frames, {
        base: parseTranslate(node.attrs.transform),
      }),
    ];
  });
}

function isWithin(inner: DrawnItemPath, outer: DrawnItemPath) {
  return inner.pane === outer.pane && outer.path.every((k, n) => inner.path[n] === k);
}

/** What is new appears. */
function appearanceMotions({ old, now }: PanePair, landed: ReadonlySet<string>): Motion[] {
  const wereThere = new Set(old.units.map(({ identity }) => identity));
  const out = now.units.flatMap((unit): Motion[] => {
    const isNew = !wereThere.has(unit.identity) && (unit.parent === null || wereThere.has(unit.parent));
    if (!isNew || [...entitiesIn(unit.node)].some((uid) => landed.has(uid))) return [];
    const frames = fromTo({ opacity: 0 }, { opacity: 1 });
    return [
      makeMotion("appeared", unit.node.key ?? "", { drawn: unit.at }, frames, {
        easing: "linear",
        duration: APPEAR_MS,
      }),
    ];
  });
  return out.length > MAX_APPEARING ? [] : out;
}

function fromTo(first: Pose, last: Pose): MotionFrame[] {
  return [
    { at: 0, ...first },
    { at: 1, ...last },
  ];
}

function makeMotion(
  kind: Motion["kind"],
  of: string,
  mover: Motion["mover"],
  frames: MotionFrame[],
  { base = null, easing = EASING, duration = MOTION_MS }: Partial<Pick<Motion, "base" | "easing" | "duration">> = {},
): Motion {
  return { kind, of, mover, base, frames, duration, easing };
}
