import assert from "node:assert/strict";
import { test } from "node:test";
import { compareOutputs } from "../../program/output_comparison.ts";
import { splitOutputAndError, normalizeOutput } from "../../program/output_normalize.ts";

const out = (text: string) => ({ kind: "out", stream: "stdout", text });

/** A trace of a program with one statement a line; each step is [line, what it shows, what it printed]. */
function trace(
  notices: any[],
  ran: [number, string | null, string][],
  outcome: any = { status: "finished" },
  source = "a\nb\nc\nd\ne",
) {
  const statements = source.split("\n").map((text, k) => ({
    line: k + 1,
    col: 0,
    end_line: k + 1,
    end_col: text.length,
    kind: "Expr",
    parent: null,
  }));
  const steps = ran.map(([line, shown, text], i) => ({
    i,
    kind: "statement",
    stmt: line - 1,
    line,
    frame: "f1",
    depth: 0,
    ...(shown === null ? {} : { shown }),
    log: text ? [out(text)] : [],
  }));
  return { program: { source, statements, notices }, steps, outcome };
}

const printed = (line: number, text: string, more = {}) => ({
  line,
  kind: "printed",
  args: { text, from: line, ...more },
});
const claimed = (line: number, text: string, more = {}) => ({
  line,
  kind: "claimed",
  args: { text, from: line, ...more },
});
const brief = (recorded: any) => compareOutputs(recorded).map((row) => [row.line, row.verdict, row.step]);

test("a session's outputs beside what torch shows and prints", () => {
  const recorded = trace(
    [printed(1, "tensor([ 0., 1.])\n"), printed(2, "x 1\n2"), printed(3, "tensor(2.)")],
    [
      [1, "tensor([0., 1.])", ""],
      [2, null, "x 1\n"],
      [2, "2", ""],
      [3, "tensor(2., requires_grad=True)", ""],
    ],
  );
  assert.deepEqual(brief(recorded), [
    [1, "same", 0],
    [2, "same", 2],
    [3, "different", 3],
  ]);
  assert.equal(compareOutputs(recorded)[2].got, "tensor(2., requires_grad=True)");
});

test("what was not run is not reached, and no verdict is given", () => {
  const recorded = trace([printed(1, "1"), printed(2, "2"), printed(1, "0", { orphan: true })], [[1, "1", ""]], {
    status: "raised",
    error: { type: "ValueError", message: "", step: 0 },
  });
  assert.deepEqual(
    compareOutputs(recorded).map((row) => row.verdict),
    ["different", "not reached", "not reached"],
  );
  assert.deepEqual(compareOutputs({ ...recorded, steps: [] }), []);
  const stopped = trace([printed(1, "1\n2")], [[1, null, "1\n"]], { status: "stopped" });
  assert.deepEqual(brief(stopped), [[1, "not reached", 0]]);
  const thinned = trace([printed(1, "1")], [[1, "1", ""]]);
  (thinned.steps[0] as any).skipped = 3;
  assert.deepEqual(compareOutputs(thinned), []);
});

test("an error is held against the one that was raised", () => {
  const error = {
    type: "RuntimeError",
    message: "one of the variables needed for gradient computation has been modified by an inplace operation",
    step: 0,
  };
  const raised = { status: "raised", error };
  const verdict = (text: string) => {
    const [row] = compareOutputs(trace([printed(1, text)], [[1, null, ""]], raised));
    return [row.verdict, row.partly];
  };
  assert.deepEqual(
    verdict(`Traceback (most recent call last):\n  File "<stdin>", line 1\nRuntimeError: ${error.message}`),
    ["same", false],
  );
  assert.deepEqual(
    verdict("RuntimeError: one of the variables needed for gradient\ncomputation has been modified by an"),
    ["same", true],
  );
  assert.deepEqual(verdict("RuntimeError: other words"), ["different", false]);
  assert.deepEqual(verdict(`ValueError: ${error.message}`), ["different", false]);
  assert.deepEqual(verdict("tensor(1.)"), ["different", false]);
  assert.deepEqual(brief(trace([printed(1, "ValueError: x")], [[1, null, "ValueError: x\n"]])), [[1, "same", 0]]);
  assert.deepEqual(brief(trace([printed(1, "ValueError: x")], [[1, "2", ""]])), [[1, "different", 0]]);
});

test("a notebook shows the last value of a cell only", () => {
  const ran = [
    [1, "1", ""],
    [2, null, "p\n"],
    [3, "3", ""],
  ] as [number, string | null, string][];
  assert.deepEqual(brief(trace([printed(3, "p\nOut[2]: 3", { from: 1, cell: true })], ran)), [[3, "same", 2]]);
  assert.deepEqual(brief(trace([printed(3, "1\np\n3", { from: 1, cell: true })], ran)), [[3, "different", 2]]);
});

test("a comment's claim: labels, None, numbers that stand for tensors", () => {
  const ran = [
    [1, null, "Original: tensor([99.,  2.])\n"],
    [2, "", ""],
    [3, "", "tensor(2.)\n"],
    [4, "", "2.5\n"],
    [5, "", "None\n"],
  ] as [number, string | null, string][];
  const recorded = trace(
    [
      claimed(1, "tensor([99.0, 2.])", { label: "Original:" }),
      claimed(2, "None"),
      claimed(3, "2"),
      claimed(4, "2.50"),
      claimed(5, "None"),
    ],
    ran,
  );
  assert.deepEqual(brief(recorded), [
    [1, "same", 0],
    [2, "same", 1],
    [4, "different", 3],
    [5, "same", 4],
  ]);
});

test("a text that stands alone holds all outputs since the last one", () => {
  const ran = [
    [1, "", "1\n"],
    [2, "9", "True False\n"],
    [3, null, ""],
    [4, "", "[1, 2]\n"],
    [5, null, ""],
  ] as [number, string | null, string][];
  const recorded = trace([claimed(3, "1 True\nFalse", { block: true }), claimed(5, "[1,2]", { block: true })], ran);
  assert.deepEqual(brief(recorded), [
    [3, "same", 1],
    [5, "same", 3],
  ]);
});

test("what a function prints belongs to who called it", () => {
  const recorded = trace(
    [printed(2, "in\n2")],
    [
      [2, "2", ""],
      [3, "3", ""],
    ],
    { status: "finished" },
    "def f(): print('in')\nf()\n3",
  );
  recorded.steps.unshift({ i: 0, kind: "statement", stmt: 0, line: 1, frame: "f2", depth: 1, log: [out("in\n")] });
  recorded.steps.unshift({ i: 0, kind: "call", stmt: 1, line: 2, frame: "f1", depth: 0, log: [] });
  assert.deepEqual(brief(recorded), [[2, "same", 2]]);
});

test("what counts in a spelling", () => {
  const alike = [
    ["tensor([ 0.,  0.,\n 1.])", "tensor([0., 0., 1.])"],
    ["tensor([1.0, 2e-3])", "tensor([1., 2.0000e-03])"],
    ["<AddBackward0 object at 0x7f12>", "<AddBackward0 object at 0x9a>"],
    ["a  \r\nb\n\n", "a\nb"],
    ["Parameter containing:\ntensor([1.])", "Parameter containing: tensor([ 1. ])"],
  ];
  for (const [left, right] of alike)
    assert.equal(normalizeOutput(left, false, false), normalizeOutput(right, false, false));
  const apart = [
    ["tensor([1, 2])", "tensor([1., 2.])"],
    ["tensor(-0.)", "tensor(0.)"],
    ["tensor(1., grad_fn=<CloneBackward>)", "tensor(1., grad_fn=<CloneBackward0>)"],
    ["tensor([0.5000])", "tensor(0.5)"],
    ["loss 1.0", "loss 1.00"],
    ["a b", "ab"],
    ["140568935450520", "140568935450521"],
  ];
  for (const [left, right] of apart)
    assert.notEqual(normalizeOutput(left, false, false), normalizeOutput(right, false, false));
  assert.equal(normalizeOutput("140568935450520", false, true), normalizeOutput("140568935450521", false, true));
  assert.equal(normalizeOutput("[1,2]", true, false), normalizeOutput("[1, 2]", true, false));
  assert.notEqual(normalizeOutput("['a b']", true, false), normalizeOutput("['ab']", true, false));
});

test("warnings go to another stream and are left out", () => {
  const text = "<stdin>:1: UserWarning: To copy construct\n  b = torch.tensor(a)\ntensor(1.)";
  assert.deepEqual(splitOutputAndError(text), { whole: "tensor(1.)", text: "tensor(1.)", error: null });
  assert.deepEqual(compareOutputs(trace([printed(1, "x.py:3: UserWarning: only\n  this")], [[1, null, ""]])), []);
});
