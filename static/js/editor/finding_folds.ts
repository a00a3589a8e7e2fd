/** Folds what lies between the lines of a finding, so that all of them are in sight at once. */

import { StateEffect, StateField, type EditorState, type StateEffectType } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";

/** first and last: lines, from 1 */
export interface FoldedLines {
  first: number;
  last: number;
}

/** Lines that stay around each line of a finding. */
const AROUND = 1;
/** Fewer aren't worth a fold. */
const LEAST = 4;

const setFoldsEffect: StateEffectType<{ folds: FoldedLines[]; label: (fold: FoldedLines) => string }> =
  StateEffect.define();

/** The lines between those of a finding; none where all of them are close together. */
export function foldsBetween(lines: number[], count: number): FoldedLines[] {
  const sorted = [...new Set(lines)].filter((line) => line >= 1 && line <= count).sort((a, b) => a - b);
  return sorted.slice(1).flatMap((line, k) => {
    const fold = { first: sorted[k] + AROUND + 1, last: line - AROUND - 1 };
    return fold.last - fold.first + 1 >= LEAST ? [fold] : [];
  });
}

class FoldWidget extends WidgetType {
  label: string;

  constructor(label: string) {
    super();
    this.label = label;
  }

  eq(other: FoldWidget) {
    return other.label === this.label;
  }

  toDOM(view: EditorView) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "cm-finding-fold";
    button.textContent = this.label;
    button.addEventListener("click", () => view.dispatch({ effects: foldEffect([], () => "") }));
    return button;
  }

  ignoreEvent() {
    return true;
  }
}

/** A change of the text unfolds all. */
export const findingFoldField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(folds, transaction) {
    let next = transaction.docChanged ? Decoration.none : folds;
    for (const effect of transaction.effects)
      if (effect.is(setFoldsEffect)) next = foldDecorations(transaction.state, effect.value);
    return next;
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
});

export function foldEffect(folds: FoldedLines[], label: (fold: FoldedLines) => string) {
  return setFoldsEffect.of({ folds, label });
}

function foldDecorations(
  { doc }: EditorState,
  { folds, label }: { folds: FoldedLines[]; label: (fold: FoldedLines) => string },
) {
  return Decoration.set(
    folds.map((fold) =>
      Decoration.replace({ widget: new FoldWidget(label(fold)), block: true }).range(
        doc.line(fold.first).from,
        doc.line(fold.last).to,
      ),
    ),
  );
}

/** Whether lines are farther apart than the editor is high, as far as that is known of lines out of sight. */
export function isHigherThanEditor(view: EditorView, lines: number[]): boolean {
  const { doc } = view.state;
  const [first, last] = [Math.max(1, Math.min(...lines) - AROUND), Math.min(doc.lines, Math.max(...lines) + AROUND)];
  const letters = Math.max(20, Math.floor(view.contentDOM.clientWidth / view.defaultCharacterWidth) - 2);
  let rows = 0;
  for (let line = first; line <= last; line++) rows += Math.max(1, Math.ceil(doc.line(line).length / letters));
  return rows * view.defaultLineHeight > view.scrollDOM.clientHeight;
}
