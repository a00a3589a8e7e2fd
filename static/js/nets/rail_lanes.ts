/** Rails that skip rows have a lane of their own, the short ones near the dots; the longest share the outermost. */

import type { NetPlace } from "./net_places.ts";
import type { OpenTrace } from "../trace/state.ts";

/** More than these are one bundle. */
const MAX_LANE = 4;

interface Rail<Row> {
  from: Row;
  to: Row;
  /** from the left of the dots, 1 the nearest; 0 for neighbours */
  lane: number;
  /** others run in its lane, beside it */
  isBundled: boolean;
}

/** `rows` are those with a dot, in order. */
export function assignLanes<Row extends { y: number }>(rows: Row[], rails: Rail<Row>[]) {
  const index = new Map(rows.map((row, k) => [row, k]));
  const spanOf = ({ from, to }: Rail<Row>) => [index.get(from) ?? 0, index.get(to) ?? 0].sort((a, b) => a - b);
  const lengthOf = (rail: Rail<Row>) => spanOf(rail)[1] - spanOf(rail)[0];
  const lanes: Rail<Row>[][] = Array.from({ length: MAX_LANE }, () => []);
  for (const rail of [...rails].sort((a, b) => lengthOf(a) - lengthOf(b))) {
    const [from, to] = spanOf(rail);
    if (to - from === 1 && rail.from.y < rail.to.y) continue;
    const beside = (lane: Rail<Row>[]) => lane.filter((other) => from < spanOf(other)[1] && spanOf(other)[0] < to);
    const free = lanes.findIndex((lane) => !beside(lane).length);
    const lane = lanes[free] ?? lanes[MAX_LANE - 1];
    for (const other of beside(lane)) other.isBundled = rail.isBundled = true;
    rail.lane = lanes.indexOf(lane) + 1;
    lane.push(rail);
  }
}

/** Whether an addition joins the ways that arrive at a place. */
export function joinsByAddition({ index }: OpenTrace, { inner, units }: NetPlace): boolean {
  const names = inner.length ? [] : units[0].nodes.map((uid) => index.nodes.get(uid)?.name ?? "");
  return names.some((name) => /^(torch::autograd::)?(Add|Sub)Backward/.test(name));
}
