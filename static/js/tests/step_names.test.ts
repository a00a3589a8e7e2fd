/** Names made from the entities that can name something are those that are made from the whole state. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { RunFacts } from "../findings/run_facts.ts";
import { openTrace } from "../trace/state.ts";
import { ALL } from "./traces.ts";

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))]);
const traces = Object.entries(ALL).map(([name, make]) => [name, make()]);

for (const [name, document] of [...traces, ...goldens])
  test(`the names of ${name}, forwards and backwards`, () => {
    const opened = openTrace(document);
    const facts = new RunFacts(opened);
    const steps = [...Array(opened.count).keys()];
    for (const step of [...steps, ...steps.reverse()]) {
      const { tags, paths } = facts.namesAt(step);
      const whole = opened.names(step);
      assert.deepEqual([...tags].sort(), [...whole.tags].sort(), `tags after step ${step}`);
      assert.deepEqual([...paths].sort(), [...whole.paths].sort(), `paths after step ${step}`);
    }
  });
