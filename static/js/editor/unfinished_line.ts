/** The line at which a text ends in the middle of something, found by the grammar. */

import { ensureSyntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { Tree } from "@lezer/common";

/** Milliseconds that a look at the grammar of a text may take. */
const MAX_PARSE_MS = 25;

/**
 * What the editor's grammar takes for unfinished, though Python does not: numbers like `1.`, and a `yield` of nothing.
 */
const COMPLETE_ENDING_PATTERN = /(?:(?:^|[^\w.])[\d_]+\.|\byield)$/;

/** The line at which a text ends in the middle of something, as far as its grammar says; null where it does not. */
export function unfinishedLine(state: EditorState): number | null {
  const tree = ensureSyntaxTree(state, state.doc.length, MAX_PARSE_MS);
  const errorPosition = tree ? firstSyntaxErrorPosition(tree, (from, to) => state.sliceDoc(from, to)) : null;
  return errorPosition === null ? null : state.doc.lineAt(state.sliceDoc(0, errorPosition).trimEnd().length).number;
}

/** The place of the first error in the tree of a text; null where there is none. `textOf` gives a part of the text. */
export function firstSyntaxErrorPosition(tree: Tree, textOf: (from: number, to: number) => string): number | null {
  let errorPosition: number | null = null;
  tree.iterate({
    enter({ type, from }) {
      if (errorPosition === null && type.isError && !COMPLETE_ENDING_PATTERN.test(textOf(Math.max(0, from - 30), from)))
        errorPosition = from;
      return errorPosition === null;
    },
  });
  return errorPosition;
}
