/** The matrix's filter, and how a cell depends on the situation. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { doesRowMatchFilter, parseMatrixFilter, type MatrixRowFacts, type CellVerdict } from "../../matrix/filter.ts";
import { dimensionsThatChangeVerdict, verdictTable, type MatrixCell } from "../../matrix/situations.ts";

const PROPERTIES = [
  { name: "handle", label: "new tensor" },
  { name: "storage", label: "new storage" },
  { name: "requires_grad", label: "requires_grad" },
  { name: "grad", label: ".grad" },
];
const row = (text: string, verdicts: Record<string, CellVerdict>) => ({
  text,
  verdicts: new Map(Object.entries(verdicts)),
});
const CLONE = row("clone b = a.clone()", { handle: "yes", storage: "yes", requires_grad: "yes", grad: "no" });
const RAISING = row("add_ b = a.add_(0)", {});

const holds = (text: string, facts: MatrixRowFacts) => doesRowMatchFilter(parseMatrixFilter(text, PROPERTIES), facts);

test("every word has to be in the row", () => {
  assert.ok(holds("", CLONE) && holds("  Clone a.", CLONE));
  assert.ok(!holds("clone view", CLONE));
});

test("a property is asked by its name or the beginning of its label, in both languages", () => {
  for (const text of ["storage:yes", "newst:yes", "storage:是", "storage：yes", "grad:no", ".grad:no clone"])
    assert.ok(holds(text, CLONE), text);
  for (const text of ["storage:no", "grad:yes", "storage:否", "handle:none"]) assert.ok(!holds(text, CLONE), text);
});

test("an operation that raises has no other verdict", () => {
  assert.ok(holds("storage:raises", RAISING) && !holds("storage:no", RAISING));
  assert.ok(!holds("storage:raises", CLONE));
});

test("what is no property is a word", () => {
  assert.deepEqual(parseMatrixFilter("x:yes storage:maybe :yes", PROPERTIES).words, ["x:yes", "storage:maybe", ":yes"]);
});

const TENSORS = ["leaf", "node", "plain"];
const MEMORIES = ["contiguous", "strided"];
const MODES = ["grad", "no_grad", "inference_mode"];
function cells(isYes: (tensor: string, memory: string, mode: string) => boolean) {
  const made: Record<string, MatrixCell> = {};
  for (const tensor of TENSORS)
    for (const memory of MEMORIES)
      for (const mode of MODES)
        made[`${tensor}.${memory}.${mode}`] = { verdict: isYes(tensor, memory, mode) ? "yes" : "no" };
  return made;
}

test("only what makes a difference is a dimension of the small table", () => {
  assert.deepEqual(dimensionsThatChangeVerdict(cells(() => true)), []);
  assert.deepEqual(dimensionsThatChangeVerdict(cells((_, memory) => memory === "strided")), ["memory"]);
  assert.deepEqual(dimensionsThatChangeVerdict(cells((tensor, _, mode) => tensor === "leaf" && mode === "grad")), [
    "tensor",
    "mode",
  ]);
});

test("the small table has the verdict of every situation", () => {
  const every = cells((tensor, memory, mode) => tensor === "leaf" || (memory === "strided" && mode === "grad"));
  const { rows, columns, at } = verdictTable(every, "node.strided.no_grad");
  assert.deepEqual(columns, MODES);
  assert.equal(rows.length, 6);
  assert.deepEqual(
    rows.flatMap((line) => columns.map((column) => at(line, column))),
    Object.keys(every),
  );
});

test("what makes no difference is as the page shows it", () => {
  const { rows, columns, at } = verdictTable(
    cells((tensor) => tensor === "leaf"),
    "plain.strided.no_grad",
  );
  assert.deepEqual(columns, [""]);
  assert.deepEqual(
    rows.map((line) => at(line, "")),
    ["leaf.strided.no_grad", "node.strided.no_grad", "plain.strided.no_grad"],
  );
});
