import test from "node:test";
import assert from "node:assert/strict";
import { circleMark, pathMark, rectMark, textMark } from "../../browser/shapes.ts";
import { vnodeToSvg } from "../../browser/svg.ts";

test("a shape has its class, its place and what it says", () => {
  const text = textMark("note", 1, 2, "self", { key: "name", size: 12, title: "the input" });
  assert.equal(vnodeToSvg(text), '<text class="note" x="1" y="2" font-size="12">self<title>the input</title></text>');
  assert.equal(text.key, "name");
  assert.equal(
    vnodeToSvg(rectMark("box", 1, 2, 3, 4, { rx: 2 })),
    '<rect class="box" x="1" y="2" width="3" height="4" rx="2"></rect>',
  );
  assert.equal(vnodeToSvg(circleMark("dot", 1, 2, 3)), '<circle class="dot" cx="1" cy="2" r="3"></circle>');
});

test("a shape with nothing else is named by its last argument", () => {
  const path = pathMark("rule", "M0 0H9", "line");
  assert.equal(path.key, "line");
  assert.equal(vnodeToSvg(path), '<path class="rule" d="M0 0H9"></path>');
});
