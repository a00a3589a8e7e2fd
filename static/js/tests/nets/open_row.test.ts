/** The drawn list, where there is no browser: numbers within their cells, lanes, columns in which something stands. */

import assert from "node:assert/strict";
import test from "node:test";
import { assignLanes } from "../../nets/rail_lanes.ts";
import { openRowMarks } from "../../nets/open_row_marks.ts";
import type { VNode } from "../../browser/svg.ts";

const all = (node: VNode): VNode[] => [node, ...(node.children ?? []).flatMap(all)];

test("a number with an exponent has the room that it needs", () => {
  const cells = [-4e-10, 1.25, -8e-10, 3, 2, 1];
  const tensor = { uid: "t1", role: "made", name: "w", shape: [6], cells, summary: null, requiresGrad: false };
  const row = {
    read: [],
    made: [{ ...tensor, version: null, gradient: null }],
    nodes: [],
    invocation: { isStatement: true },
  };
  const room = { columns: { rail: 60, name: 90, norm: 640 }, width: 900, height: 120, isNarrow: false };
  const texts = all(openRowMarks(row as any, room, String as any)).filter(({ attrs }) => attrs.class === "net-value");
  const centers = texts.map(({ attrs }) => Number(attrs.x));
  const longest = Math.max(...texts.map(({ text }) => String(text).length));
  assert.ok(texts.length > 2);
  for (const [k, x] of centers.slice(1).entries()) assert.ok(x - centers[k] >= longest * 7.2, `${x - centers[k]}`);
});

test("ways that skip rows have lanes of their own, and those that share the last are a bundle", () => {
  const rows = Array.from({ length: 12 }, (_, k) => ({ y: k * 20 }));
  const rails = [6, 7, 8, 9, 10, 11].map((to) => ({ from: rows[0], to: rows[to], lane: 0, isBundled: false }));
  assignLanes(rows, rails);
  assert.deepEqual(
    rails.map(({ lane }) => lane),
    [1, 2, 3, 4, 4, 4],
  );
  assert.deepEqual(
    rails.map(({ isBundled }) => isBundled),
    [false, false, false, true, true, true],
  );
});
