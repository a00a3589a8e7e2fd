import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { lineLabel, setProgramFiles, fileAndLineOf, shortLineName } from "../../trace/program_files.ts";
import { fillPlaceholders } from "../../words/sentences.ts";

const FILES = [
  { name: "train.py", first_line: 1, last_line: 10 },
  { name: "pkg/{x}.py", first_line: 11, last_line: 30 },
];

afterEach(() => setProgramFiles({}));

test("a line of a program with several files has its file's name and its number there", () => {
  setProgramFiles({ files: FILES });
  assert.deepEqual(fileAndLineOf(10), { name: "train.py", line: 10 });
  assert.deepEqual(fileAndLineOf(11), { name: "pkg/{x}.py", line: 1 });
  assert.equal(fileAndLineOf(31), null);
  assert.equal(shortLineName(22), "pkg/{x}.py:12");
  assert.equal(lineLabel("line", 3), "train.py:3");
});

test("sentences name the file of a line, and fill nothing that stands in its name", () => {
  setProgramFiles({ files: FILES });
  const args = { line: 22, x: "w", made_line: 3 };
  assert.equal(fillPlaceholders("line {line}: {x}", args), "pkg/{x}.py, line 12: w");
  assert.equal(fillPlaceholders("Line {line} overwrote {x}.", args), "Line 12 of pkg/{x}.py overwrote w.");
  assert.equal(fillPlaceholders("kept on line {made_line}", args), "kept on line 3 of train.py");
  assert.equal(fillPlaceholders("在第 {line} 行", args), "在 pkg/{x}.py 第 12 行");
  assert.equal(fillPlaceholders("第 {line} 行改写了 {x}", args), "pkg/{x}.py 第 12 行改写了 w");
});

test("a single text's lines are numbers alone", () => {
  assert.equal(fillPlaceholders("Line {line} of {n|one|{n}}, {other}", { line: 4, n: 2 }), "Line 4 of 2, {other}");
  assert.equal(fillPlaceholders("第 {line} 行", { line: 4 }), "第 4 行");
  assert.equal(shortLineName(4), "4");
  assert.equal(lineLabel("line", null), "line ?");
  assert.equal(fillPlaceholders("kept on line {made_line}.", { made_line: "" }), "kept before the recording.");
  assert.equal(fillPlaceholders("在第 {made_line} 行保存", { made_line: "" }), "在记录开始之前保存");
});
