/** Python's grammar as the editor has it. */

import { pythonLanguage } from "@codemirror/lang-python";
import type { SyntaxNode, Tree } from "@lezer/common";

export function parsePython(source: string): Tree {
  return pythonLanguage.parser.parse(source);
}

/** Whether a node is one of which the grammar knows nothing. It does not know numbers like `1.` either, but Python
 * does. */
export function isSyntaxError({ type, parent }: SyntaxNode) {
  return type.isError && !(parent?.name === "MemberExpression" && parent.firstChild?.name === "Number");
}

/** Whether the grammar knows all of a text. */
export function hasNoSyntaxErrors(tree: Tree) {
  let isErrorFree = true;
  tree.iterate({
    enter(cursor) {
      // a node is made only where it is asked for
      if (cursor.type.isError && isSyntaxError(cursor.node)) isErrorFree = false;
      return isErrorFree;
    },
  });
  return isErrorFree;
}

/** What a line begins with before its first letter. */
export function indentationOf(line: string) {
  return /^[ \t\f]*/.exec(line)?.[0] ?? "";
}
