/** Python's grammar as the editor has it. */

import { pythonLanguage } from "@codemirror/lang-python";

/** @typedef {import("@lezer/common").Tree} Tree */

/** @param {string} source @returns {Tree} */
export function parse(source) {
  return pythonLanguage.parser.parse(source);
}

/** Whether a node is one of which the grammar knows nothing. It does not know numbers like `1.` either, but Python does.
 * @param {import("@lezer/common").SyntaxNode} node */
export function isError({ type, parent }) {
  return type.isError && !(parent?.name === "MemberExpression" && parent.firstChild?.name === "Number");
}

/** Whether the grammar knows all of a text. @param {Tree} tree */
export function isWhole(tree) {
  let whole = true;
  tree.iterate({
    enter(at) {
      if (at.type.isError && isError(at.node)) whole = false; // a node is made only where it is asked for
      return whole;
    },
  });
  return whole;
}

/** What a line begins with before its first letter. @param {string} line */
export function indentOf(line) {
  return /^[ \t\f]*/.exec(line)?.[0] ?? "";
}
