/** The line of an editor that is being written: found by the grammar, or told by who ran it. */

import { ensureSyntaxTree } from "@codemirror/language";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";

/** @typedef {import("@codemirror/state").EditorState} EditorState */

/** Milliseconds that a look at the grammar of a text may take. */
const PARSE_MS = 25;

/** @type {import("@codemirror/state").StateEffectType<{line: number, words: string} | null>} */
export const setUnfinished = StateEffect.define();

class WordsWidget extends WidgetType {
  /** @param {string} words */
  constructor(words) {
    super();
    this.words = words;
  }

  /** @param {WordsWidget} other */
  eq(other) {
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
export const unfinishedField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(setUnfinished)) next = unfinishedDecorations(transaction.state, effect.value);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** @param {EditorState} state @param {{line: number, words: string} | null} unfinished */
function unfinishedDecorations(state, unfinished) {
  if (!unfinished || unfinished.line < 1 || unfinished.line > state.doc.lines) return Decoration.none;
  const { from, to, text } = state.doc.line(unfinished.line);
  const begin = from + text.length - text.trimStart().length;
  const end = from + text.trimEnd().length;
  const widget = Decoration.widget({ widget: new WordsWidget(unfinished.words), side: 1 }).range(to);
  return Decoration.set(
    begin < end ? [Decoration.mark({ class: "cm-unfinished" }).range(begin, end), widget] : [widget],
  );
}

/** What the editor's grammar takes for unfinished, though Python does not: numbers like `1.`, and a `yield` of nothing. */
const COMPLETE = /(?:(?:^|[^\w.])[\d_]+\.|\byield)$/;

/** The line at which a text ends in the middle of something, as far as its grammar says. @param {EditorState} state
 * @returns {number | null} null: nowhere */
export function unfinishedLine(state) {
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS);
  const errorPosition = tree ? firstErrorPosition(tree, (from, to) => state.sliceDoc(from, to)) : null;
  return errorPosition === null ? null : state.doc.lineAt(state.sliceDoc(0, errorPosition).trimEnd().length).number;
}

/** The place of the first error. @param {import("@lezer/common").Tree} tree of a text @param {(from: number, to: number) => string} textOf
 * a part of the text @returns {number | null} */
export function firstErrorPosition(tree, textOf) {
  /** @type {number | null} */
  let errorPosition = null;
  tree.iterate({
    enter({ type, from }) {
      if (errorPosition === null && type.isError && !COMPLETE.test(textOf(Math.max(0, from - 30), from)))
        errorPosition = from;
      return errorPosition === null;
    },
  });
  return errorPosition;
}
