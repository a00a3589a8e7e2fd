/** The loom's graph: lanes for the nodes, and the way of every edge. */

import { truncateText } from "../../trace/format.ts";
import { unqualifiedNodeName } from "../text/node_labels.ts";
import {
  BOLD_WIDTH_FACTOR,
  MAX_GRAPH_WIDTH_SHARE,
  MIN_LANE_SPACING,
  MAX_LANES_WIDTH,
  MAX_LANES_WIDTH_STACKED,
  LOOM_NODE_HEIGHT,
  LOOM_SLOT_HEIGHT,
} from "./loom_sizes.ts";
import { LaneAllocator } from "../packing.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../text/metrics.ts";
import type { NodeFacts } from "../../trace/trace_index.ts";
import type { LoomRows } from "./run_row.ts";
import type { LoomPlan, NodeDot } from "./loom_plan.ts";

/** `Addmm` for `AddmmBackward0`. */
export function shortNodeName(name: string) {
  return unqualifiedNodeName(name)
    .replace("+= ", "")
    .replace(/Backward\d*$/, "")
    .replace("AccumulateGrad", "+=");
}

/** `isInline`: the node's slots stand in its line. */
export function addNodeDot(plan: LoomPlan, node: NodeFacts, y: number, r: number, isInline: boolean): NodeDot {
  const slots = new Map(
    node.slots.map((slot, k) => [
      slot,
      isInline ? y : y + LOOM_NODE_HEIGHT / 2 + k * LOOM_SLOT_HEIGHT + LOOM_SLOT_HEIGHT / 2,
    ]),
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
    fold: [] as string[],
  };
  plan.dots.set(node.uid, dot);
  return dot;
}

/** AccumulateGrad stands in its leaf's row: one place for all that ever lead there. */
export function addLeafDot(plan: LoomPlan, node: NodeFacts, r: number, rowDots: NodeDot[]): boolean {
  const leafRow = plan.handleRows.get(node.variable ?? "");
  if (!leafRow) return false;
  const dot = addNodeDot(plan, node, leafRow.cy, leafRow.row, false);
  dot.label = `${dot.label} ${leafRow.name}`.trim();
  dot.group = `leaf ${node.variable} ${leafRow.row}`;
  (leafRow.row === r ? rowDots : plan.rowDots[leafRow.row]).push(dot);
  return true;
}

/** About the width that the graph needs, at most its share of the room. */
export function estimateLoomGraphWidth(runRows: LoomRows, maxWidth: number, stacked: boolean) {
  if (!runRows.nodes.size) return 16;
  const lanes = new LaneAllocator();
  const order = [...runRows.nodes.keys()];
  const rank = new Map(order.map((uid, k) => [uid, k]));
  const last = new Map(rank);
  for (const [uid, node] of runRows.nodes)
    for (const edge of node.next) if (edge && rank.has(edge[0])) last.set(edge[0], rank.get(uid) ?? 0);
  let nameWidth = 0;
  for (const [k, uid] of order.entries()) {
    const node = runRows.nodes.get(uid) as NodeFacts;
    lanes.allocateLane(k, Math.max(k, last.get(uid) ?? k));
    nameWidth = Math.max(nameWidth, textWidth(shortNodeName(node.name), 11.5) * BOLD_WIDTH_FACTOR + 90);
    for (const slot of node.slots) nameWidth = Math.max(nameWidth, textWidth(`${slot} = name @ v0`, 10.5));
  }
  const pitch = laneSpacing(lanes.laneCount, stacked);
  return Math.min(
    maxWidth * MAX_GRAPH_WIDTH_SHARE,
    12 + Math.min(lanes.laneCount * pitch, stacked ? MAX_LANES_WIDTH_STACKED : MAX_LANES_WIDTH) + nameWidth + 20,
  );
}

function laneSpacing(count: number, stacked: boolean) {
  return Math.max(
    MIN_LANE_SPACING,
    Math.min(
      stacked ? 11 : count > 6 ? 13 : 17,
      (stacked ? MAX_LANES_WIDTH_STACKED : MAX_LANES_WIDTH) / Math.max(1, count),
    ),
  );
}

/** Lanes for the nodes, the way of every edge. `maxWidth` bounds the width of it all; null where nothing does. */
export function layoutLoomGraph(plan: LoomPlan, maxWidth: number | null) {
  const lanes = new LaneAllocator();
  const { dots, run } = plan;
  const lowestReader = new Map<string, number>();
  for (const [uid, node] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      for (const edge of node.next) {
        const to = edge && dots.get(edge[0]);
        if (to) lowestReader.set(to.group, Math.max(lowestReader.get(to.group) ?? 0, from.y));
      }
  }
  const laneOfGroup = new Map<string, number>();
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
  const pitch = laneSpacing(lanes.laneCount, plan.stacked);
  const lanesWidth = Math.min(lanes.laneCount * pitch, plan.stacked ? MAX_LANES_WIDTH_STACKED : MAX_LANES_WIDTH);
  for (const dot of dots.values())
    dot.x = plan.graph.x + 12 + Math.min((laneOfGroup.get(dot.group) ?? 0) * pitch, lanesWidth - pitch);
  plan.graph.names = Math.ceil(plan.graph.x + 12 + lanesWidth + 4);
  let widest = 0;
  for (const dot of dots.values())
    widest = Math.max(
      widest,
      nodeLabelWidth(plan, dot),
      ...(dot.inline ? [] : [...dot.slots.keys()].map((slot) => slotLabelWidth(plan, dot, slot))),
    );
  plan.graph.w = dots.size ? Math.ceil(plan.graph.names - plan.graph.x + widest + 14) : 16;
  if (maxWidth !== null) plan.graph.w = Math.max(16, Math.min(plan.graph.w, maxWidth - plan.graph.x));
  plan.width = plan.graph.x + plan.graph.w;
  plan.graph.chars = Math.max(
    4,
    Math.floor((plan.width - plan.graph.names - 10) / (11.5 * CHARACTER_WIDTH_EM * BOLD_WIDTH_FACTOR)),
  );
  const trunks = new Set<string>();
  for (const [uid, node] of run.nodes) {
    const from = dots.get(uid);
    if (from)
      node.next.forEach((edge, k) => {
        const to = edge && dots.get(edge[0]);
        if (!to || to.group === from.group) return;
        plan.edges.push({
          key: `${uid}:${k}`,
          from: uid,
          x0: from.x,
          y0: from.y,
          x1: to.x,
          y1: to.y,
        });
        if (trunks.has(to.group)) return;
        trunks.add(to.group);
        plan.trunks.push({ x: to.x, y0: to.y, y1: lowestReader.get(to.group) ?? to.y });
      });
  }
}

/** How wide a node is written, with the gradient that reaches it. */
function nodeLabelWidth(plan: LoomPlan, dot: NodeDot) {
  if (dot.fold.length) return 150;
  const chips = plan.stacked ? [] : (plan.run.visits.get(dot.uid) ?? []).map((k) => plan.run.gradWidths.get(k) ?? 0);
  return (
    textWidth(truncateText(dot.label, plan.stacked ? 15 : 30), 11.5) * BOLD_WIDTH_FACTOR + 14 + Math.max(0, ...chips)
  );
}

function slotLabelWidth(plan: LoomPlan, dot: NodeDot, slot: string) {
  const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
  const text = pin && !plan.stacked ? `${slot} = ${plan.run.storageNames.get(pin.storage) ?? pin.storage} @ v0` : slot;
  const suffixWidth = pin?.broken !== null && pin ? 66 : pin?.silent !== null && pin ? 92 : plan.stacked ? 0 : 58;
  return textWidth(text, 10.5) + 12 + suffixWidth;
}
