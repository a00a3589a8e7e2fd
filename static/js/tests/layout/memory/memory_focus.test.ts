/** Beside the list of names: what a step touched, and below it what its operations used. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { buildMemoryModel, layoutMemoryPane } from "../../../layout/memory/memory_pane.ts";
import { openTrace } from "../../../trace/state.ts";
import { counter, frame, ref, storage, tensor, trace, vars } from "../../entities.ts";

const ROOM = { h: 700, w: 600 };
const OVERVIEW = { w: 290, top: 88 };

function focusAt(document: any, i: number, h = ROOM.h) {
  const opened = openTrace(document);
  const pane = layoutMemoryPane(buildMemoryModel(opened), i, { ...ROOM, h, overview: OVERVIEW });
  return pane.placed.filter(({ hidden }) => !hidden);
}

const matrix = (n: number) => ({
  [`s${n}`]: storage([1, 2, 3, 4]),
  [`c${n}`]: counter(),
  [`t${n}`]: tensor({ storage: `s${n}`, counter: `c${n}`, shape: [2, 2], stride: [2, 1] }),
});

/** `c = b @ a`; `other` is only there. */
function product() {
  const names = { a: ref("t1"), b: ref("t2"), other: ref("t4") };
  const mm = { kind: "op", name: "aten::mm", inputs: ["t2", "t1"], outputs: ["t3"], requires_grad: [false] };
  return trace("a, b, other = three()\nc = b @ a\n", [
    { set: { f1: frame(names), ...matrix(1), ...matrix(2), ...matrix(4) } },
    { log: [{ ...mm, grad_mode: true }], set: { f1: vars({ c: ref("t3") }), ...matrix(3) } },
  ]);
}

test("what the step's operations used stands below what it made, in the order of the names", () => {
  const shown = focusAt(product(), 1).map(({ item }) => (item.kind === "row" ? item.block.storage : item.kind));
  assert.deepEqual(shown, ["s3", "used", "s1", "s2"]);
});

test("where there is no room for it, the picture is that of what the step touched", () => {
  const shown = focusAt(product(), 1, 200).map(({ item }) => (item.kind === "row" ? item.block.storage : item.kind));
  assert.deepEqual(shown, ["s3"]);
});

test("of stored traces, what is used has a name, was not touched, and fits whole below what was", () => {
  let count = 0;
  for (const name of readdirSync("tests/golden").filter((file) => file.endsWith(".json"))) {
    const document = JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"));
    for (let i = 0; i < document.steps.length; i++) {
      const placed = focusAt(document, i);
      const first = placed.findIndex(({ item }) => item.kind === "used");
      if (first < 0) continue;
      const used = placed.slice(first + 1);
      count += used.length;
      assert.ok(used.length > 0 && used.length <= 3);
      for (const { item, layout, y, h } of used) {
        assert.ok(item.kind === "row" && item.used && !item.block.hot && item.block.names.size);
        assert.ok(layout?.level === "full" && y + h <= ROOM.h);
        const inputs = document.steps[i].log.flatMap((entry: any) => (entry.kind === "op" ? entry.inputs : []));
        assert.ok(item.kind === "row" && item.block.uids.some((uid) => inputs.includes(uid)));
      }
    }
  }
  assert.ok(count >= 10, `${count} rows`);
});
