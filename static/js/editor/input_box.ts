/** The field for what a program reads: it is there where the program asks for it. */

import type { PageState } from "../page_state/state.ts";

/** A call of `input`, or the stream by its name, before a comment. */
const READS_INPUT_PATTERN = /^[^#\n]*(?:(?<![.\w])input(?<!\bdef\s+input)\s*\(|\bstdin\b)/m;

/** Whether a program's text asks for lines. */
export function doesProgramReadInput(text: string) {
  return READS_INPUT_PATTERN.test(text);
}

/** `open` leads the reader to the field, which stands with its label in `box`. */
export function createInputBox(
  box: HTMLElement,
  field: HTMLTextAreaElement,
): { render: (state: PageState) => void; open: () => void } {
  return {
    render({ text, settings }) {
      box.hidden = !doesProgramReadInput(text) && !settings.input;
      field.rows = Math.min(6, Math.max(2, field.value.split("\n").length));
    },
    open() {
      box.hidden = false;
      box.scrollIntoView({ block: "nearest" });
      field.focus();
    },
  };
}
