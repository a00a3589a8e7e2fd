/** The words of the pictures are in both languages: none is left in English on a Chinese page. */

import assert from "node:assert/strict";
import { test } from "node:test";
import en from "../../../locales/en.json" with { type: "json" };
import zh from "../../../locales/zh.json" with { type: "json" };
import { loomLabels, stageLabels, stepTitle } from "../../captions/captions.ts";
import { bundledLocale } from "../../words/locale.ts";
import { STAGE_LABELS, autogradRoleLabel, LOOM_LABELS } from "../../marks/labels.ts";
import { trace } from "../entities.ts";

for (const [prefix, labels] of [
  ["stage", STAGE_LABELS],
  ["loom", LOOM_LABELS],
] as const)
  test(`every label of the ${prefix} has its words in English and Chinese`, () => {
    for (const [key, text] of Object.entries(labels)) {
      const name = `${prefix}_${key}`;
      assert.equal((en as Record<string, string>)[name], text, name);
      assert.ok((zh as Record<string, string>)[name], name);
    }
  });

test("a page's labels are those of its language", () => {
  const labels = { ...STAGE_LABELS, ...stageLabels(bundledLocale("zh").say) };
  assert.equal(labels.unnamed, zh.stage_unnamed);
  assert.deepEqual(
    ["leaf", "node", "read-only", ""].map((role) => autogradRoleLabel(role, labels)),
    ["叶", "节点", "只读", ""],
  );
  assert.equal(loomLabels(bundledLocale("zh").say).graph, zh.loom_graph);
});

test("a step's title ends where there is nothing more to say", () => {
  const titleOf = (source: string) => stepTitle(trace(source, [{}]), 0, bundledLocale("en").say);
  assert.equal(titleOf("a = 1"), "Step 1 of 1 · line 1 · a = 1");
  assert.equal(titleOf(""), "Step 1 of 1 · line 1");
});
