/** The pane of the program: its editor with messages, its settings, the run's outcome and what differs from an article. */

import { outcomeSentence } from "../captions/captions.js";
import { createCards } from "./cards.js";
import { startCodeFold } from "../editor/code_fold.js";
import { createEditor } from "../editor/editor.js";
import { createInputBox } from "../editor/input_box.js";
import { messages, generalNotices } from "../program/messages.js";
import { outputMessages, showOutputSummary } from "../editor/output_diff.js";
import { compareOutputs } from "../program/outputs.js";
import { isCurrent, isPageProgram, isRunning, isUpToDate } from "../page_state/selectors.js";
import { hidesFuture } from "../trace/future.js";
import { dueQuestion } from "../predict/mode.js";
import { causingStep } from "../trace/saved_slots.js";
import { createSettingsFields } from "../page_state/settings.js";
import { lineTone } from "../trace/stepping.js";
import { differs } from "../browser/store.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void}} store
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {import("../builder/card_preview.js").PreviewStage} previewStage where a card is drawn that is not in the program yet
 */
export function createProgramPane(element, { state: currentState, dispatch }, say, previewStage) {
  const title = element("heading").textContent ?? "";
  const form = /** @type {HTMLFormElement} */ (element("run-form"));
  /** @type {import("../program/outputs.js").OutputRow[]} the article's outputs beside torch's */
  let outputRows = [];

  const codeFold = startCodeFold(element("editor"), element("fold"), () => showLine(currentState()));
  /** the keyboard was the editor's when the run was asked for: it is again, where there is nothing to step through */
  let editorHadFocus = false;
  /** the line that is marked as the next one @type {number | null} */
  let nextLine = null;
  /** a finding says why the program raised */
  let isErrorExplained = false;

  new ResizeObserver(() => isErrorExplained && showLine(currentState())).observe(element("editor"));

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
  /** Go to a step, and show its line where that step is shown already. @param {number} step */
  function go(step) {
    dispatch({ type: "stepChosen", step });
    showLine(currentState());
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  const editor = createEditor(element("editor"), {
    ...editorTexts(say),
    source: currentState().text,
    onRun: run,
    onChange: () => dispatch({ type: "programEdited", text: editor.text() }),
    onLine: (line) => dispatch({ type: "lineChosen", line }),
    keepMarks: true,
  });
  const cards = createCards(
    { form, buttons: element("program-as"), host: element("cards") },
    { editor, store: { state: currentState, dispatch }, stage: previewStage },
    () => dispatch({ type: "problemFound", problem: { key: "error_network" } }),
  );
  /** @type {HTMLTextAreaElement} */
  const input = element("input");
  const device = /** @type {HTMLSelectElement | null} */ (document.getElementById("device"));
  const fields = createSettingsFields({ seed: element("seed"), device, input }, (settings) =>
    dispatch({ type: "settingsChanged", settings }),
  );
  const inputBox = createInputBox(element("input-box"), input);

  /** Whether a step is at a line where the reader wants to stop. @param {number} i */
  function stopsAt(i) {
    const { opened } = currentState();
    return opened !== null && isCurrent(currentState()) && editor.breakpoints().has(opened.trace.steps[i].line);
  }

  const canStop = () => Boolean(currentState().opened?.count) && isCurrent(currentState());
  function toggleBreakpoint() {
    const { opened, step } = currentState();
    if (opened && canStop()) editor.toggleBreakpoint(opened.trace.steps[step].line);
  }

  /** The messages at the lines, while the editor shows the program that they are about. @param {PageState} state */
  function showMessages(state) {
    if (state.opened && !isCurrent(state) && state.isLive) {
      editor.dropErrors();
      cards.setMessages([]);
      return;
    }
    if (!state.opened || !isCurrent(state)) return setMessages([]);
    const repair = (
      /** @type {import("../program/repair.js").Repair} */ offered,
      /** @type {string | undefined} */ shape,
    ) =>
      offered.key === "type_input" ? inputBox.open() : dispatch({ type: "repairRequested", repair: offered, shape });
    const { trace } = state.opened;
    const lineMessages = messages(trace, say, repair).map((message) => ({
      ...message,
      lineOnly: isErrorExplained && message.kind === "error" && !message.offers?.length,
    }));
    setMessages([...lineMessages, ...outputMessages(outputRows, say, go)]);
  }

  /** @param {import("../editor/message_box.js").Message[]} list */
  function setMessages(list) {
    editor.setMessages(list);
    cards.setMessages(list);
  }

  /** The line of the step. @param {PageState} state */
  function showLine(state) {
    const { opened, step } = state;
    if (opened?.count && !isCurrent(state) && state.isLive) return; // the picture stays, and so does its line
    if (!opened?.count || !isCurrent(state)) return editor.setStepLine(null);
    const { line, kind } = opened.trace.steps[step];
    editor.setStepLine(line, lineTone(kind));
  }

  /** The line that predict mode asks about: marked, for it is not the step's. @param {PageState} state */
  function showNextLine(state) {
    const line = isCurrent(state) ? (dueQuestion(state.predict)?.line ?? null) : null;
    if (line !== null || nextLine !== null) editor.setNextLine(line);
    nextLine = line;
  }

  /** A sentence about the server or an address, not about the program. @param {import("../page_state/page_state.js").Problem | null} problem */
  function showProblem(problem) {
    const saveButton = problem?.offersSave ? [linkButton(say("save"), () => element("save").click())] : [];
    element("problem").replaceChildren(problem ? say(problem.key, problem.args) : "", ...saveButton);
    element("problem").hidden = !problem;
  }

  /** The page says so where the server could run no program when it was loaded; a run shows that it can now. @param {PageState} state
   * @param {PageState | null} before */
  function forgetMissingWorkers(state, before) {
    if (before?.pending && !state.pending && state.opened !== before.opened)
      document.getElementById("no-workers")?.remove();
  }

  /** @param {PageState} state */
  function showRunProgress(state) {
    const running = isRunning(state);
    document.body.classList.toggle("busy", running);
    element("stop").hidden = !running;
    const { ahead } = state;
    const key = !running ? "run" : ahead === null ? "running" : ahead ? "queued" : "queued_next";
    element("run-word").textContent = say(key, { ahead });
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const { opened, text } = state;
    const isProgramChanged = differs(state, before, "text", "opened");
    if (differs(state, before, "text") && text !== editor.text()) editor.setText(text);
    cards.render(state, before);
    if (differs(state, before, "settings")) fields.show(state.settings);
    if (differs(state, before, "text", "settings")) inputBox.render(state);
    if (differs(state, before, "opened")) {
      outputRows = opened && !hidesFuture(opened.trace) ? compareOutputs(opened.trace) : [];
      showOutputSummary(element("outputs"), outputRows, say, { current: () => currentState().step, go });
      showOutcome(element, opened, say, go);
      if (editorHadFocus && opened && !opened.count && document.activeElement === document.body) editor.focus();
      editorHadFocus = false;
    }
    if (isProgramChanged) {
      element("workbench").classList.toggle("other", !isPageProgram(state));
      element("heading").textContent = isPageProgram(state) ? title : say("program");
      showMessages(state);
    }
    if (isProgramChanged || differs(state, before, "step")) showLine(state);
    if (isProgramChanged || differs(state, before, "step", "predict")) showNextLine(state);
    if (isProgramChanged || differs(state, before, "settings", "isLive"))
      element("edited").hidden = state.isLive || isUpToDate(state);
    if (differs(state, before, "problem")) showProblem(state.problem);
    forgetMissingWorkers(state, before);
    if (differs(state, before, "pending", "ahead")) showRunProgress(state);
  }

  /** Mark the lines of a finding's chain, while the editor shows the program that it is about. What a finding explains
   * is not told a second time. @param {import("../explain/findings_card.js").ChainMark[]} marks @param {boolean} isExplained */
  function markLines(marks, isExplained) {
    editor.setChain(isCurrent(currentState()) ? marks : [], (role) => say(`role_${role}`));
    if (isExplained !== isErrorExplained) {
      isErrorExplained = isExplained;
      element("outcome").hidden = isExplained;
      showMessages(currentState());
    }
    showLine(currentState());
  }

  return {
    render,
    run,
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

/** @param {import("../words/locale.js").Locale["say"]} say */
function editorTexts(say) {
  const nonce = document.querySelector('meta[name="csp-nonce"]')?.getAttribute("content") ?? "";
  return { label: say("program"), leaveHint: `Esc Tab: ${say("help_leave")}`, nonce };
}

/** How the program ended; an error leads to its step. @param {<T extends HTMLElement>(id: string) => T} element
 * @param {import("../trace/state.js").OpenTrace | null} opened @param {import("../words/locale.js").Locale["say"]} say
 * @param {(step: number) => void} go */
function showOutcome(element, opened, say, go) {
  const outcomeElement = element("outcome");
  outcomeElement.replaceChildren();
  element("notices").textContent = opened ? generalNotices(opened.trace, say) : "";
  outcomeElement.className = "outcome";
  if (!opened || hidesFuture(opened.trace)) return;
  const { status, error } = opened.trace.outcome;
  outcomeElement.className = `outcome ${status}`;
  if (status !== "raised" || !error) {
    outcomeElement.textContent = outcomeSentence(opened.trace, say).text;
    return;
  }
  const summary = error.line ? error.type : outcomeSentence(opened.trace, say).text;
  const label = error.line ? say("raised_at", { line: error.line }) : error.type;
  outcomeElement.replaceChildren(
    linkButton(label, () => go(error.step ?? opened.count - 1)),
    ` ${summary}`,
  );
  const cause = causingStep(opened);
  if (cause === null) return;
  const causeLine = opened.trace.steps[cause].line;
  outcomeElement.append(
    " · ",
    linkButton(say("caused_at", { line: causeLine }), () => go(cause)),
  );
}

/** @param {string} text @param {() => void} onClick */
function linkButton(text, onClick) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = text;
  button.addEventListener("click", onClick);
  return button;
}
