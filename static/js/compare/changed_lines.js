/** Highlights lines of an editor: those that the other side does not have. */

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

/** @returns {{extension: import("@codemirror/state").Extension, show: (lines: Set<number>) => void}} */
export function createChangedLines() {
  /** @type {EditorView | null} */
  let view = null;
  /** @type {import("@codemirror/state").StateEffectType<Set<number>>} */
  const setLines = StateEffect.define();
  const changedMarks = StateField.define({
    create: () => Decoration.none,
    update(current, { effects, changes, state }) {
      const setEffect = effects.find((effect) => effect.is(setLines));
      if (!setEffect) return current.map(changes);
      const validLines = [.../** @type {Set<number>} */ (setEffect.value)].filter(
        (line) => line >= 1 && line <= state.doc.lines,
      );
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
