/**
 * The builder: the program as cards, beside the editor and with its history. What the reader does becomes a change of
 * the text.
 */

import { createButton, createElement } from "../browser/elements.ts";
import { doesTraceMatchText } from "../page_state/selectors.ts";
import { hasChangedField } from "../browser/store.ts";
import { aliveNames } from "./alive_names.ts";
import { createBuilderElements } from "./builder_elements.ts";
import { startCardEvents } from "./card_events.ts";
import { availableCardCommands, type CardCommand } from "./card_keys.ts";
import { createCardList } from "./card_list.ts";
import { stepToShowForLine } from "./card_result.ts";
import { startCardDragging } from "./dragging.ts";
import { openCardEditField } from "./edit_field.ts";
import * as edits from "./edits.ts";
import { createDraftPreview } from "./draft_preview.ts";
import { textChanges, type TextChange } from "./line_edits.ts";
import { openOperationPalette } from "./palette.ts";
import { positionAtEnd, positionBelow, type StatementPosition } from "./positions.ts";
import { loadBuilderLocale } from "./locale.ts";
import type { Action } from "../page_state/actions.ts";
import type { PreviewStage } from "./card_preview.ts";
import type { EditOutcome } from "./edits.ts";
import type { ProgramItem } from "./statements.ts";
import type { PageState } from "../page_state/state.ts";
import type { LineMessage } from "../program/line_message.ts";

export interface Builder {
  render: (state: PageState, before: PageState | null) => void;
  show: (isShown: boolean) => void;
  setMessages: (messages: LineMessage[]) => void;
  /** those that can be done now */
  commands: () => CardCommand[];
  /** opens its form below the card that the reader is at */
  insert: (operation: string) => void;
  /** of the card that the reader is at, from 0 */
  line: () => number;
  focus: () => void;
}

/** Milliseconds after the last of several changes at which the program is run. */
const RUN_DELAY_MS = 250;

interface BuilderParts {
  host: HTMLElement;
  editor: {
    change: (changes: TextChange[]) => void;
    undo: () => boolean;
    redo: () => boolean;
    canUndo: () => boolean;
    canRedo: () => boolean;
    openLine: (line: number) => void;
  };
  store: { state: () => PageState; dispatch: (action: Action) => void };
  /** where a card is previewed */
  stage: PreviewStage;
}

export async function createBuilder({ host, editor, store, stage }: BuilderParts): Promise<Builder> {
  const say = (await loadBuilderLocale(document.documentElement.lang)).say;
  const { list, addButton, tools, status } = createBuilderElements(host, say, {
    add: () => addCard(null),
    undo: () => undo(),
    redo: () => redo(),
  });
  let isShown = false;
  let runTimer: ReturnType<typeof setTimeout> | undefined;
  const cards = createCardList(list, tools, say, { choose: moveTo, tool: (name, item) => runCommand(name, item) });
  const draftPreview = createDraftPreview(stage, list, cards, store.state, say);

  function moveTo(item: ProgramItem | null) {
    if (!item) return;
    cards.setCurrent(item.first, true);
    goToStepOf(item);
  }

  /** The step at which a card's line ran. */
  function goToStepOf(item: ProgramItem) {
    const state = store.state();
    const steps = doesTraceMatchText(state) ? cards.stepsOfItem(item) : [];
    if (steps.length) store.dispatch({ type: "stepChosen", step: stepToShowForLine(steps, state.step) });
  }

  function announce(text: string) {
    status.textContent = text;
  }

  /** The program is run when the reader pauses, and shown at a line; Live has its own pauses. Lines count from 0. */
  function scheduleRun(line: number) {
    clearTimeout(runTimer);
    const { isLive, pending } = store.state();
    const runNow = () => store.dispatch({ type: "cardChanged", line: line + 1 });
    if (isLive && !pending) runNow();
    else runTimer = setTimeout(runNow, RUN_DELAY_MS);
  }

  /** Returns whether the edit was made; the announcement follows it. */
  function applyOutcome(outcome: EditOutcome, announcementKey: string): boolean {
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

  /** The keyboard is at a card; where there is none, at the button that adds one. Lines count from 0. */
  function focusCurrent(line: number) {
    cards.setCurrent(line, true);
    if (!cards.currentItem()) addButton.focus();
  }

  /** Why nothing was done, below the card, until the next deed. */
  function showRefusal(text: string) {
    const row = createElement("li", "card-row card-refusal");
    row.append(createElement("p", "", text));
    cards.insertBelow(cards.current, row);
  }

  function removeCard(item: ProgramItem) {
    const text = edits.cardText(cards.parsedProgram(), item).split("\n")[0];
    if (!applyOutcome(edits.removeCard(cards.parsedProgram(), item), "card_deleted")) return;
    const row = createElement("li", "card-row card-toast");
    const label = createElement("p", "", say("card_deleted_line", { line: item.first + 1 }));
    label.append(" ", createElement("code", "", text));
    row.append(
      label,
      createButton("quiet", say("card_undo"), () => undo()),
    );
    cards.insertBelow(item.first - 1, row);
  }

  function editCard(item: ProgramItem) {
    const card = cards.cardOf(item);
    if (!card) return;
    cards.removeInserted();
    const row = cards.rowOf(item);
    /** A line that was put in above has moved the card; null where it is gone with its text. */
    const itemNow = () => (row && cards.itemOfRow(row)) ?? null;
    openCardEditField(card, edits.cardText(cards.parsedProgram(), item), {
      label: say("card_edit_label", { line: item.first + 1 }),
      commit(text) {
        const edited = itemNow();
        if (!edited) return null;
        const outcome = edits.rewriteCard(cards.parsedProgram(), edited, text);
        if ("refused" in outcome) return say(outcome.refused, outcome.args);
        applyOutcome(outcome, "card_edited");
        return null;
      },
      close: () => cards.setCurrent((itemNow() ?? item).first, true),
    });
  }

  /** The place below a card, or at the end of the program; asked again, that place in the text there is by then. */
  function placeBelow(item: ProgramItem | null): () => StatementPosition {
    const row = item && cards.rowOf(item);
    return () => {
      const itemNow = row && cards.itemOfRow(row);
      return itemNow ? positionBelow(cards.parsedProgram(), itemNow) : positionAtEnd(cards.parsedProgram());
    };
  }

  /**
   * Opens the palette. The new card goes below `item`, or to the end where that is null. The form of `operation` is
   * opened at once.
   */
  async function addCard(item: ProgramItem | null, operation?: string) {
    closePalette();
    const state = store.state();
    const parsedProgram = cards.parsedProgram();
    const place = placeBelow(item);
    const position = place();
    const above = parsedProgram.items.findLast(({ last }) => last < position.line);
    const opened = doesTraceMatchText(state) && state.opened?.count ? state.opened : null;
    const { row, start } = openOperationPalette({
      line: position.line,
      alive: aliveNames(parsedProgram, position, opened, cards.stepsOfItem),
      label: say("card_add"),
      preview: (draft) => draftPreview.show(place(), draft),
      add(draft) {
        const outcome = edits.insertStatements(cards.parsedProgram(), place(), draft.statement, draft.imports);
        if ("refused" in outcome) return say(outcome.refused, outcome.args);
        closePalette();
        applyOutcome(outcome, "card_added");
        return null;
      },
      close,
      failed() {
        announce(say("palette_failed"));
        if (!row.querySelector("input, button")) close(); // there is nothing in it to be at
      },
    });
    function close() {
      closePalette();
      focusCurrent(cards.current);
    }
    row.append(createElement("p", "ghost-problem"));
    row.style.setProperty("--depth", String(position.depth));
    cards.insertBelow(above?.first ?? -1, row);
    await start(operation);
    row.scrollIntoView({ block: "nearest" });
  }

  function closePalette() {
    draftPreview.clear();
    cards.removeInserted();
  }

  const undo = () => goThroughHistory(editor.undo);
  const redo = () => goThroughHistory(editor.redo);

  /**
   * Undoes or redoes a change of the text, if there is one; the reader is then at the card that it brought back or
   * wrote.
   */
  function goThroughHistory(change: () => boolean) {
    cards.removeInserted();
    const linesBefore = cards.parsedProgram().lines;
    const hasChanged = change();
    const { lines } = cards.parsedProgram();
    const firstNewLine = lines.findIndex((line, k) => line !== linesBefore[k]);
    const isMove = lines.length === linesBefore.length && lines.toSorted().join() === linesBefore.toSorted().join();
    // a moved card takes him along
    focusCurrent(hasChanged && !isMove && firstNewLine >= 0 ? firstNewLine : cards.current);
    if (hasChanged) scheduleRun(cards.current);
  }

  const commands: Record<string, (item: ProgramItem) => unknown> = {
    add: (item) => addCard(item),
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
    siblings: () => (document.querySelector("#siblings .sibling") as HTMLElement | null)?.focus(),
    undo,
    redo,
  };

  function runCommand(command: string, item: ProgramItem | null = cards.currentItem()) {
    if (item || command === "undo" || command === "redo") commands[command]?.(item as ProgramItem);
    else if (command === "add") void addCard(null);
  }

  startCardEvents(host, list, cards, {
    command: runCommand,
    addAtEnd: () => void addCard(null),
    moveTo,
    edit: editCard,
  });

  function dropOutcome(row: Element, target: Element, isBelow: boolean): EditOutcome | null {
    const item = cards.itemOfRow(row);
    const other = cards.itemOfRow(target);
    return item && other ? edits.dropCard(cards.parsedProgram(), item, other, isBelow) : null;
  }
  startCardDragging(list, {
    refusal(row, target, isBelow) {
      const outcome = dropOutcome(row, target, isBelow);
      return outcome && "refused" in outcome ? say(outcome.refused, outcome.args) : null;
    },
    drop(row, target, isBelow) {
      const outcome = dropOutcome(row, target, isBelow);
      if (outcome) applyOutcome(outcome, "card_moved");
    },
  });

  function showRun(state: PageState) {
    cards.showRun(doesTraceMatchText(state) && state.opened?.count ? state.opened : null, state.step);
  }

  return {
    render(state, before) {
      if (!isShown) return;
      if (hasChangedField(state, before, "text")) cards.setText(state.text);
      if (hasChangedField(state, before, "text", "opened", "step")) showRun(state);
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
    commands: () => availableCardCommands(editor, cards.currentItem() !== null, say, runCommand),
    insert(operation) {
      void addCard(cards.currentItem(), operation);
    },
    line: () => cards.current,
    focus() {
      const item = cardAtStep() ?? cards.currentItem();
      if (item) moveTo(item);
      else addButton.focus();
    },
  };

  /** The card of the step that is shown. */
  function cardAtStep() {
    const state = store.state();
    const line =
      doesTraceMatchText(state) && state.opened?.count ? state.opened.trace.steps[state.step].line - 1 : null;
    return cards.cards().find(({ first, last }) => line !== null && first <= line && line <= last) ?? null;
  }
}
