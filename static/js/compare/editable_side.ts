/** A side that can be written: an editor, the run of its program, and what came of it. */

import { createEditor } from "../editor/editor.ts";
import * as tools from "../editor/editor_tools.ts";
import { programMessages } from "../program/program_messages.ts";
import { openTrace, type OpenTrace } from "../trace/state.ts";
import {
  loadTrace,
  problemOfResponse,
  runForTrace,
  TraceRequestError,
  type RequestProblem,
} from "../requests/trace_source.ts";
import { createSideView, elementOfSide } from "./side_view.ts";
import { StateEffect, StateField, type Extension, type StateEffectType } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** what the server sent of a side */
export interface InitialComparisonSide {
  source: string;
  trace_url: string | null;
  title: string;
}

interface EditableSideOptions {
  nonce: string;
  onRun: () => void;
  onChange: () => void;
  onLine: (line: number) => void;
}

export function createEditableSide(
  root: HTMLElement,
  initial: InitialComparisonSide,
  say: Locale["say"],
  { nonce, onRun, onChange, onLine }: EditableSideOptions,
) {
  const changedLines = createChangedLineHighlights();
  const editor = createEditor(elementOfSide(root, "code"), {
    source: initial.source,
    label: root.getAttribute("aria-label") ?? "",
    leaveHint: `Esc Tab: ${say("help_leave")}`,
    nonce,
    onRun,
    onChange,
    onLine,
    tools,
    extensions: changedLines.extension,
  });
  const view = createSideView(root, { setStepLine: editor.setStepLine, showChanged: changedLines.show }, say);
  let opened: OpenTrace | null = null;
  /** The text that `opened` is the run of. */
  let ranText = "";
  let traceFetch = new AbortController();

  function showProblem(problem: RequestProblem | null) {
    elementOfSide(root, "problem").hidden = problem === null;
    elementOfSide(root, "problem").textContent = problem ? say(problem.key, problem.args) : "";
  }

  /** What was pasted may have been cleaned before it ran: the editor shows what ran. */
  function open(trace: Trace, text: string) {
    opened = openTrace(trace);
    ranText = text;
    if (editor.text() === text && trace.program.source !== text) {
      editor.setText(trace.program.source);
      ranText = trace.program.source;
    }
    editor.setMessages(programMessages(trace, say, () => {}).filter(({ kind }) => kind === "error"));
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
    /** Runs the text, unless its run is there. Returns whether a trace of it is there. */
    async run(): Promise<boolean> {
      if (opened && editor.text() === ranText) return true;
      traceFetch.abort();
      traceFetch = new AbortController();
      const { signal } = traceFetch;
      const text = editor.text();
      showProblem(null);
      try {
        const isStored = text === initial.source && initial.trace_url;
        open(
          isStored ? await loadTrace(initial.trace_url ?? "", signal) : await runForTrace({ source: text }, signal),
          text,
        );
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof TraceRequestError)) throw error;
        showProblem(problemOfResponse(error.status, error.problem));
        return false;
      }
      return editor.text() === ranText;
    },
  };
}

/** Highlights lines of an editor: those that the other side does not have. */
function createChangedLineHighlights(): { extension: Extension; show: (lines: Set<number>) => void } {
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
