/** The list of cards in the page: rows that follow the program's text, one of which the reader is at. */

import { createElement } from "../browser/elements.ts";
import { lineMessageElement } from "../editor/message_box.ts";
import { cardResult, stepToShowForLine, stepsByLine } from "./card_result.ts";
import { createCardRow, setLineNumber, showCardResult, createCardButtons } from "./card_row.ts";
import { createSourceHighlighter } from "./card_source.ts";
import { cardText } from "./edits.ts";
import { reuseRows, rowAppearanceKey, replaceRowsInList } from "./row_reuse.ts";
import { itemAtLine, parseProgram, type ProgramItem } from "./statements.ts";
import { hasHiddenSteps } from "../trace/steps/truncated_trace.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";
import type { PreviewLineEffect } from "./preview_effects.ts";
import type { LineMessage } from "../program/line_message.ts";

/** Of more lines than these only the rows in sight are laid out. */
const LONG_LIST_LINES = 300;

interface CardListHandlers {
  /** a card was clicked */
  choose: (item: ProgramItem) => void;
  /** one of its buttons */
  tool: (name: string, item: ProgramItem) => void;
}

/**
 * `list` is an `ol`. In `toolsHost` stand the buttons of the card that the reader is at; for fingers they stand in the
 * card itself.
 */
export function createCardList(list: HTMLElement, toolsHost: HTMLElement, say: Translate, handlers: CardListHandlers) {
  let parsedProgram = parseProgram("");
  let painter: ReturnType<typeof createSourceHighlighter> = createSourceHighlighter(parsedProgram);
  let rowsByItem = new Map<ProgramItem, HTMLLIElement>();
  let bySignature = new Map<string, HTMLLIElement[]>();
  let itemsByRow = new Map<Element, ProgramItem>();
  let currentLine = 0;
  const touchQuery = matchMedia("(pointer: coarse)");
  let shownTools: HTMLElement | null = null;
  let focusableCard: HTMLElement | null = null;
  let stepsAtLine = new Map<number, number[]>();
  let runOfSteps: OpenTrace | null = null;
  /** What each card says, in short: only what another step changes is written. */
  let shownFactKeys = new WeakMap<ProgramItem, string>();
  /** What stands below a card: a form, a note of what was deleted. */
  let insertedRow: { line: number; above: HTMLElement | null; made: HTMLElement } | null = null;
  /** somebody said where the reader is in the text that comes next */
  let isNextLineKnown = false;

  function setText(text: string) {
    if (text === parsedProgram.source && rowsByItem.size) return;
    const focused = list.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
    const isFocusInserted = focused !== null && Boolean(insertedRow?.made.contains(focused));
    const fieldOfReader = focused?.matches(".card-edit *") ? focused : null;
    const rowOfReader = focusableCard?.closest(".card-row") ?? null;
    parsedProgram = parseProgram(text);
    painter = createSourceHighlighter(parsedProgram);
    const painted = new Map(parsedProgram.items.map((item) => [item, painter.paint(item)]));
    const rowsBefore = [...rowsByItem.values()];
    ({ rows: rowsByItem, byLooks: bySignature } = reuseRows(
      parsedProgram.items,
      (item) => rowAppearanceKey(parsedProgram, item, painted.get(item) ?? []),
      bySignature,
      (item) => createCardRow(parsedProgram, item, painted.get(item) ?? [], say),
      setLineNumber,
    ));
    itemsByRow = new Map([...rowsByItem].map(([item, row]) => [row, item]));
    const last = parsedProgram.items.at(-1);
    for (const row of list.querySelectorAll(".last")) row.classList.remove("last");
    if (last?.kind === "blank") rowsByItem.get(last)?.classList.add("last");
    list.classList.toggle("long", parsedProgram.items.length > LONG_LIST_LINES);
    list.classList.toggle("no-cards", !cards().length);
    insertedRow?.made.remove();
    replaceRowsInList(list, rowsBefore, [...rowsByItem.values()]);
    if (insertedRow) {
      const above = insertedRow.above && itemsByRow.get(insertedRow.above);
      insertBelow(above ? above.first : insertedRow.line, insertedRow.made);
    }
    list.parentElement?.classList.toggle("has-field", list.querySelector(".editing") !== null);
    const itemOfReader = rowOfReader && itemsByRow.get(rowOfReader);
    // A line that was put in above, as the import that a program lacked, moves the reader's card: he stays at it.
    const isFieldKept = fieldOfReader !== null && list.contains(fieldOfReader);
    setCurrent(
      isNextLineKnown || !itemOfReader ? currentLine : itemOfReader.first,
      focused !== null && !isFocusInserted && !isFieldKept,
    );
    isNextLineKnown = false;
    if (isFocusInserted) focused.focus({ preventScroll: true }); // what is put in anew has lost it
  }

  /** The card that the reader is at, or the next one to it. */
  function currentItem(): ProgramItem | null {
    const item = itemAtLine(parsedProgram, currentLine);
    if (item && item.kind !== "blank") return item;
    const shownCards = cards();
    return shownCards.findLast(({ first }) => first <= currentLine) ?? shownCards[0] ?? null;
  }

  /** All but blank lines. */
  function cards() {
    return parsedProgram.items.filter(({ kind }) => kind !== "blank");
  }

  function cardOf(item: ProgramItem): HTMLElement | null {
    return rowsByItem.get(item)?.querySelector(".statement-card") ?? null;
  }

  /** Lines count from 0. */
  function setCurrent(line: number, focus = false) {
    currentLine = line;
    if (focusableCard) focusableCard.tabIndex = -1;
    shownTools?.remove();
    const item = currentItem();
    const card = item && cardOf(item);
    focusableCard = card;
    if (!item || !card) return;
    currentLine = item.first;
    card.tabIndex = 0;
    shownTools = createCardButtons(item, say, (name) => handlers.tool(name, item));
    (touchQuery.matches ? card : toolsHost).append(shownTools);
    if (focus) card.focus({ preventScroll: true });
    if (focus) card.scrollIntoView({ block: "nearest" });
  }

  /** Puts an element below the card of a line; lines count from 0. */
  function insertBelow(line: number, node: HTMLElement) {
    insertedRow?.made.remove();
    list.parentElement?.classList.toggle("has-palette", node.classList.contains("card-palette"));
    const item = itemAtLine(parsedProgram, line);
    const row = item ? (rowsByItem.get(item) ?? null) : null;
    insertedRow = { line, above: row, made: node };
    if (row) row.after(node);
    else if (line < 0) list.prepend(node);
    else list.append(node);
  }

  function removeInserted() {
    insertedRow?.made.remove();
    insertedRow = null;
    list.parentElement?.classList.remove("has-palette");
  }

  /** What the run says of each card at a step. Null: there is no run of this text. */
  function showRun(opened: OpenTrace | null, currentStep: number) {
    if (opened !== runOfSteps) {
      shownFactKeys = new WeakMap();
      stepsAtLine = opened ? stepsByLine(opened) : new Map();
      runOfSteps = opened;
    }
    const stepLine = opened?.trace.steps[currentStep]?.line ?? null;
    for (const [item, row] of rowsByItem) {
      if (item.kind === "blank") continue;
      const itemSteps = stepsOfItem(item);
      const isNow = stepLine !== null && item.first < stepLine && stepLine <= item.last + 1;
      const key = `${itemSteps.length ? stepToShowForLine(itemSteps, currentStep) : ""} ${itemSteps.length > 0 && itemSteps[0] > currentStep} ${isNow} ${opened !== null}`;
      if (shownFactKeys.get(item) === key) continue;
      shownFactKeys.set(item, key);
      const boundNames = painter
        .nameOccurrencesOf(item)
        .filter(({ role }) => role === "made")
        .map(({ name }) => name);
      const fact =
        opened && itemSteps.length
          ? cardResult(opened, itemSteps, currentStep, boundNames, item.kind === "head")
          : null;
      showCardResult(
        row,
        item,
        cardText(parsedProgram, item),
        fact,
        { isKnown: opened !== null && !hasHiddenSteps(opened.trace), isNow },
        say,
      );
      markTracked(row, opened, fact?.step ?? null);
      if (isNow && !list.contains(document.activeElement)) row.scrollIntoView({ block: "nearest" });
    }
    list.classList.toggle("stale", opened === null);
  }

  /** The steps of a card's own lines. */
  function stepsOfItem({ first, last }: ProgramItem): number[] {
    const itemSteps = [];
    for (let line = first + 1; line <= last + 1; line++) itemSteps.push(...(stepsAtLine.get(line) ?? []));
    return itemSteps.sort((a, b) => a - b);
  }

  /** Names that stand for tensors which autograd follows. */
  function markTracked(row: HTMLElement, opened: OpenTrace | null, step: number | null) {
    const entities = opened && step !== null ? opened.state(step) : null;
    const frame = entities && opened && step !== null ? entities.get(opened.trace.steps[step].frame ?? "") : null;
    for (const mark of row.querySelectorAll(".card-name") as NodeListOf<HTMLElement>) {
      const value = frame?.kind === "frame" ? frame.vars.get(mark.dataset.name ?? "") : null;
      const ref = value && typeof value === "object" && "ref" in value ? entities?.get(String(value.ref)) : null;
      mark.classList.toggle("tracked", ref?.kind === "tensor" && Boolean(ref.requires_grad));
    }
  }

  function setMessages(messages: LineMessage[]) {
    for (const oldElement of list.querySelectorAll(".card-message")) oldElement.remove();
    for (const card of list.querySelectorAll(".statement-card.error")) card.classList.remove("error");
    for (const message of messages) {
      const item = itemAtLine(parsedProgram, message.line - 1);
      const row = item && rowsByItem.get(item);
      const card = item && cardOf(item);
      if (!row || !card) continue;
      if (message.kind === "error") card.classList.add("error");
      if (message.lineOnly) continue;
      const messageHolder = createElement("div", "card-message");
      messageHolder.append(lineMessageElement(message));
      row.append(messageHolder);
    }
  }

  /** Strikes the cards that a preview would not reach; lines count from 0. */
  function setAffectedLines(lines: Map<number, PreviewLineEffect>) {
    for (const oldElement of list.querySelectorAll(".card-going")) {
      oldElement.closest(".statement-card")?.classList.remove("would-go", "would-raise");
      oldElement.remove();
    }
    for (const item of lines.size ? cards() : []) {
      const lineEffects = Array.from({ length: item.last - item.first + 1 }, (_, k) => lines.get(item.first + k));
      const effect = lineEffects.includes("raises") ? "raises" : lineEffects.find((lineEffect) => lineEffect);
      const card = effect && cardOf(item);
      if (!card) continue;
      card.classList.add(effect === "raises" ? "would-raise" : "would-go");
      card.querySelector(".card-words")?.append(createElement("span", "card-going", say(`ghost_${effect}`)));
    }
  }

  list.addEventListener("click", (event) => {
    const row = event.target instanceof Element ? event.target.closest("li[data-line]") : null;
    const item = row && itemsByRow.get(row);
    if (
      item &&
      item.kind !== "blank" &&
      !(event.target instanceof HTMLElement && event.target.closest("textarea, .card-message"))
    )
      handlers.choose(item);
  });

  return {
    setText,
    setCurrent,
    showRun,
    setMessages,
    setAffectedLines,
    insertBelow,
    removeInserted,
    cardOf,
    cards,
    currentItem,
    stepsOfItem,
    /** Goes so many cards further. */
    step(offset: number) {
      const allCards = cards();
      const item = currentItem();
      const index = item ? allCards.indexOf(item) : -1;
      return allCards[Math.max(0, Math.min(allCards.length - 1, index + offset))] ?? null;
    },
    parsedProgram: () => parsedProgram,
    /** Where the reader is in the text that comes next; lines count from 0. */
    setNextLine(line: number) {
      currentLine = line;
      isNextLineKnown = true;
    },
    itemOfRow: (row: Element): ProgramItem | undefined => itemsByRow.get(row),
    rowOf: (item: ProgramItem): HTMLElement | undefined => rowsByItem.get(item),
    get current() {
      return currentLine;
    },
  };
}
