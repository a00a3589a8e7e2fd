/** What a step's drawing holds, found by its data attributes: where each thing stands in the tree, and its box. */

import { h, parseTranslate, type VNode } from "../../browser/svg.ts";
import type { PaneSide } from "../../layout/stage_plan.ts";
import type { Rect } from "../../layout/pane.ts";
import { pathPoints, type Point } from "./path.ts";

interface PaneDrawing {
  body: VNode[];
  /** the pane's corner in the stage, in units */
  x: number;
  y: number;
}

/** What both panes show at a step; null where a pane shows nothing. */
export type StageDrawing = Record<PaneSide, PaneDrawing | null>;

/** Where something stands among what is drawn: the pane, and which child of which child. */
export interface DrawnItemPath {
  pane: PaneSide;
  path: number[];
}

export interface DrawnItem {
  node: VNode;
  at: DrawnItemPath;
  /** what its coordinates are counted from, in units of the pane */
  x: number;
  y: number;
}

type FoundKind = "cell" | "chip" | "gradPlace" | "name" | "node" | "edge";

/** What something is found as, by the attribute that says so. */
const KIND_BY_ATTRIBUTE: Record<string, FoundKind | undefined> = {
  "data-cell": "cell",
  "data-grad": "chip",
  "data-grad-of": "gradPlace",
  "data-name": "name",
  "data-node": "node",
  "data-edge": "edge",
};

/** Attributes by which something tells which entity it is drawn for. */
const ENTITY_ATTRIBUTES = ["data-handle", "data-storage-strip", "data-node", "data-from", "data-to", "data-object"];

/** What is laid out as one: a row, a node with its chips, an edge. */
interface Invocation extends DrawnItem {
  /** its keys from the pane on */
  identity: string;
  /** of the unit that it is in */
  parent: string | null;
  /** where it is moved to by itself */
  moved: Point | null;
}

export interface PaneContents {
  side: PaneSide;
  drawing: PaneDrawing;
  things: Record<FoundKind, DrawnItem[]>;
  units: Invocation[];
}

/** Finds what a pane shows. */
export function findPaneContents(side: PaneSide, drawing: PaneDrawing): PaneContents {
  const things: PaneContents["things"] = { cell: [], chip: [], gradPlace: [], name: [], node: [], edge: [] };
  const index: PaneContents = { side, drawing, things, units: [] };
  drawing.body.forEach((node, k) => addFound(index, { node, k, inside: null }, 0, 0, null));
  return index;
}

/** Which child of what: only of what is found an address is made. */
interface TreePosition {
  node: VNode;
  k: number;
  inside: TreePosition | null;
}

/** `unit` is the one that it is in. */
function addFound(index: PaneContents, place: TreePosition, x: number, y: number, unit: string | null) {
  const { node } = place;
  const { attrs, children } = node;
  const isUnit = !place.inside || attrs.transform !== undefined || attrs["data-row"] !== undefined;
  const identity = isUnit ? identityOf(place) : unit;
  if (isUnit) {
    const moved = attrs.transform ? parseTranslate(attrs.transform) : null;
    index.units.push({
      node,
      at: addressOf(index.side, place),
      x,
      y,
      identity: identity as string,
      parent: unit,
      moved,
    });
  }
  for (const attribute in attrs) {
    const kind = KIND_BY_ATTRIBUTE[attribute];
    if (kind) index.things[kind].push({ node, at: addressOf(index.side, place), x, y });
  }
  if (!children.length) return;
  const [dx, dy] = attrs.transform ? parseTranslate(attrs.transform) : [0, 0];
  children.forEach((child, k) => addFound(index, { node: child, k, inside: place }, x + dx, y + dy, identity));
}

function identityOf({ node, k, inside }: TreePosition): string {
  return `${inside ? identityOf(inside) : ""}/${node.tag} ${node.key ?? k}`;
}

function addressOf(pane: PaneSide, place: TreePosition): DrawnItemPath {
  const path: number[] = [];
  for (let at: TreePosition | null = place; at; at = at.inside) path.unshift(at.k);
  return { pane, path };
}

/** What has an attribute of this value, in all of a pane. */
export function findByAttribute({ side, drawing }: PaneContents, attribute: string, value: string): DrawnItem[] {
  const out: DrawnItem[] = [];
  const visit = (node: VNode, path: number[], x: number, y: number) => {
    if (node.attrs[attribute] === value) out.push({ node, at: { pane: side, path }, x, y });
    const [dx, dy] = node.attrs.transform ? parseTranslate(node.attrs.transform) : [0, 0];
    node.children.forEach((child, k) => visit(child, [...path, k], x + dx, y + dy));
  };
  drawing.body.forEach((node, k) => visit(node, [k], 0, 0));
  return out;
}

/** The entities that something is drawn for. */
export function entitiesIn(node: VNode, out = new Set<string>()): Set<string> {
  for (const attribute of ENTITY_ATTRIBUTES) if (node.attrs[attribute]) out.add(node.attrs[attribute]);
  for (const child of node.children) entitiesIn(child, out);
  return out;
}

/** The box around what is drawn, without its texts, in units of the pane. */
export function boxOf({ node, x, y }: Pick<DrawnItem, "node" | "x" | "y">): Rect | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const add = (px: number, py: number) => {
    [left, right] = [Math.min(left, px), Math.max(right, px)];
    [top, bottom] = [Math.min(top, py), Math.max(bottom, py)];
  };
  const visit = ({ tag, attrs, children }: VNode, ox: number, oy: number) => {
    const [dx, dy] = attrs.transform ? parseTranslate(attrs.transform) : [0, 0];
    const [cx, cy] = [ox + dx, oy + dy];
    if (tag === "rect") {
      const [rx, ry] = [cx + Number(attrs.x ?? 0), cy + Number(attrs.y ?? 0)];
      add(rx, ry);
      add(rx + Number(attrs.width), ry + Number(attrs.height));
    } else if (tag === "circle") {
      add(cx + Number(attrs.cx) - Number(attrs.r), cy + Number(attrs.cy) - Number(attrs.r));
      add(cx + Number(attrs.cx) + Number(attrs.r), cy + Number(attrs.cy) + Number(attrs.r));
    } else if (tag === "path") for (const [px, py] of pathPoints(attrs.d ?? "")) add(cx + px, cy + py);
    for (const child of children) visit(child, cx, cy);
  };
  visit(node, x, y);
  return left <= right ? { x: left, y: top, w: right - left, h: bottom - top } : null;
}

/** The middle of a box. */
export function middleOf({ x, y, w, h: height }: Rect): Point {
  return [x + w / 2, y + height / 2];
}

/** A copy that says nothing, and that nobody can reach. */
export function inertCopy(node: VNode): VNode {
  const attrs = Object.fromEntries(
    Object.entries(node.attrs).filter(([name]) => !/^(data-|aria-|role$|tabindex$)/.test(name)),
  );
  return { ...node, attrs, title: null, target: null, children: node.children.map(inertCopy) };
}

/** A silent copy where the original stands in its pane, moved by so much. */
export function inertCopyInPlace({ node, x, y }: Pick<DrawnItem, "node" | "x" | "y">, dx = 0, dy = 0): VNode {
  return h("g", { transform: `translate(${x + dx} ${y + dy})` }, inertCopy(node));
}
