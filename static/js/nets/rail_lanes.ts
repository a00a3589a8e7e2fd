/** What stands around the rows of a list: lanes for the rails that skip rows, frames around what a module has in it. */

import type { CallSite } from "./net_call_sites.ts";
import type { NetRow } from "./net_rows.ts";
import type { OpenTrace } from "../trace/state.ts";

/** More than these are one bundle. */
const MAX_LANE = 4;

export interface Rail<Row> {
  from: Row;
  to: Row;
  /** from the left of the dots, 1 the nearest; 0 for neighbours */
  lane: number;
  /** others run in its lane, beside it */
  isBundled: boolean;
}

/** The short ones near the dots; the longest share the outermost. `rows` are those with a dot, in order. */
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

/** Whether an addition joins the ways that arrive at a call site. */
export function isJoinedByAddition({ index }: OpenTrace, { inner, invocations }: CallSite): boolean {
  const names = inner.length ? [] : invocations[0].nodes.map((uid) => index.nodes.get(uid)?.name ?? "");
  return names.some((name) => /^(torch::autograd::)?(Add|Sub)Backward/.test(name));
}

export interface Frame {
  callSite: CallSite;
  depth: number;
  y: number;
  h: number;
}

/** `bottomOf`: where a row ends. */
export function moduleFramesAround<Row extends NetRow & { y: number }>(
  rows: Row[],
  bottomOf: (row: Row) => number,
): Frame[] {
  return rows.flatMap((head, k) => {
    if (head.kind !== "head") return [];
    let last = head;
    for (let n = k + 1; n < rows.length && rows[n].within.includes(head.callSites[0]); n++) last = rows[n];
    return [{ callSite: head.callSites[0], depth: head.depth, y: head.y, h: bottomOf(last) - head.y }];
  });
}

/** The row at which a call site's nodes are: its own, or that of the closed call site around it. */
export function rowsByCallSite<Row extends NetRow>(rows: Row[]): Map<CallSite, Row> {
  const found = new Map<CallSite, Row>();
  const add = (callSite: CallSite, row: Row) => {
    found.set(callSite, row);
    for (const inner of callSite.inner) add(inner, row);
  };
  for (const row of rows) if (row.kind !== "head") for (const callSite of row.callSites) add(callSite, row);
  return found;
}
