/**
 * The pane of the program: its editor with messages, its settings, the run's outcome and what differs from an article.
 */

import { createCards } from "./cards.ts";
import { showOutcome } from "../running/run_status.ts";
import { startCodeFold } from "../../editor/code_fold.ts";
import { createEditor, type EditorTools } from "../../editor/editor.ts";
import { createInputBox } from "../../editor/input_box.ts";
import { mayNotBeProgram, notAProgramRefusal } from "../../program/pasted_kind.ts";
import { programMessages } from "../../program/program_messages.ts";
import { outputComparisonMessages, showOutputSummary } from "../../editor/output_comparison.ts";
import { compareOutputs, type OutputRow } from "../../program/output_comparison.ts";
import { doesTraceMatchText, isPageProgram, isTraceUpToDate, wasEditedByHand } from "../../page_state/selectors.ts";
import { hasHiddenSteps } from "../../trace/steps/truncated_trace.ts";
import { questionBeforeNextStep } from "../../page_state/predict_mode.ts";
import { createSettingsFields } from "../../page_state/settings.ts";
import { lineHighlightTone } from "../../trace/steps/stepping.ts";
import { hasChangedField } from "../../browser/store.ts";
import { placeholder } from "@codemirror/view";
import type { HighlightedRange } from "../../editor/prebuilt_highlights.ts";
import type { PreviewStage } from "../../builder/card_preview.ts";
import type { ChainMark } from "../../findings/chain_marks.ts";
import type { Action } from "../../page_state/actions.ts";
import type { Repair } from "../../trace/wire.ts";
import type { Locale } from "../../words/sentences.ts";
import type { PageState } from "../../page_state/state.ts";
import type { LineMessage } from "../../program/line_message.ts";

/**
 * `elementById` gives an element of the page. On `previewStage` a card is drawn that is not in the program yet.
 * `colours` has the editor's tools, or the colours of the text until they come.
 */
export function createProgramPane(
  elementById: <T extends HTMLElement>(id: string) => T,
  { state: currentState, dispatch }: { state: () => PageState; dispatch: (action: Action) => void },
  say: Locale["say"],
  previewStage: PreviewStage,
  colours: { tools: EditorTools | null; painted: HighlightedRange[] },
) {
  const title = elementById("heading").textContent ?? "";
  const form = elementById("run-form") as HTMLFormElement;
  /** the article's outputs beside torch's */
  let outputRows: OutputRow[] = [];

  const codeFold = startCodeFold(elementById("editor"), elementById("fold"), () => showLine(currentState()));
  /** the keyboard was the editor's when the run was asked for: it is again, where there is nothing to step through */
  let editorHadFocus = false;
  /** the line that is marked as the next one */
  let nextLine: number | null = null;
  /** a finding says why the program raised */
  let isErrorExplained = false;

  new ResizeObserver(() => isErrorExplained && showLine(currentState())).observe(elementById("editor"));

  /** Run the program; from here on the keys are the picture's, until the editor is clicked again. */
  function run() {
    if (!form.reportValidity()) return;
    editorHadFocus = editor.focused();
    const { activeElement } = document;
    const isTyping =
      activeElement instanceof HTMLElement && activeElement.matches("[contenteditable], input, textarea");
    if (isTyping) activeElement.blur();
    codeFold.fold();
    dispatch({ type: "runRequested" });
  }
  /** Go to a step, and show its line where that step is shown already. */
  function go(step: number) {
    dispatch({ type: "stepChosen", step });
    showLine(currentState());
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  const editor = createEditor(elementById("editor"), {
    ...editorTexts(say),
    ...colours,
    source: currentState().text,
    onRun: run,
    onChange: () => dispatch({ type: "programEdited", text: editor.text() }),
    onLine: (line) => dispatch({ type: "lineChosen", line }),
    keepMarks: true,
  });
  // what is pasted for the whole program gets its answer at once, where it looks like none
  elementById("editor").addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    if (mayNotBeProgram(pasted))
      setTimeout(() => editor.text().trim() === pasted.replace(/\r\n?/g, "\n").trim() && run());
  });
  const cards = createCards(
    { form, buttons: elementById("program-as"), host: elementById("cards") },
    { editor, store: { state: currentState, dispatch }, stage: previewStage },
    () => dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  const input: HTMLTextAreaElement = elementById("input");
  const device = document.getElementById("device") as HTMLSelectElement | null;
  const fields = createSettingsFields({ seed: elementById("seed"), device, input }, (settings) =>
    dispatch({ type: "settingsChanged", settings }),
  );
  const inputBox = createInputBox(elementById("input-box"), input);

  /** Whether a step is at a line where the reader wants to stop. */
  function stopsAt(i: number) {
    const { opened } = currentState();
    return (
      opened !== null && doesTraceMatchText(currentState()) && editor.breakpoints().has(opened.trace.steps[i].line)
    );
  }

  const canStop = () => Boolean(currentState().opened?.count) && doesTraceMatchText(currentState());
  function toggleBreakpoint() {
    const { opened, step } = currentState();
    if (opened && canStop()) editor.toggleBreakpoint(opened.trace.steps[step].line);
  }

  /** The messages at the lines, while the editor shows the program that they are about. */
  function showMessages(state: PageState) {
    if (state.opened && !doesTraceMatchText(state) && state.isLive) {
      editor.dropErrors();
      cards.setMessages([]);
      return;
    }
    if (!state.opened || !doesTraceMatchText(state)) return setMessages([]);
    const repair = (offered: Repair, shape: string | undefined) =>
      offered.key === "type_input" ? inputBox.open() : dispatch({ type: "repairRequested", repair: offered, shape });
    const { trace } = state.opened;
    const lineMessages = programMessages(trace, say, repair).map((message) => ({
      ...message,
      lineOnly: isErrorExplained && message.kind === "error" && !message.offers?.length,
    }));
    setMessages([...lineMessages, ...outputComparisonMessages(outputRows, say, go)]);
  }

  function setMessages(list: LineMessage[]) {
    editor.setMessages(list);
    cards.setMessages(list);
  }

  /** The line of the step. */
  function showLine(state: PageState) {
    const { opened, step } = state;
    if (opened?.count && !doesTraceMatchText(state) && state.isLive) return; // the picture stays, and so does its line
    if (!opened?.count || !doesTraceMatchText(state)) return editor.setStepLine(null);
    const { line, kind } = opened.trace.steps[step];
    editor.setStepLine(line, lineHighlightTone(kind));
  }

  /** The line that predict mode asks about: marked, for it is not the step's. */
  function showNextLine(state: PageState) {
    const line = doesTraceMatchText(state) ? (questionBeforeNextStep(state.predict)?.line ?? null) : null;
    if (line !== null || nextLine !== null) editor.setNextLine(line);
    nextLine = line;
  }

  /** What is said of the page's program is not said of another one. */
  function showWhoseProgram(state: PageState, before: PageState | null) {
    const isOwn = isPageProgram(state);
    const { classList } = elementById("workbench");
    if (!isOwn && !classList.contains("other")) classList.toggle("by-button", !wasEditedByHand(state, before));
    else if (wasEditedByHand(state, before)) classList.remove("by-button");
    classList.toggle("other", !isOwn);
    elementById("heading").textContent = isOwn ? title : say("program");
  }

  /** `before` is null the first time. */
  function render(state: PageState, before: PageState | null) {
    const { opened, text } = state;
    const isProgramChanged = hasChangedField(state, before, "text", "opened");
    if (hasChangedField(state, before, "text") && text !== editor.text()) editor.setText(text);
    cards.render(state, before);
    if (hasChangedField(state, before, "settings")) fields.show(state.settings);
    if (hasChangedField(state, before, "text", "settings")) inputBox.render(state);
    if (hasChangedField(state, before, "opened")) {
      outputRows = opened && !hasHiddenSteps(opened.trace) ? compareOutputs(opened.trace) : [];
      showOutputSummary(elementById("outputs"), outputRows, say, { current: () => currentState().step, go });
      showOutcome(elementById, opened, say, go);
      const isAnswered = opened !== null && notAProgramRefusal(opened.trace) !== null; // beside the editor, or under it
      if (editorHadFocus && opened && !opened.count && !isAnswered && document.activeElement === document.body)
        editor.focus();
      editorHadFocus = false;
    }
    if (isProgramChanged) {
      showWhoseProgram(state, before);
      showMessages(state);
    }
    if (isProgramChanged || hasChangedField(state, before, "step")) showLine(state);
    if (isProgramChanged || hasChangedField(state, before, "step", "predict")) showNextLine(state);
    if (isProgramChanged || hasChangedField(state, before, "settings", "isLive"))
      elementById("edited").hidden = state.isLive || isTraceUpToDate(state);
  }

  /** Mark the lines of a finding's chain, while the editor shows the program that it is about. What a finding
   * explains is not told a second time. */
  function markLines(marks: ChainMark[], isExplained: boolean) {
    editor.setChain({
      marks: doesTraceMatchText(currentState()) ? marks : [],
      roleName: (role) => say(`role_${role}`),
      foldLabel: ({ first, last }) => say("lines_folded", { first, last }),
    });
    if (isExplained !== isErrorExplained) {
      isErrorExplained = isExplained;
      elementById("outcome").hidden = isExplained;
      showMessages(currentState());
    }
    showLine(currentState());
  }

  return {
    render,
    run,
    /** Shows an empty editor, with the cursor in it; one undo brings the text back. */
    startAnew() {
      if (cards.areShown()) cards.toggle();
      dispatch({ type: "programEdited", text: "" });
      codeFold.unfold();
      editor.focus();
    },
    markLines,
    stopsAt,
    canStop,
    toggleBreakpoint,
    editor,
    focused: editor.focused,
    devices: fields.devices,
    chosenSettings: fields.chosen,
    cards,
  };
}

function editorTexts(say: Locale["say"]) {
  const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";
  return {
    extensions: placeholder(say("empty")),
    label: say("program"),
    leaveHint: `Esc Tab: ${say("help_leave")}`,
    nonce,
  };
}
