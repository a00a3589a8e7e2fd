/** The messages at the lines of an editor: errors, notices and outputs, with the offers of repairs. */

import { Facet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, WidgetType } from "@codemirror/view";
import { messageBox } from "./message_box.js";

/** @typedef {import("@codemirror/state").EditorState} EditorState */
/** @typedef {import("./message_box.js").Message} Message */

/** Whether marks stay beside their lines while the text is edited; else an edit takes them away.
 * @type {import("@codemirror/state").Facet<boolean, boolean>} */
export const keepsMarks = Facet.define({ combine: (values) => values.some(Boolean) });

/** The marks of a text after a change of it. @param {import("@codemirror/view").DecorationSet} marks
 * @param {import("@codemirror/state").Transaction} transaction */
export function keptMarks(marks, transaction) {
  if (!transaction.docChanged) return marks;
  return transaction.startState.facet(keepsMarks) ? marks.map(transaction.changes) : Decoration.none;
}

/** @type {import("@codemirror/state").StateEffectType<Message[]>} */
export const setMessages = StateEffect.define();
/** @type {import("@codemirror/state").StateEffectType<null>} takes the errors away, and leaves the other messages where they are */
export const dropErrors = StateEffect.define();

class MessageWidget extends WidgetType {
  /** @param {Message} message */
  constructor(message) {
    super();
    this.message = message;
  }

  /** @param {MessageWidget} other */
  eq(other) {
    return other.message.text === this.message.text && other.message.kind === this.message.kind;
  }

  toDOM() {
    return messageBox(this.message);
  }

  ignoreEvent() {
    return true;
  }
}

export const messageField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = keptMarks(marks, transaction);
    for (const effect of transaction.effects) {
      if (effect.is(setMessages)) next = messageDecorations(transaction.state, effect.value);
      if (effect.is(dropErrors)) next = next.update({ filter: (_from, _to, mark) => !isError(mark) });
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Whether a decoration is of an error, or of its line. @param {Decoration} decoration */
function isError({ spec }) {
  return spec.class === "cm-error" || spec.widget?.message?.kind === "error";
}

/** @param {EditorState} state @param {Message[]} list */
function messageDecorations(state, list) {
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
