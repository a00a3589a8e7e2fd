import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryAndNodesFreedAt, linesAffectedByEdits } from "../../builder/preview_effects.ts";
import { openTrace } from "../../trace/state.ts";
import { frame, node, ref, storage, tensor, trace, vars } from "../entities.ts";

/** Steps at lines, from 1, that end so. */
function ran(lines: number[], outcome: any = { status: "finished" }) {
  const made = openTrace(
    trace(
      "",
      lines.map(() => ({ set: {} })),
    ),
  );
  made.trace.steps.forEach((step, k) => {
    step.line = lines[k];
  });
  made.trace.outcome = outcome;
  return made;
}

test("cards that a preview does not reach are told from the one that raises, below imports and the card", () => {
  const base = ran([1, 2, 3, 2, 3, 5]);
  const edits = [
    { from: 1, to: 1, lines: ["import copy"] },
    { from: 2, to: 2, lines: ["del y", "z = 1"] },
  ];
  const preview = ran([1, 2, 3, 4, 5, 6], { status: "raised", error: { line: 6 } });
  assert.deepEqual(
    [...linesAffectedByEdits(base, preview, edits)],
    [
      [2, "raises"],
      [4, "missed"],
    ],
  );
  assert.equal(linesAffectedByEdits(base, ran([1]), edits).size, 0, "it ran to its end");
  assert.equal(linesAffectedByEdits(null, preview, edits).size, 0, "there is no run of the text");
  const raised = ran([1, 2], { status: "raised", error: { line: 2 } });
  assert.equal(
    linesAffectedByEdits(raised, ran([1, 2], { status: "raised", error: { line: 2 } }), []).size,
    0,
    "it does now",
  );
});

test("a step ends memory that had a name, and nodes", () => {
  const opened = openTrace(
    trace("y = x.exp()\ndel y\n", [
      {
        set: {
          n1: node("ExpBackward0", []),
          s1: storage([1, 2]),
          s2: storage([3, 4]),
          t1: tensor({ storage: "s1", grad_fn: "n1", leaf: false }),
          t2: tensor({ storage: "s2" }),
          f1: frame({ y: ref("t1"), x: ref("t2") }),
        },
      },
      { set: { f1: { ...vars({}), unset: ["y"] } }, gone: ["t1", "s1", "n1"] },
    ]),
  );
  assert.deepEqual(memoryAndNodesFreedAt(opened, 1), { memory: [{ name: "y", size: "8 B" }], nodes: ["Exp"] });
  assert.deepEqual(memoryAndNodesFreedAt(opened, 0), { memory: [], nodes: [] });
});
