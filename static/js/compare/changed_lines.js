/** Highlights lines of an editor: those that the other side does not have. */

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

/** @returns {{extension: import("@codemirror/state").Extension, show: (lines: Set<number>) => void}} */
export function createChangedLines() {
  /** @type {EditorView | null} */
  let view = null;
  /** @type {import("@codemirror/state").StateEffectType<Set<number>>} */
  const setLines = StateEffect.define();
  const marks = StateField.define({
    create: () => Decoration.none,
    update(current, { effects, changes, state }) {
      const next = effects.find((effect) => effect.is(setLines));
      if (!next) return current.map(changes);
      const known = [.../** @type {Set<number>} */ (next.value)].filter((line) => line >= 1 && line <= state.doc.lines);
      const starts = known.sort((a, b) => a - b).map((line) => state.doc.line(line).from);
      return Decoration.set(starts.map((at) => Decoration.line({ class: "cm-changed" }).range(at)));
    },
    provide: (field) => EditorView.decorations.from(field),
  });
  const capture = ViewPlugin.define((own) => {
    view = own;
    return {};
  });
  return { extension: [marks, capture], show: (lines) => view?.dispatch({ effects: setLines.of(lines) }) };
}
