/** A side that can be written: an editor, the run of its program, and what came of it. */

import { createEditor } from "../editor/editor.js";
import { messages } from "../program/messages.js";
import { openTrace } from "../trace/state.js";
import { loadTrace, problemOfResponse, requestTrace, TraceError } from "../requests/trace_source.js";
import { createChangedLines } from "./changed_lines.js";
import { createSideView, partOf } from "./side_view.js";

/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */
/** @typedef {{source: string, trace_url: string | null, title: string}} InitialSide what the server sent of a side */
/** @typedef {ReturnType<typeof createSide>} Side */

/**
 * @param {HTMLElement} root the side's part of the page
 * @param {InitialSide} initial
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{nonce: string, onRun: () => void, onChange: () => void, onLine: (line: number) => void}} options
 */
export function createSide(root, initial, say, { nonce, onRun, onChange, onLine }) {
  const changedLines = createChangedLines();
  const editor = createEditor(partOf(root, "code"), {
    source: initial.source,
    label: root.getAttribute("aria-label") ?? "",
    leaveHint: `Esc Tab: ${say("help_leave")}`,
    nonce,
    onRun,
    onChange,
    onLine,
    extensions: changedLines.extension,
  });
  const view = createSideView(root, { setStepLine: editor.setStepLine, showChanged: changedLines.show }, say);
  /** @type {OpenTrace | null} */
  let opened = null;
  /** The text that `opened` is the run of. */
  let ranText = "";
  let traceFetch = new AbortController();

  /** @param {import("../page_state/page_state.js").Problem | null} problem */
  function showProblem(problem) {
    partOf(root, "problem").hidden = problem === null;
    partOf(root, "problem").textContent = problem ? say(problem.key, problem.args) : "";
  }

  /** What was pasted may have been cleaned before it ran: the editor shows what ran. @param {import("../trace/wire.js").Trace} trace
   * @param {string} text */
  function open(trace, text) {
    opened = openTrace(trace);
    ranText = text;
    if (editor.text() === text && trace.program.source !== text) {
      editor.setText(trace.program.source);
      ranText = trace.program.source;
    }
    editor.setMessages(messages(trace, say, () => {}).filter(({ kind }) => kind === "error"));
  }

  return {
    view,
    text: editor.text,
    setText: editor.setText,
    get opened() {
      return opened;
    },
    /** Whether the text is still the one that the server sent. */
    isFirst: () => editor.text() === initial.source,
    isCurrent: () => opened !== null && editor.text() === ranText,
    focused: editor.focused,
    /** Run the text, unless its run is there. @returns {Promise<boolean>} whether a trace of it is there */
    async run() {
      if (opened && editor.text() === ranText) return true;
      traceFetch.abort();
      traceFetch = new AbortController();
      const { signal } = traceFetch;
      const text = editor.text();
      showProblem(null);
      try {
        const isStored = text === initial.source && initial.trace_url;
        open(
          isStored ? await loadTrace(initial.trace_url ?? "", signal) : await requestTrace({ source: text }, signal),
          text,
        );
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof TraceError)) throw error;
        showProblem(problemOfResponse(error.status, error.problem));
        return false;
      }
      return editor.text() === ranText;
    },
  };
}
