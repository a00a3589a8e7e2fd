/** The messages at the lines of an editor: errors, notices and outputs, with the offers of repairs. */

import {
  Facet,
  StateEffect,
  StateField,
  type EditorState,
  type StateEffectType,
  type Transaction,
} from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";
import { lineMessageElement } from "./message_box.ts";
import type { LineMessage } from "../program/line_message.ts";

/** Whether marks stay beside their lines while the text is edited; else an edit takes them away. */
export const keepMarksFacet: Facet<boolean, boolean> = Facet.define({ combine: (values) => values.some(Boolean) });

/** The marks of a text after a change of it. */
export function decorationsAfterChange(marks: DecorationSet, transaction: Transaction) {
  if (!transaction.docChanged) return marks;
  return transaction.startState.facet(keepMarksFacet) ? marks.map(transaction.changes) : Decoration.none;
}

export const setMessagesEffect: StateEffectType<LineMessage[]> = StateEffect.define();
/** takes the errors away, and leaves the other messages where they are */
export const dropErrorsEffect: StateEffectType<null> = StateEffect.define();

class MessageWidget extends WidgetType {
  message: LineMessage;

  constructor(message: LineMessage) {
    super();
    this.message = message;
  }

  eq(other: MessageWidget) {
    return other.message.text === this.message.text && other.message.kind === this.message.kind;
  }

  toDOM() {
    return lineMessageElement(this.message);
  }

  ignoreEvent() {
    return true;
  }
}

export const messageField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = decorationsAfterChange(marks, transaction);
    for (const effect of transaction.effects) {
      if (effect.is(setMessagesEffect)) next = messageDecorations(transaction.state, effect.value);
      if (effect.is(dropErrorsEffect)) next = next.update({ filter: (_from, _to, mark) => !isErrorDecoration(mark) });
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Whether a decoration is of an error, or of its line. */
function isErrorDecoration({ spec }: Decoration) {
  return spec.class === "cm-error" || spec.widget?.message?.kind === "error";
}

function messageDecorations(state: EditorState, list: LineMessage[]) {
  const ranges = [];
  for (const message of list) {
    const line = state.doc.line(Math.max(1, Math.min(message.line, state.doc.lines)));
    if (message.kind !== "output") ranges.push(Decoration.line({ class: `cm-${message.kind}` }).range(line.from));
    if (message.lineOnly) continue;
    ranges.push(
      Decoration.widget({ widget: new MessageWidget(message), block: !message.inline, side: 1 }).range(line.to),
    );
  }
  return Decoration.set(ranges, true);
}
