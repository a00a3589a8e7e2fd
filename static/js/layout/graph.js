/** The graph side of the plan: columns by depth, rows near the handles they made, edges on tracks of their own. */

import { push } from "../multimap.js";
import { folded, frontier } from "./fold.js";
import { Packer } from "./packing.js";
import { textWidth } from "./metrics.js";

/**
 * @typedef {{uid: string, col: number, x: number, y: number, w: number, h: number, cy: number, birth: number,
 *   death: number, slots: Map<string, number>, ports: number[]}} Box
 * @typedef {{key: string, from: string, to: string, points: [number, number][]}} Edge
 * @typedef {import("./fold.js").Fold} Fold
 * @typedef {{fold: Fold, x: number, y: number, w: number, h: number}} Rim   around the parts of an opened fold
 * @typedef {{boxes: Map<string, Box>, edges: Map<string, Edge>, x: number, width: number, height: number,
 *   leaders: Map<string, [number, number][]>, cards: Fold[], rims: Rim[], inside: Map<string, Fold[]>,
 *   carries: Map<string, string>}} Graph
 *   inside: the closed folds that a node is in; carries: by a node's edge, the fold's edge that stands for it
 */

/** Room above the boxes for the title of an opened fold. */
const RIM = 20;
/** The most height that a fold's edges spread over. */
const FANNED = 90;

/**
 * @param {import("./lifetimes.js").Lifetimes} given
 * @param {import("./metrics.js").Metrics} M
 * @param {(node: import("./lifetimes.js").NodeLifetime) => number | null} wish the height a node should stand at
 * @param {{x: number, pins: Map<string, {x: number, y: number}>}} from
 * @param {import("./fold.js").Frontier} [front] which folds are closed
 * @returns {Graph}
 */
export function graphLayout(given, M, wish, from, front = frontier([], () => true)) {
  const { cards, rims } = front;
  const { nodes: shown, inside, carries } = folded(given, front);
  const lives = { ...given, nodes: shown };
  const head = M.head + 10 + rimDepth(rims) * RIM;
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  const order = [...lives.nodes.values()].sort(
    (a, b) => a.birth - b.birth || parseInt(a.uid.slice(1), 10) - parseInt(b.uid.slice(1), 10),
  );
  const cols = nodeColumns(lives);
  /** @type {Packer[]} */
  const taken = [];
  /** @type {number[]} */
  const widths = [];
  const nodes = order.sort((a, b) => (cols.get(a.uid) ?? 0) - (cols.get(b.uid) ?? 0) || a.birth - b.birth);
  for (const node of nodes) {
    const col = cols.get(node.uid) ?? 0;
    const w = nodeWidth(node, M);
    const live = node.next.filter(Boolean).length;
    const step = Math.min(lives.chips ? 22 : 11, node.fold ? FANNED / Math.max(1, live - 1) : Infinity);
    const lines = node.fold ? 1 : node.slots.length;
    const h = Math.max(M.nodeH + lines * M.slotH + (lines ? 4 : 0), (live - 1) * step + 16);
    const inputs = node.next.flatMap((e) => (e && boxes.has(e[0]) ? [/** @type {Box} */ (boxes.get(e[0])).cy] : []));
    const near = wish(node) ?? (inputs.length ? Math.max(...inputs) : head + M.nodeH / 2);
    taken[col] ??= new Packer();
    const top = head;
    const y =
      taken[col].allocateNear(node.birth, node.death, h + 24, Math.max(top, near - M.nodeH / 2) - 12, top - 12) + 12;
    const slots = new Map(node.slots.map((s, i) => [s, y + M.nodeH + i * M.slotH]));
    const first = (live - 1) * step > M.nodeH ? y + 8 : y + M.nodeH / 2 - ((live - 1) * step) / 2;
    // Ports stand in the order of the heights they lead to, so that edges into one node do not cross.
    const heights = node.next
      .flatMap((e, i) => (e ? [{ i, at: boxes.get(e[0])?.cy ?? 0 }] : []))
      .sort((a, b) => a.at - b.at || a.i - b.i);
    const ports = node.next.map(
      (_, i) =>
        first +
        Math.max(
          0,
          heights.findIndex((x) => x.i === i),
        ) *
          step,
    );
    widths[col] = Math.max(widths[col] ?? 0, w);
    boxes.set(node.uid, {
      uid: node.uid,
      col,
      x: 0,
      y,
      w,
      h,
      cy: y + M.nodeH / 2,
      birth: node.birth,
      death: node.death,
      slots,
      ports,
    });
  }
  /** @type {number[]} */
  const chips = [];
  for (const node of nodes) {
    const gap = (cols.get(node.uid) ?? 0) - 1;
    if (gap >= 0 && node.chip) chips[gap] = Math.max(chips[gap] ?? 0, node.chip + 12);
  }
  const router = new Router(boxes);
  /** @type {{key: string, from: Box, to: Box, way: Route}[]} */
  const drafts = [];
  for (const node of nodes) {
    const box = /** @type {Box} */ (boxes.get(node.uid));
    node.next.forEach((edge, i) => {
      const to = edge && boxes.get(edge[0]);
      if (!edge || !to || to.col >= box.col) return;
      drafts.push({ key: `${node.uid}:${i}`, from: box, to, way: router.route(to, to.cy, box, box.ports[i]) });
    });
  }
  const pins = [...lives.index.pins].flatMap(([key, pin]) => {
    const [fold] = inside.get(pin.node) ?? [];
    const box = boxes.get(fold?.uid ?? pin.node);
    const at = from.pins.get(key);
    const y = fold && box ? box.y + M.nodeH : box?.slots.get(pin.slot);
    if (!pin.broken || !box || !at || y === undefined) return [];
    const source = { uid: `pin ${key}`, col: -1, y: at.y, h: 0, birth: pin.birth, death: pin.death };
    return [{ key, at, box, y: y + M.slotH / 2 - 1, way: router.route(source, at.y, box, y + M.slotH / 2 - 1) }];
  });

  let x = from.x + 30 + router.tracks(-1) * 7;
  const lefts = widths.map((w, col) => {
    const left = x;
    x += w + Math.max(50, 18 + router.tracks(col) * 9 + (chips[col] ?? 0));
    return left;
  });
  for (const box of boxes.values()) box.x = lefts[box.col];
  const channel = (/** @type {number} */ col, /** @type {number} */ track) =>
    col < 0 ? from.x + 12 + track * 7 : lefts[col] + widths[col] + 16 + track * 9;
  /** @type {Map<string, Edge>} */
  const edges = new Map();
  for (const { key, from: a, to, way } of drafts)
    edges.set(key, { key, from: a.uid, to: to.uid, points: bendPoints(to.x + to.w, to.cy, way, channel, a.x) });
  /** @type {Map<string, [number, number][]>} */
  const leaders = new Map();
  for (const { key, at, box, way } of pins) leaders.set(key, bendPoints(at.x + 34, at.y, way, channel, box.x + 6));
  let height = 0;
  for (const box of boxes.values()) height = Math.max(height, box.y + box.h + 24);
  return {
    boxes,
    edges,
    x: from.x,
    width: boxes.size ? x - from.x - 20 + lives.chips : 0,
    height,
    leaders,
    cards,
    inside,
    carries,
    rims: foldRims(rims, boxes, inside),
  };
}

/** @param {import("./lifetimes.js").NodeLifetime} node @param {import("./metrics.js").Metrics} M */
function nodeWidth(node, M) {
  const slots = node.slots.length ? Math.min(node.slotW + 30, 230) : 0;
  return Math.max(64, textWidth(nodeLabel(node.name), M.font) + (node.fold ? 36 : 26), slots, node.fold ? 150 : 0);
}

/** About how wide the graph is with these folds closed. @param {import("./lifetimes.js").Lifetimes} lives
 * @param {import("./metrics.js").Metrics} M @param {import("./fold.js").Frontier} front */
export function graphWidth(lives, M, front) {
  const { nodes } = folded(lives, front);
  const cols = nodeColumns({ ...lives, nodes });
  /** @type {number[]} */
  const widths = [];
  for (const [uid, col] of cols) {
    const node = /** @type {import("./lifetimes.js").NodeLifetime} */ (nodes.get(uid));
    widths[col] = Math.max(widths[col] ?? 0, nodeWidth(node, M) + Math.max(50, col && node.chip ? node.chip + 39 : 0));
  }
  return widths.reduce((sum, w) => sum + w, 10 + lives.chips);
}

/** How deep opened folds lie in each other. @param {Fold[]} rims */
function rimDepth(rims) {
  const depth = (/** @type {Fold} */ rim) => rims.filter((other) => contains(other, rim)).length;
  return Math.max(0, ...rims.map(depth));
}

/** @param {Fold} outer @param {Fold} inner */
function contains(outer, inner) {
  return outer.members.length >= inner.members.length && outer.members.includes(inner.members[0]);
}

/** @param {Fold[]} rims @param {Map<string, Box>} boxes @param {Map<string, Fold[]>} inside @returns {Rim[]} */
function foldRims(rims, boxes, inside) {
  return rims.flatMap((fold) => {
    const uids = fold.members.map((uid) => inside.get(uid)?.find((node) => node.graph === fold.graph)?.uid ?? uid);
    const own = [...new Set(uids)].flatMap((uid) => boxes.get(uid) ?? []);
    if (own.length < 2) return [];
    const pad = 8;
    const x = Math.min(...own.map((box) => box.x)) - pad;
    const y =
      Math.min(...own.map((box) => box.y)) -
      18 -
      RIM * rimDepth(rims.filter((other) => other !== fold && contains(fold, other)));
    return {
      fold,
      x,
      y,
      w: Math.max(...own.map((box) => box.x + box.w)) + pad - x,
      h: Math.max(...own.map((box) => box.y + box.h)) + pad - y,
    };
  });
}

/** What a node is called in a picture: `AddBackward0`, `+= AccumulateGrad`. @param {string} name torch's own */
export function nodeLabel(name) {
  const short = name.slice(name.lastIndexOf("::") + (name.includes("::") ? 2 : 1));
  return short === "AccumulateGrad" ? `+= ${short}` : short;
}

/** One more than the column of the furthest input, found without recursion. @param {import("./lifetimes.js").Lifetimes} lives */
function nodeColumns(lives) {
  /** @type {Map<string, number>} */
  const cols = new Map();
  for (const start of lives.nodes.keys()) {
    const stack = [start];
    const open = new Set();
    while (stack.length) {
      const uid = stack[stack.length - 1];
      const inputs = (lives.nodes.get(uid)?.next ?? []).flatMap((e) => (e && lives.nodes.has(e[0]) ? [e[0]] : []));
      const todo = cols.has(uid) ? [] : inputs.filter((i) => !cols.has(i) && !open.has(i));
      open.add(uid);
      if (todo.length) {
        stack.push(...todo);
        continue;
      }
      stack.pop();
      if (!cols.has(uid)) cols.set(uid, inputs.length ? 1 + Math.max(...inputs.map((i) => cols.get(i) ?? 0)) : 0);
    }
  }
  return cols;
}

/**
 * @typedef {{lane: number, first: [number, number] | null, last: [number, number] | null, y: number}} Route
 *   first and last: [gap, track] of the upright parts
 * @typedef {{uid: string, col: number, y: number, h: number, birth: number, death: number}} End
 */

/** Finds ways that cross no box and lie on no other way. */
class Router {
  /** @param {Map<string, Box>} boxes */
  constructor(boxes) {
    /** @type {Box[][]} */
    this.cols = [];
    for (const box of boxes.values()) (this.cols[box.col] ??= []).push(box);
    /** @type {Map<number, {key: string, low: number, high: number, birth: number, death: number, track: number}[]>} */
    this.gaps = new Map();
    /** @type {Map<number, {key: string, y: number, birth: number, death: number}[]>} */
    this.lanes = new Map();
  }

  /** @param {number} gap */
  tracks(gap) {
    return 1 + Math.max(0, ...(this.gaps.get(gap) ?? []).map((t) => t.track));
  }

  /** From the right of `a` at y0 to the left of `b` at y1. @param {End} a @param {number} y0 @param {Box} b
   * @param {number} y1 @returns {Route} */
  route(a, y0, b, y1) {
    const life = { birth: Math.max(a.birth, b.birth), death: Math.min(a.death, b.death) };
    const key = a.uid;
    const lane = b.col - a.col <= 1 ? y1 : this.lane(a, y0, b, y1, life);
    for (let col = a.col + 1; col < b.col; col++) push(this.lanes, col, { key, y: lane, ...life });
    const near = Math.abs(lane - y0) < 0.5 ? null : this.track(a.col, key, y0, lane, life);
    const far = Math.abs(lane - y1) < 0.5 ? null : this.track(b.col - 1, key, lane, y1, life);
    return { lane, first: near, last: far, y: y1 };
  }

  /** @param {End} a @param {number} y0 @param {Box} b @param {number} y1 @param {{birth: number, death: number}} life */
  lane(a, y0, b, y1, life) {
    const tries = [y0, y1];
    for (let k = 1; k <= 60; k++) tries.push(y0 + k * 8, y0 - k * 8, y1 + k * 8, y1 - k * 8);
    const clear = (/** @type {number} */ y) => {
      if (y < 40) return false;
      for (let col = a.col + 1; col < b.col; col++) {
        for (const box of this.cols[col] ?? [])
          if (overlap(box, life) && y > box.y - 8 && y < box.y + box.h + 8) return false;
        for (const other of this.lanes.get(col) ?? [])
          if (other.key !== a.uid && overlap(other, life) && Math.abs(other.y - y) < 6) return false;
      }
      return true;
    };
    return tries.find(clear) ?? y0;
  }

  /** @param {number} gap @param {string} key @param {number} y0 @param {number} y1
   * @param {{birth: number, death: number}} life @returns {[number, number]} */
  track(gap, key, y0, y1, life) {
    const low = Math.min(y0, y1) - 4;
    const high = Math.max(y0, y1) + 4;
    const others = this.gaps.get(gap) ?? [];
    const busy = new Set();
    for (const t of others) if (t.key !== key && overlap(t, life) && t.low < high && t.high > low) busy.add(t.track);
    let track = 0;
    while (busy.has(track)) track++;
    push(this.gaps, gap, { key, low, high, ...life, track });
    return [gap, track];
  }
}

/** @param {{birth: number, death: number}} a @param {{birth: number, death: number}} b */
function overlap(a, b) {
  return a.birth <= b.death && b.birth <= a.death;
}

/** @param {number} x0 @param {number} y0 @param {Route} way @param {(gap: number, track: number) => number} channel
 * @param {number} x1 @returns {[number, number][]} */
function bendPoints(x0, y0, way, channel, x1) {
  /** @type {[number, number][]} */
  const points = [[x0, y0]];
  for (const [part, y] of /** @type {[[number, number] | null, number][]} */ ([
    [way.first, way.lane],
    [way.last, way.y],
  ])) {
    if (!part) continue;
    const x = channel(part[0], part[1]);
    points.push([x, points[points.length - 1][1]], [x, y]);
  }
  points.push([x1, way.y]);
  return points;
}
