/** One row of the list: a line's number, and its card, comment or blank. */

import { createElement } from "../browser/elements.ts";
import { operationGroupGlyph, operationGroupOfStatement } from "./glyphs.ts";
import { cardText } from "./edits.ts";
import type { Translate } from "../words/sentences.ts";
import type { CardResult } from "./card_result.ts";
import type { SourcePart } from "./card_source.ts";
import type { ProgramItem, ParsedProgram } from "./statements.ts";

/** What the buttons of a card do, with what they show. */
const CARD_BUTTON_ICONS: [string, string][] = [
  ["up", "M8 13V4M4 7.500 8 3.500l4 4"],
  ["down", "M8 3v9M4 8.500l4 4 4-4"],
  ["add", "M8 3v10M3 8h10"],
  ["edit", "M3 13l.8-3L10.500 3.300l2.200 2.200L6 12.200zM9 4.800 11.200 7"],
  ["duplicate", "M3 3h7v7H3zM6 6h7v7H6z"],
  ["off", "M8 2.500v5M4.800 4.500a5 5 0 1 0 6.400 0"],
  ["delete", "M3 4.500h10M6 4.500V3h4v1.500M4.500 4.500l.6 8.500h5.800l.6-8.500"],
];

export function createCardRow(
  program: ParsedProgram,
  item: ProgramItem,
  source: SourcePart[],
  say: Translate,
): HTMLLIElement {
  const row = createElement("li", `card-row ${item.kind}${item.broken ? " broken" : ""}`) as HTMLLIElement;
  row.style.setProperty("--depth", String(item.depth));
  const number = createElement("span", "card-number");
  number.setAttribute("aria-hidden", "true");
  row.append(number);
  setLineNumber(row, item);
  if (item.kind === "blank") return row;
  const text = cardText(program, item);
  const card = createElement(
    "div",
    `statement-card ${item.word}${/no_grad|inference_mode/.test(text) && item.word === "with" ? " no-grad" : ""}`,
  );
  card.setAttribute("role", "group");
  card.tabIndex = -1;
  const content = createElement("div", "card-content");
  const code = createElement("code", "card-source");
  code.append(...source.map(sourcePartNode));
  if (item.kind !== "note")
    content.append(
      operationGroupGlyph(operationGroupOfStatement(item.kind === "off" ? text.replace(/^#\s?/, "") : text)),
    );
  const wordsElement = createElement("div", "card-words");
  wordsElement.append(code, createElement("span", "card-result"));
  content.append(wordsElement);
  card.append(content);
  row.append(card);
  card.setAttribute("aria-label", accessibleCardLabel(item, text, "", say));
  return row;
}

function sourcePartNode(part: SourcePart) {
  if (typeof part === "string") return part;
  const span = createElement("span", part.style, part.text);
  if (part.name) span.dataset.name = part.name;
  return span;
}

/** The line's number. */
export function setLineNumber(row: HTMLElement, { first }: ProgramItem) {
  if (row.dataset.line === String(first)) return;
  row.dataset.line = String(first);
  const number = row.querySelector(".card-number");
  if (number) number.textContent = String(first + 1);
}

/** The buttons of the card that the reader is at. */
export function createCardButtons(item: ProgramItem, say: Translate, onTool: (name: string) => void) {
  const tools = createElement("div", "card-tools");
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", say("card_tools", { line: item.first + 1 }));
  const line = createElement("span", "card-tools-line", say("card_tools_line", { line: item.first + 1 }));
  line.setAttribute("aria-hidden", "true");
  tools.append(line);
  for (const [name, d] of CARD_BUTTON_ICONS) {
    const button = createElement("button", "quiet") as HTMLButtonElement;
    const key = name === "off" && item.kind === "off" ? "on" : name;
    button.type = "button";
    button.dataset.tool = name;
    button.title = say(`card_${key}_title`);
    button.setAttribute("aria-label", say(`card_${key}`));
    button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${d}"/></svg>`;
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      onTool(name);
    });
    tools.append(button);
  }
  return tools;
}

/** What a screen reader says of a card. */
function accessibleCardLabel(item: ProgramItem, text: string, result: string, say: Translate) {
  const key = item.kind === "off" ? "card_spoken_off" : item.kind === "note" ? "card_spoken_note" : "card_spoken";
  return `${say(key, { line: item.first + 1, text })}${result ? `, ${result}` : ""}`;
}

/**
 * Writes on a card what the run says of it; `fact` is null where the line was not reached. `isKnown`: there is a run of
 * this text, seen to its end. `isNow`: the step that is shown is at this card.
 */
export function showCardResult(
  row: HTMLElement,
  item: ProgramItem,
  text: string,
  fact: CardResult | null,
  { isKnown, isNow }: { isKnown: boolean; isNow: boolean },
  say: Translate,
) {
  const card = row.querySelector(".statement-card") as HTMLElement | null;
  const result = row.querySelector(".card-result");
  if (!card || !result) return;
  const isStatement = item.kind === "statement" || item.kind === "head";
  const isMissed = isKnown && isStatement && !fact;
  card.classList.toggle("now", isNow);
  card.classList.toggle("missed", isMissed);
  card.classList.toggle("ahead", Boolean(fact?.isAhead));
  card.classList.toggle("tracked", Boolean(fact?.tracked));
  if (isNow) card.setAttribute("aria-current", "step");
  else card.removeAttribute("aria-current");
  const parts = isMissed
    ? [createElement("span", "card-missed", say("card_missed"))]
    : fact
      ? cardResultElements(item, fact, say)
      : [];
  result.replaceChildren(...parts);
  const spokenResult = parts.map((part) => part.textContent).join(" ");
  card.setAttribute("aria-label", accessibleCardLabel(item, text, item.kind === "off" ? "" : spokenResult, say));
}

function cardResultElements(item: ProgramItem, fact: CardResult, say: Translate): HTMLElement[] {
  const parts = [];
  if (fact.times !== undefined) {
    if (item.word === "for" || item.word === "while")
      parts.push(createElement("span", "card-text", say("card_rounds", { n: fact.times })));
    return parts;
  }
  if (fact.grads?.length)
    parts.push(createElement("b", "card-role tracked", `↑ ${fact.grads.map((name) => `${name}.grad`).join(" ")}`));
  if (fact.shape) parts.push(createElement("b", "", fact.shape));
  if (fact.role)
    parts.push(
      createElement("span", `card-role${fact.tracked ? " tracked" : ""}`, fact.tracked ? `∇ ${fact.role}` : fact.role),
    );
  if (fact.version) parts.push(createElement("span", "card-version", `v${fact.version}`));
  if (fact.text) parts.push(createElement("span", "card-text", fact.text));
  if (fact.type) parts.push(createElement("span", "card-text", fact.type));
  return parts;
}
