/**
 * Gradients and leaves in the graph pane: where they meet, what a leaf is called, where one waits that nobody reads.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildGraphModel, layoutGraphPane } from "../../../layout/graph/graph_pane.ts";
import { DEFAULT_PANE_OPTIONS } from "../../../layout/pane.ts";
import { UNBOUNDED_BAND } from "../../../layout/view.ts";
import { graphMarks } from "../../../marks/graph/graph_marks.ts";
import { STAGE_LABELS } from "../../../marks/labels.ts";
import { createRenderContext } from "../../../marks/render_context.ts";
import { openTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace } from "../../entities.ts";
import { ROOMS, grad, visit, draw, flat, having } from "./graph_drawing.ts";
import { foldedInGraph } from "../folded.ts";

test("gradients that reach one output add up, those of different outputs do not", () => {
  const make = (nr: number) =>
    openTrace(
      trace("", [
        {
          set: {
            n1: node("UnbindBackward0", []),
            n2: node("SinBackward0", [["n1", 0]]),
            n3: node("CosBackward0", [["n1", nr]]),
            n4: node("AddBackward0", [
              ["n2", 0],
              ["n3", 0],
            ]),
          },
        },
        visit("n4", [grad([1]), grad([1])]),
        visit("n2", [grad([2])]),
        visit("n3", [grad([3])]),
      ]),
    );
  const meets = (nr: number) => flat(draw(make(nr), 3, ROOMS[0]).body).filter((mark) => mark.attrs.class === "meet");
  assert.equal(meets(0).length, 1);
  assert.equal(meets(1).length, 0);
});

test("a leaf that a node reads twice has two edges, which meet when gradients came along both", () => {
  const leaf = node("torch::autograd::AccumulateGrad", [], { variable: "t1" });
  const opened = openTrace(
    trace("", [
      {
        set: {
          ...{
            f1: frame({ x: ref("t1") }),
            s1: storage([3]),
            c1: counter(),
            t1: tensor({ requires_grad: true }),
            n1: leaf,
          },
          n2: node("MulBackward0", [
            ["n1", 0],
            ["n1", 0],
          ]),
        },
      },
      visit("n2", [grad([3]), grad([3])]),
      visit("n1", [], { accumulates: "t1" }),
    ]),
  );
  const { pane, body } = draw(opened, 2, ROOMS[0]);
  assert.deepEqual(
    pane.edges.map((edge) => edge.key),
    ["n2:0", "n2:1"],
  );
  assert.notEqual(pane.edges[0].d, pane.edges[1].d);
  assert.equal(flat(body).filter((mark) => mark.attrs.class === "meet").length, 1);
  assert.deepEqual(
    having(body, "data-node").map((mark) => mark.attrs["data-node"]),
    ["n1", "n2"],
  );
});

test("a shared leaf stands for itself once, at the reader that the visit is about", () => {
  const leaf = node("torch::autograd::AccumulateGrad", [], { variable: "t1" });
  const opened = openTrace(
    trace("", [
      {
        set: {
          ...{
            f1: frame({ w: ref("t1") }),
            s1: storage([3]),
            c1: counter(),
            t1: tensor({ requires_grad: true }),
            n1: leaf,
          },
          n2: node("SinBackward0", [["n1", 0]]),
          n3: node("MulBackward0", [
            ["n2", 0],
            ["n1", 0],
          ]),
        },
      },
      visit("n3", [grad([3]), grad([3])]),
      visit("n2", [grad([3])]),
    ]),
  );
  const readers = [0, 1, 2].map((i) =>
    layoutGraphPane(buildGraphModel(opened), i, ROOMS[0], DEFAULT_PANE_OPTIONS).rows.flatMap((row) =>
      row.docks.flatMap((dock) => (dock.again ? [] : [row.uid])),
    ),
  );
  assert.deepEqual(readers, [["n2"], ["n3"], ["n2"]]);
  const [again] = having(draw(opened, 2, ROOMS[0]).body, "data-again");
  assert.equal(flat([again]).filter(({ attrs }) => attrs.class === "order").length, 0);
});

test("a leaf that two nodes read is called the same beside both, however little room one of them has", () => {
  const opened = openTrace(
    trace("", [
      {
        set: {
          f1: frame({ model: ref("o1") }),
          o1: { kind: "object", type: "Tied", attrs: { embedding: ref("o2") } },
          o2: { kind: "object", type: "Embedding", attrs: { weight: ref("t1") } },
          s1: storage([3]),
          c1: counter(),
          t1: tensor({ requires_grad: true }),
          n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
          n2: node("TBackward0", [["n1", 0]]),
          n3: node("SinBackward0", [["n1", 0]]),
          n4: node("AddmmBackward0", [
            ["n3", 0],
            ["n2", 0],
          ]),
        },
      },
      visit("n4", [grad([3]), grad([3])]),
    ]),
  );
  const shortened = [300, 340, 380, 420].filter((w) => {
    const pane = layoutGraphPane(buildGraphModel(opened), 1, { w, h: 660 }, DEFAULT_PANE_OPTIONS);
    const { body } = graphMarks(createRenderContext(opened, opened.at(1), STAGE_LABELS), pane, UNBOUNDED_BAND);
    const leaves = flat(body).filter(({ attrs }) => attrs["data-node"] === "n1" || attrs["data-again"] === "n1");
    const texts = leaves.map((leaf) =>
      flat([leaf])
        .find((mark) => mark.attrs.class === "node-name")
        ?.text?.replace("+=", "+"),
    );
    assert.equal(texts.length, 2);
    assert.equal(texts[0], texts[1]);
    return texts[0] !== "+ model.embedding.weight";
  });
  assert.ok(shortened.length > 0);
});

test("leaves that no node reads wait in a line below, and come out of it when touched or opened", () => {
  const leaf = (of: string) => node("torch::autograd::AccumulateGrad", [], { variable: of });
  const made = { s1: storage([1]), c1: counter(), t1: tensor(), t2: tensor() };
  const opened = openTrace(
    trace("", [{ set: { f1: frame({ a: ref("t1"), b: ref("t2") }), ...made, n1: leaf("t1"), n2: leaf("t2") } }, {}]),
  );
  assert.equal(draw(opened, 0, ROOMS[0]).pane.idle.leaves.length, 2);
  const later = draw(opened, 1, ROOMS[0]);
  assert.deepEqual(
    [...foldedInGraph(later.pane)],
    [
      ["n1", "graph idle"],
      ["n2", "graph idle"],
    ],
  );
  assert.match(
    flat(later.body)
      .map((mark) => mark.text)
      .join("\n"),
    /2 waiting for the next graph: a, b/,
  );
  const open = draw(opened, 1, ROOMS[0], { ...DEFAULT_PANE_OPTIONS, toggled: new Set(["graph idle"]) });
  assert.equal(having(open.body, "data-node").length, 2);
});
