import assert from "node:assert/strict";
import { test } from "node:test";
import { createSourceHighlighter } from "../../builder/card_source.ts";
import { rowAtHeight } from "../../builder/dragging.ts";
import { reuseRows, rowAppearanceKey } from "../../builder/row_reuse.ts";
import { parseProgram, type ProgramItem } from "../../builder/statements.ts";

/** Rows of a text, those of the text before taken over. */
function rowsOf(source: string, before: Map<string, { line: number }[]>) {
  const program = parseProgram(source);
  const { paint } = createSourceHighlighter(program);
  const looks = (item: ProgramItem) => rowAppearanceKey(program, item, paint(item));
  const { rows, byLooks } = reuseRows(
    program.items,
    looks,
    before,
    ({ first }) => ({ line: first }),
    (row, { first }) => {
      row.line = first;
    },
  );
  return { rows: [...rows.values()], byLooks };
}

test("rows that look the same stay, each once, and know their new lines", () => {
  const was = rowsOf("a = 1\nb = a\nb = a\nprint(c)", new Map());
  const before = [...was.rows];
  const { rows } = rowsOf("# new\na = 1\nb = a\nc = 2\nprint(c)", was.byLooks);
  assert.deepEqual(
    rows.map((row) => before.indexOf(row)),
    [-1, 0, 1, -1, -1],
    "in the last line c is a name of the program now",
  );
  assert.deepEqual(
    rows.map(({ line }) => line),
    [0, 1, 2, 3, 4],
  );
});

test("the row at a height is the last that begins above it", () => {
  let asked = 0;
  const rows = Array.from({ length: 3000 }, (_, k) => ({
    getBoundingClientRect() {
      asked++;
      return { top: k * 32 };
    },
  }));
  const at = (y: number) => rows.indexOf(rowAtHeight(rows as any, y) as any);
  assert.deepEqual([at(-5), at(0), at(31), at(32), at(64_000), at(1e9)], [0, 0, 0, 1, 2000, 2999]);
  assert.ok(asked < 6 * 14, "few are measured");
});
