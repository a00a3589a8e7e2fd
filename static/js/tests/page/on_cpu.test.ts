// A program that asks for CUDA on a server without a GPU: it runs on the CPU at once, and one click leads back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { RUN, after, arrived, edited, opened, trace } from "../page_states.ts";
import { changedLines } from "../../page/program/on_cpu_notice.ts";

const EDIT = { line: 2, col: 5, end_line: 2, end_col: 11, text: '"cpu"' };
const SOURCE = "import torch\nx.to('cuda')\ny";
const ON_CPU = 'import torch\nx.to("cpu")\ny';

function failed(source: string, more: any = {}) {
  const repairs = [{ key: "cuda", edits: [EDIT], ...more.repair }];
  const outcome = {
    status: "raised",
    error: { type: "AssertionError", message: "no CUDA", line: 2, step: 1, repairs },
  };
  return trace(source, { outcome, ...more.trace });
}
const asked = (page = {}) => after(opened(page), edited(SOURCE), RUN);
const id = (state: any) => state.pending?.id;

test("it is run on the CPU without being asked, and its reader never sees the run that failed", () => {
  const before = asked();
  const state = after(before, arrived(id(before), failed(SOURCE)));
  assert.equal(state.pending?.source, ON_CPU);
  assert.equal(state.opened, before.opened);
  const shown = after(state, arrived(id(state), trace(ON_CPU)));
  assert.deepEqual([shown.text, shown.pending, shown.onCpu?.trace], [ON_CPU, null, shown.opened?.trace]);
});

test("one click leads back to the program and its own error, which is then run as it is", () => {
  const before = asked();
  const state = after(before, arrived(id(before), failed(SOURCE)));
  const back = after(state, arrived(id(state), trace(ON_CPU)), { type: "cpuRunUndone" });
  assert.deepEqual([back.text, back.onCpu, back.pending], [SOURCE, null, null]);
  assert.equal(back.opened?.trace.outcome.status, "raised");
  const again = after(back, RUN);
  const kept = after(again, arrived(id(again), failed(SOURCE)));
  assert.deepEqual([kept.pending, kept.text, kept.opened?.trace.outcome.status], [null, SOURCE, "raised"]);
  const other = after(kept, edited(`${SOURCE}\nz`), RUN);
  assert.notEqual(after(other, arrived(id(other), failed(`${SOURCE}\nz`))).pending, null, "another program");
});

test("a program that asks for CUDA on the CPU too is shown with its error, not run for ever", () => {
  const before = asked();
  const state = after(before, arrived(id(before), failed(SOURCE)));
  const shown = after(state, arrived(id(state), failed(ON_CPU)));
  assert.equal(shown.pending, null);
  assert.equal(shown.opened?.trace.program.source, ON_CPU);
});

test("the next program's run has no notice of this one", () => {
  const before = asked();
  const state = after(before, arrived(id(before), failed(SOURCE)));
  const next = after(state, arrived(id(state), trace(ON_CPU)), edited("other"), RUN);
  assert.equal(after(next, arrived(id(next), trace("other"))).onCpu, null);
});

test("what was pasted is edited where it was pasted, and comes back as it was", () => {
  const pasted = ">>> import torch\n>>> x.to('cuda')\n>>> y";
  const before = after(opened(), edited(pasted), RUN);
  const repair = { pasted: [{ ...EDIT, col: 9, end_col: 15 }] };
  const state = after(before, arrived(id(before), failed(SOURCE, { repair, trace: { pasted } })));
  assert.equal(state.pending?.source, '>>> import torch\n>>> x.to("cpu")\n>>> y');
  const shown = after(state, arrived(id(state), trace(ON_CPU, { pasted: state.pending?.source })));
  assert.equal(after(shown, { type: "cpuRunUndone" }, RUN).pending?.source, pasted);
});

test("where there is a GPU to choose, or the text was edited meanwhile, or nobody pressed Run, the error is shown", () => {
  const gpu = asked({ devices: ["cpu", "cuda"] });
  assert.equal(after(gpu, arrived(id(gpu), failed(SOURCE))).pending, null);
  const before = asked();
  assert.equal(after(before, edited("other"), arrived(id(before), failed(SOURCE))).pending, null);
  const page = opened({ traceUrl: "/t", source: SOURCE });
  assert.equal(after(page, arrived(id(page), failed(SOURCE))).onCpu, null);
  assert.equal(after(opened(), { type: "cpuRunUndone" }).onCpu, null);
});

test("the notice has each changed line as it was and as it is", () => {
  const source = "a = 1\nx.cuda()\nf(x.cuda(), 'cuda')";
  const edits = [
    { line: 1, col: 0, end_line: 1, end_col: 0, text: "import torch\n" },
    { line: 2, col: 1, end_line: 2, end_col: 8, text: ".clone()" },
    { line: 3, col: 3, end_line: 3, end_col: 10, text: ".clone()" },
    { line: 3, col: 12, end_line: 3, end_col: 18, text: '"cpu"' },
  ];
  assert.deepEqual(changedLines(source, edits), [
    { line: 1, before: "a = 1", after: "import torch\na = 1" },
    { line: 2, before: "x.cuda()", after: "x.clone()" },
    { line: 3, before: "f(x.cuda(), 'cuda')", after: 'f(x.clone(), "cpu")' },
  ]);
});
