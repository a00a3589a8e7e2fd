/**
 * Edges of the graph pane as paths. Each begins at the edge of the input's box, a node's or a leaf's, and ends at the
 * edge of the reader's: forward runs along the path, gradients against it.
 * A graph without branches has its edges from the bottom of one box to the top of the next; one with rails goes out of
 * the left side of the input's box to its rail, down, and into the left side of the reader's.
 */

import { graphRailX, parallelEdgeSpacing, type GraphColumn } from "./graph_sizes.ts";
import { leafEdgeOffset } from "./attached_leaves.ts";
import { edgeIndexBetween } from "./graph_gradients.ts";
import { inputEdgeKey, type EdgeRail } from "./rails.ts";
import type { GraphStep } from "./graph_step.ts";
import type { Rect } from "../pane.ts";
import type { NodePlace } from "./graph_places.ts";
import type { GraphComponent } from "./graph_parts.ts";

export interface EdgePlace {
  /** `reader:k`. */
  key: string;
  /** the reader */
  from: string;
  /** its input */
  to: string;
  d: string;
  top: number;
  bottom: number;
  /** whether this step brings a gradient along it, or an earlier one did */
  flow: "" | "flow" | "flowed";
  /** its tip, where a gradient came through */
  arrow: { x: number; y: number; up: boolean } | null;
  /** backward is over and let go of what its graph saved */
  past: boolean;
  /** the outer one of its ends */
  lane: number;
}

/** Between two edges of the same nodes on one rail. */
const RAIL_EDGE_SPACING = 3;

/** the box that stands for a node */
type BoxOf = (uid: string) => Rect | undefined;

/** The edges between the lines of a graph. */
export function edgesBetweenNodes(
  graphStep: GraphStep,
  component: GraphComponent,
  column: GraphColumn,
  boxOf: BoxOf,
): EdgePlace[] {
  const out: EdgePlace[] = [];
  for (const block of graphStep.livingBlocks.get(component.key) ?? []) {
    const node = graphStep.node(block.uid);
    const reader = boxOf(block.uid);
    for (const input of block.inputs) {
      const box = boxOf(input.to);
      const parallel = block.inputs.filter(({ to }) => to === input.to);
      const rail = component.rails.edges.get(inputEdgeKey(block.uid, parallel[0]));
      if (!reader || !box || !rail || box === reader || node?.next?.[input.k]?.[0] !== input.to) continue;
      const lane = graphStep.model.blocks.get(input.to)?.lane ?? 0;
      const beside = parallel.indexOf(input) * (column.railed ? RAIL_EDGE_SPACING : parallelEdgeSpacing(column.sizes));
      const start = { box, x: graphRailX(column, lane) + beside };
      const end = { box: reader, x: graphRailX(column, block.lane) + beside };
      const cy = box.y + box.h / 2;
      const arrow = { x: start.x, y: column.railed ? cy + 5 : box.y + box.h + 1, up: true };
      const d = column.railed
        ? railEdgePath(start, end, rail, graphRailX(column, rail.lane) + beside)
        : straightEdgePath(start, end);
      const edge = makeEdgePlace(
        graphStep,
        component,
        { reader: block.uid, ...input },
        d,
        [cy, reader.y + reader.h],
        arrow,
      );
      out.push({ ...edge, lane: Math.max(lane, block.lane) });
    }
  }
  return out;
}

/** a box, and the middle of its node's rail */
interface RailEnd {
  box: Rect;
  x: number;
}

function straightEdgePath(start: RailEnd, end: RailEnd) {
  return `M${start.x} ${start.box.y + start.box.h}V${end.box.y}`;
}

/** `x` is that of the lane it goes down. */
function railEdgePath(start: RailEnd, end: RailEnd, rail: EdgeRail, x: number) {
  const from = start.box.y + start.box.h / 2;
  const to = end.box.y + end.box.h / 2;
  const bend = Math.min(18, (to - from) * 0.4);
  const curveBetween = (a: number, b: number, y: number) =>
    a === b ? "" : `C${a} ${y + bend * 0.7} ${b} ${y + bend * 0.3} ${b} ${y + bend}`;
  const firstCurve = rail.kind === "branch" || rail.kind === "skip" ? curveBetween(start.x, x, from) : "";
  const lastCurve =
    rail.kind === "join" || rail.kind === "skip" ? `V${to - bend}${curveBetween(x, end.x, to - bend)}` : "";
  return `M${start.box.x} ${from}H${start.x}${firstCurve}${lastCurve}V${to}H${end.box.x}`;
}

/** Edges between a node and its leaves. */
export function edgesToAttachedLeaves(graphStep: GraphStep, row: NodePlace, column: GraphColumn): EdgePlace[] {
  return row.docks.flatMap((place) => {
    const chain = [
      ...place.shapings.map(({ uid, x, w }) => ({ uid, x, w })),
      { uid: place.leaf, x: place.x, w: place.w },
    ];
    const readerEdges = place.dock.ks.map((k, n) => {
      const d = attachedLeafEdgePath(row, {
        x: chain[0].x,
        cy: place.cy,
        down: row.x + leafEdgeOffset(column) - n * 5,
      });
      const arrow = { x: chain[0].x - 1, y: place.cy, up: false };
      const edge = { reader: row.uid, k, to: chain[0].uid };
      return makeEdgePlace(graphStep, row.block.component, edge, d, [place.cy, row.y + row.h], arrow);
    });
    const shapingEdges = chain.slice(1).map(({ uid, x }, n) => {
      const { uid: reader, x: from, w } = chain[n];
      const arrow = { x: x - 1, y: place.cy, up: false };
      const edge = { reader, k: edgeIndexBetween(graphStep, reader, uid), to: uid };
      return makeEdgePlace(
        graphStep,
        row.block.component,
        edge,
        `M${x} ${place.cy}H${from + w}`,
        [place.cy, place.cy],
        arrow,
      );
    });
    return [...readerEdges, ...shapingEdges];
  });
}

/**
 * From a leaf to the left and down to the top of its reader. `x` and `cy` are the leaf's left and middle; the line goes
 * down at `down`.
 */
function attachedLeafEdgePath(row: NodePlace, { x, cy, down }: { x: number; cy: number; down: number }) {
  return `M${x} ${cy}H${down + 5}A5 5 0 0 0 ${down} ${cy + 5}V${row.y}`;
}

function makeEdgePlace(
  graphStep: GraphStep,
  component: GraphComponent,
  { reader, k, to }: { reader: string; k: number; to: string },
  d: string,
  [top, bottom]: [number, number],
  arrow: EdgePlace["arrow"],
): EdgePlace {
  const isPast = graphStep.releasedComponents.has(component);
  const carriedGrad = graphStep.latestVisit(reader, component)?.grad_inputs[k];
  const flow = !carriedGrad ? "" : graphStep.visitOrder(reader, component)?.step === graphStep.i ? "flow" : "flowed";
  return {
    key: `${reader}:${k}`,
    from: reader,
    to,
    d,
    top,
    bottom,
    flow,
    arrow: carriedGrad ? arrow : null,
    past: isPast,
    lane: 0,
  };
}
