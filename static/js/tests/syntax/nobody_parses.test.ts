/** A module that reads the program's text has no regular expressions: nobody parses Python, but the editors do. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

const PAGE = "static/js";
const EDITORS = ["builder/", "editor/", "live/", "siblings/", "tests/"];
const READS_OF_TEXT = new Set(["statementCode", "statementText", "textOfStatement", "source"]);

/** Modules whose regular expressions are for other texts: messages, links, names, what a reader typed. */
const FOR_OTHER_TEXTS = new Set([
  "compare/align.ts",
  "findings/caught_error.ts",
  "findings/gradients/target_with_history.ts",
  "offline/offline_content.ts",
  "open_file/chosen_file.ts",
  "open_file/workbench.ts",
  "trace/scalar_series.ts",
  "lesson/lesson_question.ts",
  "page_state/page_state.ts",
  "page_state/selectors.ts",
  "predict/card.ts",
  "program/repair.ts",
]);

/** Modules that still read Python by regular expressions. The list only gets shorter. */
const NOT_YET = new Set<string>([]);

/** Whether a module reads a program's text, and has regular expressions. */
function readsTextByPatterns(text: string): boolean {
  const file = ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, false);
  const found = { reads: false, patterns: false };
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) found.patterns = true;
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "RegExp")
      found.patterns = true;
    if (ts.isPropertyAccessExpression(node) && READS_OF_TEXT.has(node.name.text)) found.reads = true;
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.reads && found.patterns;
}

const parsing = readdirSync(PAGE, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !EDITORS.some((folder) => file.startsWith(folder)))
  .filter((file) => readsTextByPatterns(readFileSync(join(PAGE, file), "utf8")))
  .filter((file) => !FOR_OTHER_TEXTS.has(file));

test("no module reads Python by regular expressions, but for those that are to be ported", () => {
  assert.deepEqual(parsing.sort(), [...NOT_YET].sort());
});

test("a module that does would be found", () => {
  assert.ok(readsTextByPatterns("const x = /a/.test(facts.statementCode(1));"));
  assert.ok(readsTextByPatterns("const x = facts.source.some((t) => new RegExp(p).test(t));"));
  assert.ok(!readsTextByPatterns("const x = /a/.test(error.message);"));
  assert.ok(!readsTextByPatterns("// /a/\nconst x = facts.statementCode(1);"));
});
