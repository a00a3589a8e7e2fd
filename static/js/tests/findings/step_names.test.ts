/** Names made from the entities that can name something are those that are made from the whole state. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { RunFacts } from "../../findings/facts/run_facts.ts";
import { collectNamesAndPaths } from "../../trace/names.ts";
import { openTrace } from "../../trace/state.ts";
import { ALL } from "../traces.ts";

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

test("a parameter is called as its module has it, however deep, and else as its optimizer", () => {
  const object = (attrs: object, items?: unknown[]) => ({ kind: "object", attrs, items });
  const ref = (uid: string) => ({ ref: uid });
  const entities: Map<string, any> = new Map(
    Object.entries({
      f1: { kind: "frame", name: "<module>", vars: new Map([["opt", ref("o1")], ["net", ref("o5")]]) },
      o1: object({ param_groups: ref("o2"), state: ref("o4") }),
      o2: object({}, [ref("o3")]),
      o3: object({}, [["params", ref("o8")]]),
      o4: object({}, [[ref("h1"), ref("o9")], [ref("h2"), ref("o9")]]),
      o5: object({ h: ref("o6") }),
      o6: object({ 0: ref("o7") }),
      o7: object({ ln: ref("o10") }),
      o8: object({}, [ref("h1"), ref("h2")]),
      o9: object({}, [["step", ref("h3")]]),
      o10: object({ weight: ref("h1") }),
      h1: { kind: "tensor" },
      h2: { kind: "tensor" },
      h3: { kind: "tensor" },
    }),
  ); // biome-ignore format: a line each
  const { paths } = collectNamesAndPaths(entities, [["f1", entities.get("f1")]]);
  assert.equal(paths.get("h1"), "net.h.0.ln.weight");
  assert.equal(paths.get("h2"), "opt.param_groups[0]['params'][1]");
  assert.equal(paths.get("h3"), "opt.state[net.h.0.ln.weight]['step']");
});
