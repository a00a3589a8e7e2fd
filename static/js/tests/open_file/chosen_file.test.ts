/** What becomes of a file that a reader opens: a program, traces, or a sentence that says why it is neither. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  MAX_PROGRAM_BYTES,
  MAX_TRACE_BYTES,
  MAX_TRACES,
  readChosenFile,
  TRACE_SCHEMA,
} from "../../open_file/chosen_file.ts";

const TRACE = {
  schema: TRACE_SCHEMA,
  program: { source: "x = 1\n", statements: [] },
  runtime: {},
  steps: [{ set: {}, gone: [] }],
  outcome: { status: "finished" },
};
const text = JSON.stringify(TRACE);
const read = (name: string, content: string | Uint8Array<ArrayBuffer>) => readChosenFile(new File([content], name));
const problem = (name: string, content: string | Uint8Array<ArrayBuffer>) =>
  read(name, content).then(
    () => null,
    ({ key }) => key,
  );

test("a program is its text, a trace its JSON, and several traces a line each", async () => {
  assert.deepEqual(await read("train.py", "x = 1\n"), { kind: "program", source: "x = 1\n" });
  assert.deepEqual(await read("run.json", text), { kind: "traces", name: "run", texts: [text] });
  assert.deepEqual(await read("no ending", `${text}\n${text}\n`), {
    kind: "traces",
    name: "no ending",
    texts: [text, text],
  });
  const indented = JSON.stringify(TRACE, null, 2);
  assert.deepEqual(await read("run.json", indented), { kind: "traces", name: "run", texts: [indented] });
});

test("a notebook comes with its cells and without its pictures", async () => {
  const png = {
    output_type: "display_data",
    data: { "image/png": "A".repeat(MAX_PROGRAM_BYTES), "text/plain": ["<Figure>"] },
  };
  const cells = [{ cell_type: "code", source: ["x = 1"], outputs: [png] }];
  const content = await read("a.ipynb", JSON.stringify({ nbformat: 4, cells }));
  assert.equal(content.kind, "program");
  const { source } = content as { source: string };
  assert.deepEqual(JSON.parse(source).cells[0].source, ["x = 1"]);
  assert.ok(!source.includes("image/png") && source.includes("<Figure>"));
});

test("what is neither is named", async () => {
  assert.equal(await problem("cat.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47])), "file_neither");
  assert.equal(await problem("zeros.py", "\0\0"), "file_neither");
  assert.equal(await problem("run.json", text.slice(0, -1)), "file_no_json");
  assert.equal(await problem("run.json", `${text}\n{"half`), "file_no_json");
  assert.equal(await problem("list.json", "[1]"), "file_no_json");
  assert.equal(await problem("package.json", '{"name": "a"}'), "file_no_trace");
  assert.equal(await problem("run.json", JSON.stringify({ ...TRACE, steps: [{}] })), "file_no_trace");
  assert.equal(await problem("a.json", '{"nbformat": 4, "cells": []}'), "file_notebook");
  assert.equal(await problem("a.ipynb", "{}"), "file_no_json");
  assert.equal(await problem("run.json", JSON.stringify({ ...TRACE, schema: TRACE_SCHEMA + 1 })), "file_newer");
  assert.equal(await problem("runs.json", `${text}\n`.repeat(MAX_TRACES + 1)), "file_too_many");
});

test("a file that is too large is not read", async () => {
  const arrayBuffer = () => assert.fail("it was read");
  for (const [name, most] of [
    ["train.py", MAX_PROGRAM_BYTES],
    ["run.json", MAX_TRACE_BYTES],
  ] as [string, number][])
    await assert.rejects(readChosenFile({ name, size: most + 1, arrayBuffer }), { key: "file_too_large" });
});

test("the schema that can be read is the contract's, and each reason has a sentence", () => {
  const wire = readFileSync(new URL("../../../../gradbox/wire/trace.py", import.meta.url), "utf8");
  assert.equal(Number(/^SCHEMA = (\d+)$/m.exec(wire)?.[1]), TRACE_SCHEMA);
  const source = readFileSync(new URL("../../open_file/chosen_file.ts", import.meta.url), "utf8");
  const say = JSON.parse(readFileSync(new URL("../../../locales/en.json", import.meta.url), "utf8"));
  const keys = new Set(source.match(/file_[a-z_]+/g));
  assert.ok(keys.size > 5);
  for (const key of keys) assert.ok(say[key], key);
});
