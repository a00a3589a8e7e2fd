/** The loom's graph: lanes for the nodes, and the way of every edge. */

import { Lanes } from "./lanes.js";
import { unqualifiedNodeName } from "./node_labels.js";
import { BOLD, GRAPH_SHARE, LANE, LANES, LANES_STACKED, NODE_HEIGHT, SLOT_HEIGHT } from "./loom_sizes.js";
import { EM, textWidth, truncate } from "./metrics.js";

/** @typedef {import("./loom.js").Dot} Dot */
/** @typedef {import("./loom.js").Loom} Loom */

/** `Addmm` for `AddmmBackward0`. @param {string} name */
export function shortNodeName(name) {
  return unqualifiedNodeName(name)
    .replace("+= ", "")
    .replace(/Backward\d*$/, "")
    .replace("AccumulateGrad", "+=");
}

/** @param {Loom} plan @param {import("./run_rows.js").GraphNode} node @param {number} y @param {number} r
 * @param {boolean} isInline whether its slots stand in its line @returns {Dot} */
export function addNodeDot(plan, node, y, r, isInline) {
  const slots = new Map(
    node.slots.map((slot, k) => [slot, isInline ? y : y + NODE_HEIGHT / 2 + k * SLOT_HEIGHT + SLOT_HEIGHT / 2]),
  );
  const name = unqualifiedNodeName(node.name).replace("+= ", "");
  const dot = {
    uid: node.uid,
    name: node.name,
    leaf: Boolean(node.variable),
    group: node.uid,
    x: 0,
    y,
    slots,
    row: r,
    label: plan.graph.short ? shortNodeName(node.name) : name,
    inline: isInline,
    /** @type {string[]} */
    fold: [],
  };
  plan.dots.set(node.uid, dot);
  return dot;
}

/** AccumulateGrad stands in its leaf's row: one place for all that ever lead there.
 * @param {Loom} plan @param {import("./run_rows.js").GraphNode} node @param {number} r @param {Dot[]} rowDots @returns {boolean} */
export function addLeafDot(plan, node, r, rowDots) {
  const leafRow = plan.handleRows.get(node.variable ?? "");
  if (!leafRow) return false;
  const dot = addNodeDot(plan, node, leafRow.cy, leafRow.row, false);
  dot.label = `${dot.label} ${leafRow.name}`.trim();
  dot.group = `leaf ${node.variable} ${leafRow.row}`;
  (leafRow.row === r ? rowDots : plan.rowDots[leafRow.row]).push(dot);
  return true;
}

/** About the width that the graph needs, at most its share of the room. @param {import("./run_rows.js").RunRows} runRows
 * @param {number} maxWidth @param {boolean} stacked */
export function graphWidthEstimate(runRows, maxWidth, stacked) {
  if (!runRows.nodes.size) return 16;
  const lanes = new Lanes();
  const order = [...runRows.nodes.keys()];
  const rank = new Map(order.map((uid, k) => [uid, k]));
  const last = new Map(rank);
  for (const [uid, node] of runRows.nodes)
    for (const edge of node.next) if (edge && rank.has(edge[0])) last.set(edge[0], rank.get(uid) ?? 0);
  let nameWidth = 0;
  for (const [k, uid] of order.entries()) {
    const node = /** @type {import("./run_rows.js").GraphNode} */ (runRows.nodes.get(uid));
    lanes.allocateLane(k, Math.max(k, last.get(uid) ?? k));
    nameWidth = Math.max(nameWidth, textWidth(shortNodeName(node.name), 11.5) * BOLD + 90);
    for (const slot of node.slots) nameWidth = Math.max(nameWidth, textWidth(`${slot} = name @ v0`, 10.5));
  }
  const pitch = lanePitch(lanes.count, stacked);
  return Math.min(
    maxWidth * GRAPH_SHARE,
    12 + Math.min(lanes.count * pitch, stacked ? LANES_STACKED : LANES) + nameWidth + 20,
  );
}

/** @param {number} count @param {boolean} stacked */
function lanePitch(count, stacked) {
  return Math.max(
    LANE,
    Math.min(stacked ? 11 : count > 6 ? 13 : 17, (stacked ? LANES_STACKED : LANES) / Math.max(1, count)),
  );
}

/** Lanes for the nodes, the way of every edge. @param {Loom} plan @param {number | null} maxWidth the width of it all, where it
 * is bounded */
export function layoutGraph(plan, maxWidth) {
  const lanes = new Lanes();
  const { dots, run } = plan;
  /** @type {Map<string, number>} */
  const lowestReader = new Map();
  for (const [uid, node] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      for (const edge of node.next) {
        const to = edge && dots.get(edge[0]);
        if (to) lowestReader.set(to.group, Math.max(lowestReader.get(to.group) ?? 0, from.y));
      }
  }
  /** @type {Map<string, number>} */
  const laneOfGroup = new Map();
  for (const dot of [...dots.values()].sort((a, b) => a.y - b.y)) {
    const key = dot.group;
    if (laneOfGroup.has(key)) continue;
    const laneOfInput = (run.nodes.get(dot.uid)?.next ?? [])
      .flatMap((e) => {
        const to = e && dots.get(e[0]);
        return to && to.y < dot.y && lowestReader.get(to.group) === dot.y ? [laneOfGroup.get(to.group) ?? -1] : [];
      })
      .find((lane) => lane >= 0);
    laneOfGroup.set(key, lanes.allocateLane(dot.y, Math.max(dot.y, lowestReader.get(key) ?? 0), laneOfInput));
  }
  const pitch = lanePitch(lanes.count, plan.stacked);
  const lanesWidth = Math.min(lanes.count * pitch, plan.stacked ? LANES_STACKED : LANES);
  for (const dot of dots.values())
    dot.x = plan.graph.x + 12 + Math.min((laneOfGroup.get(dot.group) ?? 0) * pitch, lanesWidth - pitch);
  plan.graph.names = Math.ceil(plan.graph.x + 12 + lanesWidth + 4);
  let widest = 0;
  for (const dot of dots.values())
    widest = Math.max(
      widest,
      labelWidth(plan, dot),
      ...(dot.inline ? [] : [...dot.slots.keys()].map((slot) => slotWidth(plan, dot, slot))),
    );
  plan.graph.w = dots.size ? Math.ceil(plan.graph.names - plan.graph.x + widest + 14) : 16;
  if (maxWidth !== null) plan.graph.w = Math.max(16, Math.min(plan.graph.w, maxWidth - plan.graph.x));
  plan.width = plan.graph.x + plan.graph.w;
  plan.graph.chars = Math.max(4, Math.floor((plan.width - plan.graph.names - 10) / (11.5 * EM * BOLD)));
  /** @type {Set<string>} */
  const trunks = new Set();
  for (const [uid, node] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      node.next.forEach((edge, k) => {
        const to = edge && dots.get(edge[0]);
        if (!to || to.group === from.group) return;
        plan.edges.push({
          key: `${uid}:${k}`,
          from: uid,
          to: edge[0],
          x0: from.x,
          y0: from.y,
          x1: to.x,
          y1: to.y,
          row: from.row,
        });
        if (trunks.has(to.group)) return;
        trunks.add(to.group);
        plan.trunks.push({ x: to.x, y0: to.y, y1: lowestReader.get(to.group) ?? to.y });
      });
  }
}

/** How wide a node is written, with the gradient that reaches it. @param {Loom} plan @param {Dot} dot */
function labelWidth(plan, dot) {
  if (dot.fold.length) return 150;
  const chips = plan.stacked ? [] : (plan.run.visits.get(dot.uid) ?? []).map((k) => plan.run.gradWidths.get(k) ?? 0);
  return textWidth(truncate(dot.label, plan.stacked ? 15 : 30), 11.5) * BOLD + 14 + Math.max(0, ...chips);
}

/** @param {Loom} plan @param {Dot} dot @param {string} slot */
function slotWidth(plan, dot, slot) {
  const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
  const text = pin && !plan.stacked ? `${slot} = ${plan.run.storageNames.get(pin.storage) ?? pin.storage} @ v0` : slot;
  const suffixWidth = pin?.broken !== null && pin ? 66 : pin?.silent !== null && pin ? 92 : plan.stacked ? 0 : 58;
  return textWidth(text, 10.5) + 12 + suffixWidth;
}
