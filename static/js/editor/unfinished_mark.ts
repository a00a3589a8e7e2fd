/** The mark of the line that is being written, with what is said of it. */

import { StateEffect, StateField, type EditorState, type StateEffectType } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";

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
