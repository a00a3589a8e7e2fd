/** The state that goes along with a run's rows says what the opened trace says, at the price of what changed. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isHandle } from "../../../trace/entities.ts";
import { RowState } from "../../../layout/loom/loom_row_state.ts";
import { buildLoomRows } from "../../../layout/loom/run_rows.ts";
import { openTrace } from "../../../trace/state.ts";
import { frame, ref, storage, tensor, trace } from "../../entities.ts";
import { ALL } from "../../traces.ts";

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))]);
const made = Object.entries(ALL).map(([name, make]) => [name, make()]);

/** Names that go and come back, a dict with a tensor as its key, a gradient in a list. */
const turns = trace("", [
  {
    set: {
      f1: frame({ a: ref("t1"), b: ref("t1"), d: ref("o1") }),
      s1: storage([1]),
      t1: tensor({ shape: [1], grad: "t2" }),
      s2: storage([2]),
      t2: tensor({ shape: [1], storage: "s2" }),
      o1: { kind: "object", type: "dict", len: 1, items: [[ref("t1"), ref("t2")]] },
    },
  },
  { set: { f1: { unset: ["a"] }, t2: { offset: 0 }, t1: { offset: 0 } } },
  { set: { f1: { vars: { a: ref("t1"), c: ref("t2") } }, t2: { stride: [1] }, t1: { stride: [1] } } },
]);

for (const [name, document] of [...made, ...goldens, ["turns", turns]])
  test(`${name}: the same entities and, of what a row touched, the same names`, () => {
    const opened = openTrace(document);
    const state = new RowState(opened.trace.steps);
    for (const { first, last } of buildLoomRows(opened).rows) {
      state.advanceToNextRow(first, last);
      assert.deepEqual(state.entitiesAfter, opened.state(last));
      const uids = [...state.touchSteps.keys()].filter((uid) => isHandle(state.entitiesAfter.get(uid)));
      const naming = state.names.namesAndPathsOf(uids);
      for (const uid of uids) {
        assert.deepEqual(naming.tags.get(uid), opened.names(last).tags.get(uid), `${uid} after step ${last}`);
        assert.equal(state.existedBeforeRow(uid), opened.state(first - 1).has(uid));
      }
    }
  });
