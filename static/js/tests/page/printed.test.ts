/** What was printed is shown from its end: nothing is lost, nothing stands twice. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lastOutputPieces, emptyOutputKey } from "../../page/picture/output_pane.ts";

const pieces = ["abc", "", "defgh", "ij"].map((text, step) => ({ step, text, stream: "stdout" }));

test("what was printed is shown whole while it is short", () => {
  assert.deepEqual(lastOutputPieces(pieces, 10), { before: 0, pieces });
  assert.deepEqual(lastOutputPieces([]), { before: 0, pieces: [] });
});

test("of very much the end is shown, and what is not is counted", () => {
  for (let most = 1; most < 10; most++) {
    const { before, pieces: shown } = lastOutputPieces(pieces, most);
    const text = shown.map((piece) => piece.text).join("");
    assert.equal(text, "abcdefghij".slice(-most));
    assert.equal(before, 10 - most);
  }
});

test("where nothing is printed, the reason is said: not yet, never, or the program was not run", () => {
  const run = (status: string, steps: any[]) => ({ steps, outcome: { status } }) as any;
  assert.equal(emptyOutputKey(null), "nothing_printed");
  assert.equal(emptyOutputKey(run("finished", [{ log: [] }])), "prints_nothing");
  assert.equal(emptyOutputKey(run("refused", [])), "refused");
});
