import assert from "node:assert/strict";
import { test } from "node:test";
import { editedTextAfterFix, isShapeText, textAfterRepair } from "../../program/repair.ts";
import { after, edited, ran } from "../page_states.ts";

const edit = (line: number, col: number, end_line: number, end_col: number, text: string) => ({
  line,
  col,
  end_line,
  end_col,
  text,
});

test("edits of one repair are made at their places, whatever their order", () => {
  const edits = [edit(1, 0, 1, 1, "aa"), edit(1, 4, 1, 5, "bb"), edit(2, 1, 3, 1, "-"), edit(4, 0, 4, 0, "# ")];
  assert.equal(textAfterRepair({ source: "x = y\nfoo\nbar\nend" }, { key: "k", edits }), "aa = bb\nf-ar\n# end");
  assert.equal(
    textAfterRepair({ source: "x = y\nfoo\nbar\nend" }, { key: "k", edits: edits.reverse() }),
    "aa = bb\nf-ar\n# end",
  );
});

test("columns count characters, and a line may be put in", () => {
  assert.equal(textAfterRepair({ source: "'𝔘' + y" }, { key: "k", edits: [edit(1, 6, 1, 7, "z")] }), "'𝔘' + z");
  assert.equal(
    textAfterRepair({ source: "a\nb" }, { key: "k", edits: [edit(1, 1, 1, 1, "\nf'{n}{shape}'")] }),
    "a\nf'{n}{shape}'\nb",
  );
});

test("the pasted text is repaired where that can be done", () => {
  const program = { source: "a", pasted: "\ufeff>>> a\r\n1" };
  const repair = { key: "k", edits: [edit(1, 0, 1, 1, "b")], pasted: [edit(1, 4, 1, 5, "b")] };
  assert.equal(textAfterRepair(program, repair), ">>> b\n1");
  assert.equal(textAfterRepair(program, { ...repair, pasted: null }), "b");
});

test("the reader's shape stands in the text", () => {
  const repair = { key: "k", shape: "4, 4", edits: [edit(1, 0, 1, 1, "f(({shape}), {n})")] };
  assert.equal(textAfterRepair({ source: "a" }, repair), "f((4, 4), 4)");
  assert.equal(textAfterRepair({ source: "a" }, repair, " 7 ,"), "f((7), 7)");
  for (const good of ["4", "4, 4", " 64,3 , 8,8,"]) assert.ok(isShapeText(good), good);
  for (const bad of ["", "0", "-1", "4 4", "4,,4", "x", "4); import os", "1, 2, 3, 4, 5, 6, 7", "99999999"])
    assert.ok(!isShapeText(bad), bad);
});

test("a fix of a program that was edited since is made in the edited text, or not at all", () => {
  const program: any = { source: "a\nb\nc" };
  const edits = [{ line: 3, old: "c", new: "C" }];
  assert.equal(editedTextAfterFix(program, "a\nb\nc", edits), "a\nb\nC");
  assert.equal(editedTextAfterFix(program, "a\nmine\nb\nc", edits), "a\nmine\nb\nC");
  assert.equal(editedTextAfterFix(program, "a\nb\nc + 1", edits), null);
  const state = after(ran(), edited("a\nb\nc + 1"), { type: "fixApplied", edits });
  assert.equal(state.pending, null);
  assert.equal(state.text, "a\nb\nc + 1");
  assert.equal(state.problem?.key, "fix_edited");
  assert.equal(after(ran(), edited("a\nmine\nb\nc"), { type: "fixApplied", edits }).pending?.source, "a\nmine\nb\nC");
});
