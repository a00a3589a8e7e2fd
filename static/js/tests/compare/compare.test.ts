import assert from "node:assert/strict";
import { test } from "node:test";
import { alignStatements, alignSteps, statementTexts } from "../../compare/align.ts";
import { comparisonFragment, readComparisonAddress } from "../../page_state/comparison_address.ts";
import type { Program, Trace } from "../../trace/wire.ts";

/** A program of one-line statements, nested by their indentation. */
function program(source: string) {
  const lines = source.trim().split("\n");
  const statements: { line: number; col: number; end_line: number; end_col: number; parent: number | null }[] = [];
  lines.forEach((text, k) => {
    const col = text.length - text.trimStart().length;
    const parent = statements.findLastIndex((other) => other.col < col);
    statements.push({ line: k + 1, col, end_line: k + 1, end_col: text.length, parent: parent < 0 ? null : parent });
    for (let at = parent; at >= 0; at = statements[at].parent ?? -1)
      Object.assign(statements[at], { end_line: k + 1, end_col: text.length });
  });
  return { source: lines.join("\n"), statements } as unknown as Program;
}

/** `order` has the indices of statements. */
function run(source: string, order: number[]) {
  const own = program(source);
  const steps = order.map((stmt) => ({
    kind: "statement",
    stmt,
    line: own.statements?.[stmt].line,
    changes: [],
    log: [],
  }));
  return { program: own, steps } as unknown as Trace;
}

const shortly = (pairs: { left: number | null; right: number | null }[]) =>
  pairs.map(({ left, right }) => `${left ?? "-"}${right ?? "-"}`).join(" ");

test("a statement that moves down keeps its partner", () => {
  const left = program("a = 1\nb = a.clone()\nc = a * b");
  const right = program("a = 1\n\nprint(a)\nb = a.detach()\nc = a * b".replace("\n\n", "\n"));
  assert.equal(shortly(alignStatements(left, right)), "00 -1 12 23");
});

test("a block is compared by its head, so that a changed body leaves the rest together", () => {
  const left = program("for i in range(3):\n  x = x + 1\n  y = x\nz = y");
  const right = program("for i in range(3):\n  x += 1\n  y = x\nz = y");
  assert.deepEqual(statementTexts(left), ["for i in range(3):", "x = x + 1", "y = x", "z = y"]);
  assert.equal(shortly(alignStatements(left, right)), "00 11 22 33");
});

test("statements that have nothing in common are no partners", () => {
  assert.equal(shortly(alignStatements(program("a = 1\nq()"), program("a = 1\nimport os"))), "00 1- -1");
});

test("a longer loop goes on alone", () => {
  const source = "for i in range(2):\n  x = i\ny = 1";
  const rows = alignSteps(run(source, [0, 1, 0, 1, 2]), run(source, [0, 1, 0, 1, 0, 1, 2]));
  assert.equal(rows.filter(({ both }) => both).length, 5);
  assert.equal(rows.filter(({ both }) => !both).length, 2);
  assert.deepEqual(rows.at(-1), { left: 4, right: 6, both: true });
  rows.reduce((before, row) => {
    assert.ok(row.left >= before.left && row.right >= before.right);
    return row;
  });
});

test("an address holds both programs and the place", async () => {
  const fragment = await comparisonFragment("a = 1\n", "b = '张量'\n", 7);
  assert.deepEqual(await readComparisonAddress(fragment), {
    left: "a = 1\n",
    right: "b = '张量'\n",
    row: 7,
    broken: false,
  });
  assert.deepEqual(await readComparisonAddress("#i=3"), { left: null, right: null, row: 3, broken: false });
  assert.equal((await readComparisonAddress("#l=!!!")).broken, true);
});
