/** The field for what a program reads: it is there where the program asks for it. */

/** A call of `input`, or the stream by its name, before a comment. */
const READS_INPUT = /^[^#\n]*(?:(?<![.\w])input(?<!\bdef\s+input)\s*\(|\bstdin\b)/m;

/** Whether a program's text asks for lines. @param {string} text */
export function readsInput(text) {
  return READS_INPUT.test(text);
}

/**
 * @param {HTMLElement} box the field with its label @param {HTMLTextAreaElement} field
 * @returns {{render: (state: import("../page_state/page_state.js").PageState) => void, open: () => void}} open: leads the reader there
 */
export function createInputBox(box, field) {
  return {
    render({ text, settings }) {
      box.hidden = !readsInput(text) && !settings.input;
      field.rows = Math.min(6, Math.max(2, field.value.split("\n").length));
    },
    open() {
      box.hidden = false;
      box.scrollIntoView({ block: "nearest" });
      field.focus();
    },
  };
}
