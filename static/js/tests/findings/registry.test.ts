/** The tables of findings are made of the folder, and each kind in them has its words. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { findingRegistries } from "../../../finding_registry.mjs";
import { DIAGNOSES } from "../../findings/registry.ts";
import { findingLocale } from "../../findings/locale.ts";

test("the tables of findings are those of the folder", () => {
  for (const [path, text] of findingRegistries()) assert.equal(readFileSync(path, "utf8"), text, path);
});

test("every kind of finding has a file of words, and no other has", () => {
  const kinds = new Set(DIAGNOSES.map(({ kind }) => kind));
  const files = readdirSync("static/locales/findings").map((file) => file.replace(/\.json$/, ""));
  assert.deepEqual([...kinds].sort(), files.sort());
});

test("the words of a kind are among those of findings, in both languages", () => {
  const [english, chinese] = ["en", "zh"].map((language) =>
    findingLocale(language).say("finding.padding_row.todo", { x: "x", code: "y" }),
  );
  assert.match(english, /^Zero the row again/);
  assert.match(chinese, /^初始化之后/);
});
