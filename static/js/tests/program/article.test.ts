import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEditToArticle } from "../../program/article.ts";
import { programTextForAddress } from "../../page_state/selectors.ts";
import { after, arrived, edited, ran, trace } from "../page_states.ts";

const PLAIN = [
  ">>> x = f()",
  ">>> x * 2",
  "[2, 2]",
  ">>> for i in x:",
  "...     print(i)",
  "...",
  "1",
  "1",
  ">>> x",
  "[1, 1]",
];
const PROGRAM: any = {
  source: "x = f()\nx * 2\nfor i in x:\n    print(i)\n\nx",
  pasted: PLAIN.join("\r\n"),
  lines: [1, 2, 4, 5, 6, 9],
};
const CELLS: any = {
  source: "x = f()\nx * 2\ny = x\ny",
  pasted:
    "!pip install torch\nIn [1]: x = f()\n   ...: x * 2\nOut[1]: [2, 2]\n\nIn [2]: y = x\n   ...: y\nOut[2]: [1, 1]\n",
  lines: [2, 3, 6, 7],
};

const edit = (program: any, from: string, to: string) => applyEditToArticle(program, program.source.replace(from, to));

test("a changed line loses what was printed by the one before it, the others keep theirs", () => {
  assert.deepEqual(edit(PROGRAM, "x * 2", "x * 3")?.split("\n"), [PLAIN[0], ">>> x * 3", ...PLAIN.slice(3)]);
  assert.deepEqual(edit(PROGRAM, "print(i)\n\nx", "print(i)\n\nx + 1")?.split("\n"), [
    ...PLAIN.slice(0, 8),
    ">>> x + 1",
  ]);
  assert.equal(
    edit(CELLS, "y = x", "y = x + 1"),
    "!pip install torch\nIn [1]: x = f()\n   ...: x * 2\nOut[1]: [2, 2]\n\nIn [2]: y = x + 1\n   ...: y\nOut[2]: [1, 1]\n",
  );
});

test("a line that is put in stands behind what the line before it printed", () => {
  assert.deepEqual(edit(PROGRAM, "for", "z = 1\nfor")?.split("\n"), [
    ...PLAIN.slice(0, 3),
    ">>> z = 1",
    ...PLAIN.slice(3),
  ]);
  assert.deepEqual(edit(PROGRAM, "    print(i)", "    print(i)\n    i")?.split("\n").slice(4, 7), [
    PLAIN[4],
    "...     i",
    PLAIN[5],
  ]);
  assert.match(edit(CELLS, "y = x", "z = 1\ny = x") ?? "", /Out\[1\]: \[2, 2\]\n\nIn \[1\]: z = 1\nIn \[2\]: y = x/);
});

test("a line that is taken out takes its output with it", () => {
  assert.deepEqual(edit(PROGRAM, "x * 2\n", "")?.split("\n"), [PLAIN[0], ...PLAIN.slice(3)]);
});

test("without prompts the text around the program stays", () => {
  const fenced: any = { source: "x = 1\nx  # 1", pasted: "Look:\n```\nx = 1\nx  # 1\n```\n", lines: [3, 4] };
  assert.equal(edit(fenced, "x  # 1", "x  # 1\nx + 1"), "Look:\n```\nx = 1\nx  # 1\nx + 1\n```\n");
});

test("another program, an added line and a text of another kind are no edits of an article", () => {
  assert.equal(applyEditToArticle(PROGRAM, "import torch\nprint(1)"), null);
  assert.equal(applyEditToArticle({ ...PROGRAM, pasted: null }, `${PROGRAM.source}\n1`), null);
  const notebook: any = { source: "x = 1\nx", pasted: '{"cells": [{"source": ["x = 1", "x"]}]}', lines: [1, 1] };
  assert.equal(applyEditToArticle(notebook, "x = 1\nx\nx"), null);
  const imported: any = {
    source: "import torch\nx = torch.ones(1)",
    pasted: ">>> x = torch.ones(1)",
    lines: [null, 1],
  };
  assert.equal(edit(imported, "import torch", "import torch as t"), null);
});

test("where an article turns out to have another program, the reader's is run by itself", () => {
  const first = after(ran(), edited(PROGRAM.pasted), { type: "runRequested" });
  const shown = after(
    first,
    arrived(first.pending?.id ?? 0, trace(PROGRAM.source, { pasted: PROGRAM.pasted, lines: PROGRAM.lines })),
  );
  const text = `${PROGRAM.source}\nz`;
  const asked = after(shown, edited(text), { type: "runRequested" });
  assert.deepEqual([asked.pending?.source.split("\n").at(-1), asked.pending?.program], [">>> z", text]);
  const again = after(asked, arrived(asked.pending?.id ?? 0, trace("something else")));
  assert.deepEqual([again.pending?.source, again.pending?.program, again.text], [text, null, text]);
  const done = after(asked, arrived(asked.pending?.id ?? 0, trace(text, { pasted: asked.pending?.source })));
  assert.deepEqual([done.pending, done.text, programTextForAddress(done)], [null, text, asked.pending?.source]);
});
