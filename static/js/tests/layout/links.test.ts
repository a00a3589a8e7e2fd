/** Links across the divider: they reach their end between the lines, never over the cells of a storage. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { linksBetweenPanes } from "../../layout/links.ts";
import { PANE_HEADING_HEIGHT, buildStageModel, planStage } from "../../layout/stage_plan.ts";
import { STAGE_LABELS } from "../../marks/labels.ts";
import { stageOverlayMarks } from "../../marks/overlay.ts";
import { collectStepFacts } from "../../marks/step_facts.ts";
import { openTrace } from "../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace, vars } from "../entities.ts";

for (const name of ["a_module_learns", "saved_then_written"])
  for (const size of [
    { w: 1060, h: 640 },
    { w: 700, h: 420 },
  ])
    test(`${name}: a link to a selected tensor passes above its line, ${size.w} wide`, () => {
      const opened = openTrace(JSON.parse(readFileSync(`tests/golden/${name}.json`, "utf8")));
      const model = buildStageModel(opened);
      let drawn = 0;
      for (let i = 0; i < opened.count; i++) {
        const facts = collectStepFacts(opened, opened.at(i), STAGE_LABELS);
        for (const [uid, entity] of opened.state(i)) {
          if (entity.kind !== "tensor") continue;
          const plan = planStage(model, i, size, { selected: uid });
          const strips = [...(plan.memory?.anchors ?? [])].filter(([key]) => /^s\d+$/.test(key));
          for (const { key, kind, memory, above } of linksBetweenPanes(facts, plan, uid)) {
            if (kind !== "selected" || !key.endsWith(` ${uid}`)) continue;
            const y = memory.y - above;
            const under = strips
              .filter(([, strip]) => y > strip.y && y < strip.y + strip.h)
              .map(([storage]) => storage);
            assert.deepEqual(under, [], `step ${i}: ${key}`);
            drawn += 1;
          }
        }
      }
      assert.ok(drawn > 0);
    });

test("an end of a link that is out of sight is named at the edge, with the height that a click brings into sight", () => {
  const opened = openTrace(JSON.parse(readFileSync("tests/golden/a_module_learns.json", "utf8")));
  const arrival = opened.trace.steps.findIndex(({ visit }) => visit?.accumulates);
  const facts = collectStepFacts(opened, opened.at(arrival), STAGE_LABELS);
  const plan = planStage(buildStageModel(opened), arrival, { w: 1060, h: 640 });
  const [link] = linksBetweenPanes(facts, plan, null);
  const at = (scrolled: number) => ({ scrolled, beyond: () => ({ above: [], below: [] }) });
  /** How far the two panes are scrolled. */
  const edges = (memory: number, graph: number) =>
    stageOverlayMarks(facts, plan, { memory: at(memory), graph: at(graph) }, null, STAGE_LABELS).flatMap((mark) =>
      mark.children
        .filter((child) => child.attrs.class === "edge-label")
        .map(({ attrs, target }) => [attrs["aria-label"], target]),
    );
  assert.deepEqual(edges(0, 0), []);
  assert.deepEqual(edges(0, 2000)[0], [
    `${link.graphName} →`,
    { kind: "out of sight", pane: "graph", y: link.graph.y },
  ]);
  assert.deepEqual(edges(2000, 0)[0], [
    `→ ${link.memoryName}`,
    { kind: "out of sight", pane: "memory", y: link.memory.y },
  ]);
  assert.deepEqual(edges(2000, 2000), [], "neither end is in sight");
});

/** The horizontal parts of a path of M, L, Q, H and V, each as [left, right, height]. */
function horizontalParts(path: string): [number, number, number][] {
  const parts: [number, number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, command, numbers] of path.matchAll(/([MLQHVv])([^A-Za-z]*)/g)) {
    const values = numbers.trim().split(/[ ,]+/).map(Number);
    const [nextX, nextY] =
      command === "H"
        ? [values[0], y]
        : command === "V"
          ? [x, values[0]]
          : command === "v"
            ? [x, y + values[0]]
            : values.slice(-2);
    if (command !== "M" && nextY === y) parts.push([Math.min(x, nextX), Math.max(x, nextX), y]);
    [x, y] = [nextX, nextY];
  }
  return parts;
}

/** Thirty tensors, and one more that is made of the one of this number by a node that keeps it. */
function crowdWithProduct(kept: number) {
  const numbers = Array.from({ length: 30 }, (_, k) => k + 1);
  const leaf = (n: number, more: any = {}) => ({
    [`s${n}`]: storage([1, 2, 3]),
    [`c${n}`]: counter(),
    [`t${n}`]: tensor({ storage: `s${n}`, counter: `c${n}`, requires_grad: true, ...more }),
  });
  const names = Object.fromEntries(numbers.map((n) => [`w${n}`, ref(`t${n}`)]));
  const self = {
    storage: `s${kept}`,
    tensor: `t${kept}`,
    dtype: "float32",
    shape: [3],
    stride: [1],
    offset: 0,
    state: "ok",
  };
  const made = { leaf: false, grad_fn: "n1" };
  return trace(`make()\ny = w${kept}.sin()\n`, [
    { set: { f1: frame(names), ...Object.assign({}, ...numbers.map((n) => leaf(n))) } },
    { set: { f1: vars({ y: ref("t31") }), ...leaf(31, made), n1: node("SinBackward0", [], { saved: { self } }) } },
  ]);
}

for (const kept of [1, 2, 3, 4, 5, 6, 8, 10, 30])
  test(`a link to name ${kept} of the list crosses nothing of what the step touched`, () => {
    const opened = openTrace(crowdWithProduct(kept) as any);
    const plan = planStage(buildStageModel(opened), 1, { w: 1060, h: 640 });
    const listEnd = plan.memory?.staying?.to ?? 0;
    const facts = collectStepFacts(opened, opened.at(1), STAGE_LABELS);
    const toList = linksBetweenPanes(facts, plan, null).filter(({ memory }) => memory.x + memory.w <= listEnd);
    assert.equal(toList.length, 1);
    const at = { scrolled: 0, beyond: () => ({ above: [], below: [] }) };
    const marks = stageOverlayMarks(facts, plan, { memory: at, graph: at }, null, STAGE_LABELS);
    const link = marks.find(({ attrs }) => attrs["data-link"] === toList[0].key);
    const line = link?.children.find(({ attrs }) => attrs.class === "link-line");
    const parts = horizontalParts(String(line?.attrs.d));
    assert.ok(parts.some(([left, right]) => right - left > 100));
    const touched = [...(plan.memory?.anchors.values() ?? [])].filter(({ x }) => x > listEnd);
    assert.ok(touched.length > 0);
    for (const [left, right, height] of parts)
      for (const { x, y, w, h } of touched) {
        const top = y + PANE_HEADING_HEIGHT;
        assert.ok(
          !(height > top && height < top + h && right > x && left < x + w),
          `${height} between ${top}, ${top + h}`,
        );
      }
  });
