/** Links across the divider: they reach their end between the lines, never over the cells of a storage. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { links } from "../layout/links.js";
import { stageModel, stagePlan } from "../layout/stage_plan.js";
import { LABELS } from "../marks/labels.js";
import { stepFacts } from "../marks/step_facts.js";
import { openTrace } from "../state.js";

for (const name of ["a_module_learns", "saved_then_written"])
  for (const size of [
    { w: 1060, h: 640 },
    { w: 700, h: 420 },
  ])
    test(`${name}: a link to a selected tensor passes above its line, ${size.w} wide`, () => {
      const opened = openTrace(JSON.parse(readFileSync(`tests/golden/${name}.json`, "utf8")));
      const model = stageModel(opened);
      let drawn = 0;
      for (let i = 0; i < opened.count; i++) {
        const facts = stepFacts(opened, opened.at(i), LABELS);
        for (const [uid, entity] of opened.state(i)) {
          if (entity.kind !== "tensor") continue;
          const plan = stagePlan(model, i, size, { selected: uid });
          const strips = [...(plan.memory?.anchors ?? [])].filter(([key]) => /^s\d+$/.test(key));
          for (const { key, kind, memory, above } of links(facts, plan, uid)) {
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
