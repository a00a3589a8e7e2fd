/** Highlights lines of an editor: those that the other side does not have. */

import { StateEffect, StateField, type Extension, type StateEffectType } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

export function createChangedLineHighlights(): { extension: Extension; show: (lines: Set<number>) => void } {
  let view: EditorView | null = null;
  const setLines: StateEffectType<Set<number>> = StateEffect.define();
  const changedMarks = StateField.define({
    create: () => Decoration.none,
    update(current, { effects, changes, state }) {
      const setEffect = effects.find((effect) => effect.is(setLines));
      if (!setEffect) return current.map(changes);
      const validLines = [...(setEffect.value as Set<number>)].filter((line) => line >= 1 && line <= state.doc.lines);
      const starts = validLines.sort((a, b) => a - b).map((line) => state.doc.line(line).from);
      return Decoration.set(starts.map((start) => Decoration.line({ class: "cm-changed" }).range(start)));
    },
    provide: (field) => EditorView.decorations.from(field),
  });
  const viewCapture = ViewPlugin.define((editorView) => {
    view = editorView;
    return {};
  });
  return { extension: [changedMarks, viewCapture], show: (lines) => view?.dispatch({ effects: setLines.of(lines) }) };
}
