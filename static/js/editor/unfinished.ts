/** The line of an editor that is being written: found by the grammar, or told by who ran it. */

import { ensureSyntaxTree } from "@codemirror/language";
import { StateEffect, StateField, type EditorState, type StateEffectType } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import type { Tree } from "@lezer/common";

/** Milliseconds that a look at the grammar of a text may take. */
const MAX_PARSE_MS = 25;

export const setUnfinishedLineEffect: StateEffectType<{ line: number; words: string } | null> = StateEffect.define();

class UnfinishedLineWidget extends WidgetType {
  words: string;

  constructor(words: string) {
    super();
    this.words = words;
  }

  eq(other: UnfinishedLineWidget) {
    return other.words === this.words;
  }

  toDOM() {
    const box = document.createElement("span");
    box.className = "cm-words";
    box.textContent = `…${this.words}`;
    box.setAttribute("aria-hidden", "true");
    return box;
  }
}

/** The line that is being written. */
export const unfinishedLineField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(setUnfinishedLineEffect)) next = unfinishedLineDecorations(transaction.state, effect.value);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function unfinishedLineDecorations(state: EditorState, unfinished: { line: number; words: string } | null) {
  if (!unfinished || unfinished.line < 1 || unfinished.line > state.doc.lines) return Decoration.none;
  const { from, to, text } = state.doc.line(unfinished.line);
  const begin = from + text.length - text.trimStart().length;
  const end = from + text.trimEnd().length;
  const widget = Decoration.widget({ widget: new UnfinishedLineWidget(unfinished.words), side: 1 }).range(to);
  return Decoration.set(
    begin < end ? [Decoration.mark({ class: "cm-unfinished" }).range(begin, end), widget] : [widget],
  );
}

/** What the editor's grammar takes for unfinished, though Python does not: numbers like `1.`, and a `yield` of nothing. */
const COMPLETE_ENDING_PATTERN = /(?:(?:^|[^\w.])[\d_]+\.|\byield)$/;

/** The line at which a text ends in the middle of something, as far as its grammar says. @returns null: nowhere */
export function unfinishedLine(state: EditorState): number | null {
  const tree = ensureSyntaxTree(state, state.doc.length, MAX_PARSE_MS);
  const errorPosition = tree ? firstSyntaxErrorPosition(tree, (from, to) => state.sliceDoc(from, to)) : null;
  return errorPosition === null ? null : state.doc.lineAt(state.sliceDoc(0, errorPosition).trimEnd().length).number;
}

/** The place of the first error. @param tree of a text @param textOf a part of the text */
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
