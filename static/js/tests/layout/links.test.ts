/** Links across the divider: they reach their end between the lines, never over the cells of a storage. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { linksBetweenPanes } from "../../layout/links.ts";
import { buildStageModel, planStage } from "../../layout/stage_plan.ts";
import { STAGE_LABELS } from "../../marks/labels.ts";
import { stageOverlayMarks } from "../../marks/overlay.ts";
import { createRenderContext } from "../../marks/render_context.ts";
import { openTrace } from "../../trace/state.ts";

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
        const facts = createRenderContext(opened, opened.at(i), STAGE_LABELS);
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
  const facts = createRenderContext(opened, opened.at(arrival), STAGE_LABELS);
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
