/** Python's grammar as the editor has it. */

import { pythonLanguage } from "@codemirror/lang-python";

/** @typedef {import("@lezer/common").Tree} Tree */

/** @param {string} source @returns {Tree} */
export function parsePython(source) {
  return pythonLanguage.parser.parse(source);
}

/** Whether a node is one of which the grammar knows nothing. It does not know numbers like `1.` either, but Python does.
 * @param {import("@lezer/common").SyntaxNode} node */
export function isSyntaxError({ type, parent }) {
  return type.isError && !(parent?.name === "MemberExpression" && parent.firstChild?.name === "Number");
}

/** Whether the grammar knows all of a text. @param {Tree} tree */
export function hasNoErrors(tree) {
  let isErrorFree = true;
  tree.iterate({
    enter(cursor) {
      if (cursor.type.isError && isSyntaxError(cursor.node)) isErrorFree = false; // a node is made only where it is asked for
      return isErrorFree;
    },
  });
  return isErrorFree;
}

/** What a line begins with before its first letter. @param {string} line */
export function indentOf(line) {
  return /^[ \t\f]*/.exec(line)?.[0] ?? "";
}
