/** What may stand in the place of a statement, with the catalogue that the server gives. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { alternativeEffectOf } from "../../siblings/preview.ts";
import { alternativesToStatement, editsReplacingLine, type Operation } from "../../siblings/alternatives.ts";

const PYTHON = `
import json, sys
from server.operations.catalogue import create_catalogue
json.dump(create_catalogue("en").model_dump(exclude_none=True)["operations"], sys.stdout)`;

const CATALOGUE: Operation[] = JSON.parse(execFileSync(".venv/bin/python", ["-c", PYTHON], { encoding: "utf8" }));
const TENSORS = ["a", "b", "x", "y", "w", "loss"];

const found = (line: string) => alternativesToStatement(line, CATALOGUE, (name) => TENSORS.includes(name));
const texts = (line: string) => found(line).map(({ text }) => text);

test("a copy has its siblings, with the same operand, indent and remark", () => {
  const lines = texts("    b = a.clone()  # mine");
  for (const code of ["b = a", "b = a.detach()", "b = a.data", "b = a.clone().detach()", "b = copy.deepcopy(a)"])
    assert.ok(lines.includes(`    ${code}  # mine`), code);
  for (const code of ["b = a.new_tensor(a)", "b = torch.empty_like(a).copy_(a)", "b = torch.tensor(a)"])
    assert.ok(lines.includes(`    ${code}  # mine`), code);
  assert.deepEqual(
    found("b = a.clone()")
      .slice(0, 2)
      .map(({ label }) => label),
    ["= a", "a.detach()"],
  );
});

test("a view has its siblings, with the same shape", () => {
  assert.ok(texts("y = x.view(2, -1)").includes("y = x.reshape(2, -1)"));
  assert.ok(texts("y = x.view(2, -1)").includes("y = x.contiguous().view(2, -1)"));
});

test("three ways to add", () => {
  assert.deepEqual(texts("x += 1").slice(0, 2), ["x.add_(1)", "x = x + 1"]);
  assert.deepEqual(texts("x = x + 1").slice(0, 2), ["x += 1", "x.add_(1)"]);
  assert.ok(texts("x.add_(0.5)").includes("x += 0.5"));
});

test("a method in place keeps the name of the result", () => {
  assert.ok(texts("y = torch.relu(x)").includes("y = x.relu_()"));
});

test("one statement for another, without a tensor", () => {
  assert.deepEqual(texts("opt.zero_grad()")[0], "opt.zero_grad(set_to_none=False)");
  assert.ok(texts("loss = a.sum()").includes("loss = a.mean()"));
});

test("a name that is no tensor, and what the catalogue does not have, has none", () => {
  for (const line of ["b = n", "n += 1", "", "# b = a.clone()", "b = f(a, 1) + g(2)", "for k in range(3):"])
    assert.deepEqual(texts(line), [], line);
});

test("no statement is offered to keep the graph", () => {
  for (const line of ["loss.backward()", "loss.backward(torch.ones_like(loss))", "g, = torch.autograd.grad(loss, w)"]) {
    assert.notDeepEqual(texts(line), [], line);
    assert.ok(!texts(line).some((text) => text.includes("retain_graph")), line);
  }
});

test("a missing import comes along", () => {
  const [deepcopy] = found("b = a.clone()").filter(({ name }) => name === "deepcopy");
  assert.deepEqual(editsReplacingLine("import torch\nb = a.clone()", 2, deepcopy), {
    edits: [
      { line: 2, old: "b = a.clone()", new: "b = copy.deepcopy(a)" },
      { line: 1, old: "import torch", new: "import copy\nimport torch" },
    ],
    line: 3,
  });
  assert.equal(editsReplacingLine("import copy\nb = a.clone()", 2, deepcopy).edits.length, 1);
});

test("a sibling's mark: the same numbers at the end, others, or none", () => {
  const run = (status: string) => ({ trace: { outcome: { status } } });
  const compared = (status: string, differences: any[]) =>
    alternativeEffectOf({ left: run("finished"), right: run(status), rows: [0, 1, 2], differences } as any);
  assert.equal(compared("finished", []), "same");
  assert.equal(
    compared("finished", [
      { property: "memory", to: 2 },
      { property: "values", to: 1 },
    ]),
    "same",
  );
  assert.equal(compared("finished", [{ property: "grad", to: 2 }]), "other");
  assert.equal(compared("raised", []), "stops");
});
