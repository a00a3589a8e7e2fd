/** The list of cards in the page: rows that follow the program's text, one of which the reader is at. */

import { element } from "../elements.js";
import { messageBox } from "../message_box.js";
import { cardFact, stepOfLine, stepsByLine } from "./card_facts.js";
import { cardRow, setLine, showFact, toolRow } from "./card_row.js";
import { createSourcePainter } from "./card_source.js";
import { ownText } from "./edits.js";
import { reuseRows, rowSignature, placeRows } from "./row_reuse.js";
import { itemAt, readProgram } from "./statements.js";
import { hidesFuture } from "../predict/future.js";

/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./statements.js").Program} Program */
/** @typedef {import("../state.js").OpenTrace} OpenTrace */
/** @typedef {import("../locale.js").Locale["say"]} Say */

/** Of more lines than these only the rows in sight are laid out. */
const LONG_LIST = 300;

/**
 * @param {HTMLElement} list an `ol` @param {HTMLElement} foot where the buttons of the card stand that the reader is at; for fingers
 *   they stand in the card itself @param {Say} say
 * @param {{choose: (item: Item) => void, tool: (name: string, item: Item) => void}} on choose: a card was clicked; tool: one of its buttons
 */
export function createCardList(list, foot, say, on) {
  let parsedProgram = readProgram("");
  /** @type {ReturnType<typeof createSourcePainter>} */
  let painter = createSourcePainter(parsedProgram);
  /** @type {Map<Item, HTMLLIElement>} */
  let rows = new Map();
  /** @type {Map<string, HTMLLIElement[]>} */
  let bySignature = new Map();
  /** @type {Map<Element, Item>} */
  let itemsByRow = new Map();
  let current = 0;
  const touch = matchMedia("(pointer: coarse)");
  /** @type {HTMLElement | null} */
  let tools = null;
  /** @type {HTMLElement | null} */
  let currentCard = null;
  /** @type {Map<number, number[]>} */
  let steps = new Map();
  /** @type {OpenTrace | null} */
  let stepsOf = null;
  /** What each card says, in short: only what another step changes is written. @type {WeakMap<Item, string>} */
  let written = new WeakMap();
  /** What stands below a card: a form, a note of what was deleted. @type {{line: number, made: HTMLElement} | null} */
  let inserted = null;

  /** @param {string} text */
  function setText(text) {
    if (text === parsedProgram.source && rows.size) return;
    const hadFocus = list.contains(document.activeElement) && !inserted?.made.contains(document.activeElement);
    parsedProgram = readProgram(text);
    painter = createSourcePainter(parsedProgram);
    const painted = new Map(parsedProgram.items.map((item) => [item, painter.paint(item)]));
    const before = [...rows.values()];
    ({ rows, byLooks: bySignature } = reuseRows(
      parsedProgram.items,
      (item) => rowSignature(parsedProgram, item, painted.get(item) ?? []),
      bySignature,
      (item) => cardRow(parsedProgram, item, painted.get(item) ?? [], say),
      setLine,
    ));
    itemsByRow = new Map([...rows].map(([item, row]) => [row, item]));
    const last = parsedProgram.items.at(-1);
    for (const row of list.querySelectorAll(".last")) row.classList.remove("last");
    if (last?.kind === "blank") rows.get(last)?.classList.add("last");
    list.classList.toggle("long", parsedProgram.items.length > LONG_LIST);
    inserted?.made.remove();
    placeRows(list, before, [...rows.values()]);
    if (inserted) insertBelow(inserted.line, inserted.made);
    list.parentElement?.classList.toggle("has-field", list.querySelector(".editing") !== null);
    setCurrent(current, hadFocus);
  }

  /** The card that the reader is at, or the next one to it. @returns {Item | null} */
  function currentItem() {
    const at = itemAt(parsedProgram, current);
    if (at && at.kind !== "blank") return at;
    const shown = cards();
    return shown.findLast(({ first }) => first <= current) ?? shown[0] ?? null;
  }

  /** All but blank lines. */
  function cards() {
    return parsedProgram.items.filter(({ kind }) => kind !== "blank");
  }

  /** @param {Item} item @returns {HTMLElement | null} */
  function cardOf(item) {
    return rows.get(item)?.querySelector(".statement-card") ?? null;
  }

  /** @param {number} line from 0 @param {boolean} [focus] */
  function setCurrent(line, focus = false) {
    current = line;
    if (currentCard) currentCard.tabIndex = -1;
    tools?.remove();
    const item = currentItem();
    const card = item && cardOf(item);
    currentCard = card;
    if (!item || !card) return;
    current = item.first;
    card.tabIndex = 0;
    tools = toolRow(item, say, (name) => on.tool(name, item));
    (touch.matches ? card : foot).append(tools);
    if (focus) card.focus({ preventScroll: true });
    if (focus) card.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} line from 0: below its card @param {HTMLElement} node */
  function insertBelow(line, node) {
    inserted?.made.remove();
    inserted = { line, made: node };
    list.parentElement?.classList.toggle("has-palette", node.classList.contains("card-palette"));
    const item = itemAt(parsedProgram, line);
    const row = item && rows.get(item);
    if (row) row.after(node);
    else if (line < 0) list.prepend(node);
    else list.append(node);
  }

  function removeInserted() {
    inserted?.made.remove();
    inserted = null;
    list.parentElement?.classList.remove("has-palette");
  }

  /** What the run says of each card at a step. @param {OpenTrace | null} opened null: there is no run of this text @param {number} cardFrom */
  function showRun(opened, cardFrom) {
    if (opened !== stepsOf) {
      written = new WeakMap();
      steps = opened ? stepsByLine(opened) : new Map();
      stepsOf = opened;
    }
    const now = opened?.trace.steps[cardFrom]?.line ?? null;
    for (const [item, row] of rows) {
      if (item.kind === "blank") continue;
      const at = stepsOfItem(item);
      const isNow = now !== null && item.first < now && now <= item.last + 1;
      const key = `${at.length ? stepOfLine(at, cardFrom) : ""} ${at.length > 0 && at[0] > cardFrom} ${isNow} ${opened !== null}`;
      if (written.get(item) === key) continue;
      written.set(item, key);
      const made = painter
        .namesOf(item)
        .filter(({ role }) => role === "made")
        .map(({ name }) => name);
      const fact = opened && at.length ? cardFact(opened, at, cardFrom, made, item.kind === "head") : null;
      showFact(
        row,
        item,
        ownText(parsedProgram, item),
        fact,
        { isKnown: opened !== null && !hidesFuture(opened.trace), isNow },
        say,
      );
      markTracked(row, opened, fact?.step ?? null);
      if (isNow && !list.contains(document.activeElement)) row.scrollIntoView({ block: "nearest" });
    }
    list.classList.toggle("stale", opened === null);
  }

  /** The steps of a card's own lines. @param {Item} item @returns {number[]} */
  function stepsOfItem({ first, last }) {
    const found = [];
    for (let line = first + 1; line <= last + 1; line++) found.push(...(steps.get(line) ?? []));
    return found.sort((a, b) => a - b);
  }

  /** Names that stand for tensors which autograd follows. @param {HTMLElement} row @param {OpenTrace | null} opened @param {number | null} step */
  function markTracked(row, opened, step) {
    const entities = opened && step !== null ? opened.state(step) : null;
    const frame = entities && opened && step !== null ? entities.get(opened.trace.steps[step].frame ?? "") : null;
    for (const mark of /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll(".card-name"))) {
      const value = frame?.kind === "frame" ? frame.vars.get(mark.dataset.name ?? "") : null;
      const ref = value && typeof value === "object" && "ref" in value ? entities?.get(String(value.ref)) : null;
      mark.classList.toggle("tracked", ref?.kind === "tensor" && Boolean(ref.requires_grad));
    }
  }

  /** @param {import("../message_box.js").Message[]} messages */
  function setMessages(messages) {
    for (const old of list.querySelectorAll(".card-message")) old.remove();
    for (const card of list.querySelectorAll(".statement-card.error")) card.classList.remove("error");
    for (const message of messages) {
      const item = itemAt(parsedProgram, message.line - 1);
      const row = item && rows.get(item);
      const card = item && cardOf(item);
      if (!row || !card) continue;
      if (message.kind === "error") card.classList.add("error");
      if (message.lineOnly) continue;
      const holder = element("div", "card-message");
      holder.append(messageBox(message));
      row.append(holder);
    }
  }

  /** Strikes the cards that a preview would not reach. @param {Map<number, import("./preview_effects.js").LineEffect>} lines by line, from 0 */
  function setAffectedLines(lines) {
    for (const old of list.querySelectorAll(".card-going")) {
      old.closest(".statement-card")?.classList.remove("would-go", "would-raise");
      old.remove();
    }
    for (const item of lines.size ? cards() : []) {
      const own = Array.from({ length: item.last - item.first + 1 }, (_, k) => lines.get(item.first + k));
      const effect = own.includes("raises") ? "raises" : own.find((found) => found);
      const card = effect && cardOf(item);
      if (!card) continue;
      card.classList.add(effect === "raises" ? "would-raise" : "would-go");
      card.querySelector(".card-words")?.append(element("span", "card-going", say(`ghost_${effect}`)));
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
      on.choose(item);
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
    /** @param {number} by cards further */
    step(by) {
      const all = cards();
      const item = currentItem();
      const at = item ? all.indexOf(item) : -1;
      return all[Math.max(0, Math.min(all.length - 1, at + by))] ?? null;
    },
    parsedProgram: () => parsedProgram,
    /** Where the reader is in the text that comes next. @param {number} line from 0 */
    setNextLine(line) {
      current = line;
    },
    /** @param {Element} row @returns {Item | undefined} */
    itemOfRow: (row) => itemsByRow.get(row),
    get current() {
      return current;
    },
  };
}
