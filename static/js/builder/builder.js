/** The builder: the program as cards, beside the editor and with its history. What the reader does becomes a change of the text. */

import { button, element } from "../browser/elements.js";
import { isCurrent } from "../page_state/selectors.js";
import { differs } from "../browser/store.js";
import { aliveNames } from "./alive_names.js";
import { createBuilderElements } from "./builder_elements.js";
import { startCardEvents } from "./card_events.js";
import { availableCommands } from "./card_keys.js";
import { createCardList } from "./card_list.js";
import { stepOfLine } from "./card_facts.js";
import { startDragging } from "./dragging.js";
import { openEditField } from "./edit_field.js";
import * as edits from "./edits.js";
import { createDraftPreview } from "./draft_preview.js";
import { textChanges } from "./line_edits.js";
import { openPalette } from "./palette.js";
import { positionAtEnd, positionBelow } from "./positions.js";
import { loadBuilderLocale } from "./words.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./edits.js").Outcome} Outcome */
/** @typedef {import("./positions.js").Position} Position */
/** @typedef {{id: string, label: string, keys: string, run: () => void}} Command   what can be done with the card that the reader is at */
/**
 * @typedef {object} Builder
 * @property {(state: PageState, before: PageState | null) => void} render
 * @property {(isShown: boolean) => void} show
 * @property {(messages: import("../editor/message_box.js").Message[]) => void} setMessages
 * @property {() => Command[]} commands those that can be done now
 * @property {(operation: string) => void} insert opens its form below the card that the reader is at
 * @property {() => number} line of the card that the reader is at, from 0
 * @property {() => void} focus
 */

/** Milliseconds after the last of several changes at which the program is run. */
const RUN_DELAY_MS = 250;

/**
 * @param {object} parts
 * @param {HTMLElement} parts.host
 * @param {{change: (changes: import("./line_edits.js").Change[]) => void, undo: () => boolean, redo: () => boolean, canUndo: () => boolean, canRedo: () => boolean, openLine: (line: number) => void}} parts.editor
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void}} parts.store
 * @param {import("./card_preview.js").PreviewStage} parts.stage where a card is previewed
 * @returns {Promise<Builder>}
 */
export async function createBuilder({ host, editor, store, stage }) {
  const say = (await loadBuilderLocale(document.documentElement.lang)).say;
  const { list, addButton, tools, status } = createBuilderElements(host, say, {
    add: () => addCard(positionAtEnd(cards.parsedProgram())),
    undo: () => undo(),
    redo: () => redo(),
  });
  let isShown = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let runTimer;
  const cards = createCardList(list, tools, say, { choose: moveTo, tool: (name, item) => runCommand(name, item) });
  const draftPreview = createDraftPreview(stage, list, cards, store.state, say);

  /** @param {Item | null} item */
  function moveTo(item) {
    if (!item) return;
    cards.setCurrent(item.first, true);
    goToStepOf(item);
  }

  /** The step at which a card's line ran. @param {Item} item */
  function goToStepOf(item) {
    const state = store.state();
    const steps = isCurrent(state) ? cards.stepsOfItem(item) : [];
    if (steps.length) store.dispatch({ type: "stepChosen", step: stepOfLine(steps, state.step) });
  }

  /** @param {string} text */
  function announce(text) {
    status.textContent = text;
  }

  /** The program is run when the reader pauses, and shown at a line; Live has its own pauses. @param {number} line from 0 */
  function scheduleRun(line) {
    clearTimeout(runTimer);
    const { isLive, pending } = store.state();
    const runNow = () => store.dispatch({ type: "cardChanged", line: line + 1 });
    if (isLive && !pending) runNow();
    else runTimer = setTimeout(runNow, RUN_DELAY_MS);
  }

  /** @param {Outcome} outcome @param {string} announcementKey of what is told then @returns {boolean} whether it was done */
  function applyOutcome(outcome, announcementKey) {
    cards.removeInserted();
    if ("refused" in outcome) {
      announce(say(outcome.refused, outcome.args));
      showRefusal(say(outcome.refused, outcome.args));
      return false;
    }
    if (cards.parsedProgram().source !== store.state().text) return false; // what was asked is of another text
    const changes = textChanges(cards.parsedProgram().lines, outcome.edits);
    cards.setNextLine(outcome.line);
    editor.change(changes);
    focusCurrent(outcome.line);
    const count = cards.parsedProgram().lines.length;
    announce(say(announcementKey, { line: outcome.line + 1, n: count }));
    scheduleRun(outcome.line);
    return true;
  }

  /** The keyboard is at a card; where none is left, at the button that adds one. @param {number} line from 0 */
  function focusCurrent(line) {
    cards.setCurrent(line, true);
    if (!cards.currentItem()) addButton.focus();
  }

  /** Why nothing was done, below the card, until the next deed. @param {string} text */
  function showRefusal(text) {
    const row = element("li", "card-row card-refusal");
    row.append(element("p", "", text));
    cards.insertBelow(cards.current, row);
  }

  /** @param {Item} item */
  function removeCard(item) {
    const text = edits.ownText(cards.parsedProgram(), item).split("\n")[0];
    if (!applyOutcome(edits.removeCard(cards.parsedProgram(), item), "card_deleted")) return;
    const row = element("li", "card-row card-toast");
    const label = element("p", "", say("card_deleted_line", { line: item.first + 1 }));
    label.append(" ", element("code", "", text));
    row.append(
      label,
      button("quiet", say("card_undo"), () => undo()),
    );
    cards.insertBelow(item.first - 1, row);
  }

  /** @param {Item} item */
  function editCard(item) {
    const card = cards.cardOf(item);
    if (!card) return;
    cards.removeInserted();
    const parsedProgram = cards.parsedProgram();
    openEditField(card, edits.ownText(parsedProgram, item), {
      label: say("card_edit_label", { line: item.first + 1 }),
      commit(text) {
        if (cards.parsedProgram() !== parsedProgram) return null; // the card is gone with its text
        const outcome = edits.rewriteCard(cards.parsedProgram(), item, text);
        if ("refused" in outcome) return say(outcome.refused, outcome.args);
        applyOutcome(outcome, "card_edited");
        return null;
      },
      close: () => cards.setCurrent(item.first, true),
    });
  }

  /** Opens the palette at a place. @param {Position} position @param {string} [operation] whose form is opened at once */
  async function addCard(position, operation) {
    closePalette();
    const state = store.state();
    const parsedProgram = cards.parsedProgram();
    const above = parsedProgram.items.findLast(({ last }) => last < position.line);
    const opened = isCurrent(state) && state.opened?.count ? state.opened : null;
    const { row, start } = await openPalette({
      line: position.line,
      alive: aliveNames(parsedProgram, position, opened, cards.stepsOfItem),
      label: say("card_add"),
      preview: (draft) => draftPreview.show(position, draft),
      add(draft) {
        const outcome = edits.insertStatements(cards.parsedProgram(), position, draft.statement, draft.imports);
        if ("refused" in outcome) return say(outcome.refused, outcome.args);
        closePalette();
        applyOutcome(outcome, "card_added");
        return null;
      },
      close() {
        closePalette();
        cards.setCurrent(cards.current, true);
      },
      failed: () => announce(say("palette_failed")),
    });
    row.append(element("p", "ghost-problem"));
    row.style.setProperty("--depth", String(position.depth));
    cards.insertBelow(above?.first ?? -1, row);
    await start(operation);
    row.scrollIntoView({ block: "nearest" });
  }

  function closePalette() {
    draftPreview.clear();
    cards.removeInserted();
  }

  function undo() {
    cards.removeInserted();
    if (editor.undo()) scheduleRun(cards.current);
    focusCurrent(cards.current);
  }

  function redo() {
    cards.removeInserted();
    if (editor.redo()) scheduleRun(cards.current);
    focusCurrent(cards.current);
  }

  /** @type {Record<string, (item: Item) => unknown>} */
  const commands = {
    add: (item) => addCard(positionBelow(cards.parsedProgram(), item)),
    edit: editCard,
    up: (item) => applyOutcome(edits.moveCardUp(cards.parsedProgram(), item), "card_moved"),
    down: (item) => applyOutcome(edits.moveCardDown(cards.parsedProgram(), item), "card_moved"),
    duplicate: (item) => applyOutcome(edits.duplicateCard(cards.parsedProgram(), item), "card_duplicated"),
    off: (item) =>
      applyOutcome(
        edits.toggleComment(cards.parsedProgram(), item),
        item.kind === "off" ? "card_on_told" : "card_off_told",
      ),
    delete: removeCard,
    siblings: () => /** @type {HTMLElement | null} */ (document.querySelector("#siblings .sibling"))?.focus(),
    undo,
    redo,
  };

  /** @param {string} command @param {Item | null} [item] */
  function runCommand(command, item = cards.currentItem()) {
    if (item || command === "undo" || command === "redo") commands[command]?.(/** @type {Item} */ (item));
    else if (command === "add") void addCard(positionAtEnd(cards.parsedProgram()));
  }

  startCardEvents(host, list, cards, { command: runCommand, moveTo, edit: editCard });

  /** @param {Element} row @param {Element} target @param {boolean} isBelow @returns {Outcome | null} */
  function dropOutcome(row, target, isBelow) {
    const item = cards.itemOfRow(row);
    const other = cards.itemOfRow(target);
    return item && other ? edits.dropCard(cards.parsedProgram(), item, other, isBelow) : null;
  }
  startDragging(list, {
    refusal(row, target, isBelow) {
      const outcome = dropOutcome(row, target, isBelow);
      return outcome && "refused" in outcome ? say(outcome.refused, outcome.args) : null;
    },
    drop(row, target, isBelow) {
      const outcome = dropOutcome(row, target, isBelow);
      if (outcome) applyOutcome(outcome, "card_moved");
    },
  });

  /** @param {PageState} state */
  function showRun(state) {
    cards.showRun(isCurrent(state) && state.opened?.count ? state.opened : null, state.step);
  }

  return {
    render(state, before) {
      if (!isShown) return;
      if (differs(state, before, "text")) cards.setText(state.text);
      if (differs(state, before, "text", "opened", "step")) showRun(state);
    },
    show(shown) {
      if (shown === isShown) return;
      isShown = shown;
      if (!shown) {
        clearTimeout(runTimer);
        return closePalette();
      }
      cards.setText(store.state().text);
      showRun(store.state());
    },
    setMessages: cards.setMessages,
    commands: () => availableCommands(editor, cards.currentItem() !== null, say, runCommand),
    insert(operation) {
      const item = cards.currentItem();
      void addCard(item ? positionBelow(cards.parsedProgram(), item) : positionAtEnd(cards.parsedProgram()), operation);
    },
    line: () => cards.current,
    focus: () => moveTo(cardAtStep() ?? cards.currentItem()),
  };

  /** The card of the step that is shown. */
  function cardAtStep() {
    const state = store.state();
    const line = isCurrent(state) && state.opened?.count ? state.opened.trace.steps[state.step].line - 1 : null;
    return cards.cards().find(({ first, last }) => line !== null && first <= line && line <= last) ?? null;
  }
}
