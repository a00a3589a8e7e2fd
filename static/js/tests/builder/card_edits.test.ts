import assert from "node:assert/strict";
import { test } from "node:test";
import {
  duplicateCard,
  insertStatements,
  moveCard,
  moveCardDown,
  moveCardUp,
  cardText,
  removeCard,
  rewriteCard,
  toggleComment,
  type EditOutcome,
} from "../../builder/edits.ts";
import { applyLineEdits } from "../../builder/line_edits.ts";
import { nameOccurrences } from "../../builder/names.ts";
import { positionAtEnd, positionBelow } from "../../builder/positions.ts";
import { itemAtLine, parseProgram } from "../../builder/statements.ts";

const SOURCE = `import torch
# a remark
x = torch.tensor([1., 2.])
for step in range(2):
    y = x * 2
    # z = y.exp()
    print(y)
else:
    y = 1
s = """
  text"""
`;

/** The text after something was done with the card of a line, from 1, or why it was not. */
function after(source: string, line: number, deed: (program: any, item: any) => EditOutcome) {
  const program = parseProgram(source);
  const outcome = deed(program, itemAtLine(program, line - 1));
  return "refused" in outcome ? outcome.refused : applyLineEdits(program.lines, outcome.edits).join("\n");
}

const line = (text: string, line: number) => text.split("\n")[line - 1];

test("each line belongs to one item, and items know how deep they stand", () => {
  const { items } = parseProgram(SOURCE);
  assert.deepEqual(
    items.map(({ kind, first, last, depth }) => [kind, first, last, depth]),
    [
      ["statement", 0, 0, 0],
      ["note", 1, 1, 0],
      ["statement", 2, 2, 0],
      ["head", 3, 3, 0],
      ["statement", 4, 4, 1],
      ["off", 5, 5, 1],
      ["statement", 6, 6, 1],
      ["clause", 7, 7, 0],
      ["statement", 8, 8, 1],
      ["statement", 9, 10, 0],
      ["blank", 11, 11, 0],
    ],
  );
  assert.equal(items[3].end, 8, "a head's block has its clauses");
});

test("a card moves into a block and out of it, with its indentation", () => {
  const into = after(SOURCE, 3, moveCardDown);
  assert.equal(line(into, 4), "    x = torch.tensor([1., 2.])");
  const out = after(into, 4, moveCardUp);
  assert.equal(
    line(out, 2),
    "x = torch.tensor([1., 2.])",
    "out of the block, and above the remark that stands over it",
  );
});

test("a block moves as a whole, and what a string goes over stays as it is", () => {
  const program = parseProgram(SOURCE);
  const outcome = moveCard(program, program.items[9], positionBelow(program, program.items[3]));
  assert("edits" in outcome);
  assert(applyLineEdits(program.lines, outcome.edits).join("\n").includes('    s = """\n  text"""\n    y = x * 2'));
  const atEnd = moveCard(program, program.items[3], positionAtEnd(program));
  assert("edits" in atEnd);
  assert(
    applyLineEdits(program.lines, atEnd.edits)
      .join("\n")
      .endsWith('  text"""\nfor step in range(2):\n    y = x * 2\n    # z = y.exp()\n    print(y)\nelse:\n    y = 1\n'),
  );
});

test("a block that loses its only statement keeps a pass, and gives it up for the next one", () => {
  const source = "if a:\n    b = 1\nc = 2\n";
  const emptied = after(source, 2, moveCardUp);
  assert.equal(emptied, "b = 1\nif a:\n    pass\nc = 2\n");
  assert.equal(after(emptied, 1, moveCardDown), source);
  assert.equal(after(source, 2, removeCard), "if a:\n    pass\nc = 2\n");
  assert.equal(after(source, 2, toggleComment), "if a:\n    # b = 1\n    pass\nc = 2\n");
  assert.equal(after("if a:\n    # b = 1\n    pass\nc = 2\n", 2, toggleComment), source);
  assert.equal(after("if a:\n    pass\n", 2, removeCard), "card_only_pass");
});

test("a card is a comment to the character while it is off, with its whole block", () => {
  const off = after(SOURCE, 4, toggleComment);
  assert.equal(line(off, 5), "#     y = x * 2");
  assert.equal(line(off, 6), "#     # z = y.exp()");
  assert.equal(after(off, 4, toggleComment), SOURCE);
});

test("what has to stand elsewhere does not move there, and says why", () => {
  const source = "def f():\n    return 1\nfor i in x:\n    break\ntry:\n    a = 1\nexcept E:\n    pass\n";
  assert.equal(after(source, 2, moveCardUp), "card_needs_def");
  assert.equal(after(source, 4, moveCardUp), "card_needs_loop");
  assert.equal(after(source, 7, moveCardUp), "card_is_clause");
  assert.equal(after(source, 7, removeCard), "card_last_except");
  assert.equal(after(source, 7, duplicateCard), "card_is_clause");
  assert.equal(after("from __future__ import a\nx = 1\n", 2, moveCardUp), "card_future");
  assert.equal(after("x = 1\n", 1, moveCardUp), "card_no_further");
  assert.equal(
    after("x = 1\n", 1, (program, item) => rewriteCard(program, item, "x = (")),
    "card_not_python",
  );
});

test("a card's text is written in its place, in its indentation", () => {
  assert.equal(
    line(
      after(SOURCE, 5, (program, item) => rewriteCard(program, item, "y = x * 3")),
      5,
    ),
    "    y = x * 3",
  );
  const program = parseProgram(SOURCE);
  for (const item of program.items)
    assert.equal(
      after(SOURCE, item.first + 1, (p, at) => rewriteCard(p, at, cardText(p, at))),
      SOURCE,
    );
});

test("prose is no card that is off", () => {
  const { items } = parseProgram("# how much?\n# done\n# x = 1\n# y is what z = 2 gives\n# print(x)\n");
  assert.deepEqual(
    items.slice(0, 5).map(({ kind }) => kind),
    ["note", "note", "off", "note", "off"],
  );
});

test("names are what is bound or written, and what is used of these", () => {
  const program = parseProgram(
    "import torch\na, b = torch.ones(2), 1\na[0] = b\nfor i in a: b += i\nwith f(a, key=b) as g: pass\n",
  );
  assert.deepEqual(
    nameOccurrences(program).map(({ name, role }) => `${name} ${role}`),
    ["a made", "b made", "a made", "b used", "i made", "a used", "b made", "i used", "a used", "b used", "g made"],
  );
});

test("a new statement brings the imports that the program has not in any form, above all others", () => {
  const insert = (source: string, imports: string[]) =>
    after(source, 1, (program) => insertStatements(program, positionAtEnd(program), "y = 1", imports));
  const torch = ["import torch"];
  assert.equal(insert("", torch).trim(), "import torch\ny = 1");
  assert.equal(insert("# a remark\n", torch), "import torch\n# a remark\ny = 1\n");
  assert.equal(insert("import math, torch  # both\n", torch), "import math, torch  # both\ny = 1\n");
  assert.equal(insert("import torch as t\n", torch), "import torch as t\nimport torch\ny = 1\n");
  assert.equal(insert("import torch.nn as nn\n", torch), "import torch.nn as nn\nimport torch\ny = 1\n");
  assert.equal(
    insert("import torch\nx = 1\n", ["import torch", "import copy"]),
    "import torch\nimport copy\nx = 1\ny = 1\n",
  );
});
