/** One row of the list: a line's number, and its card, comment or blank. */

import { element } from "../browser/elements.js";
import { glyphElement, groupOf } from "./glyphs.js";
import { ownText } from "./edits.js";

/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./statements.js").Program} Program */
/** @typedef {import("./card_facts.js").CardFact} CardFact */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */

/** What the buttons of a card do, with what they show. @type {[string, string][]} */
const CARD_TOOLS = [
  ["up", "M8 13V4M4 7.500 8 3.500l4 4"],
  ["down", "M8 3v9M4 8.500l4 4 4-4"],
  ["add", "M8 3v10M3 8h10"],
  ["edit", "M3 13l.8-3L10.500 3.300l2.200 2.200L6 12.200zM9 4.800 11.200 7"],
  ["duplicate", "M3 3h7v7H3zM6 6h7v7H6z"],
  ["off", "M8 2.500v5M4.800 4.500a5 5 0 1 0 6.400 0"],
  ["delete", "M3 4.500h10M6 4.500V3h4v1.500M4.500 4.500l.6 8.500h5.800l.6-8.500"],
];

/**
 * @param {Program} program @param {Item} item @param {import("./card_source.js").Part[]} source its text @param {Say} say
 * @returns {HTMLLIElement}
 */
export function cardRow(program, item, source, say) {
  const row = /** @type {HTMLLIElement} */ (element("li", `card-row ${item.kind}${item.broken ? " broken" : ""}`));
  row.style.setProperty("--depth", String(item.depth));
  const number = element("span", "card-number");
  number.setAttribute("aria-hidden", "true");
  row.append(number);
  setLine(row, item);
  if (item.kind === "blank") return row;
  const text = ownText(program, item);
  const card = element(
    "div",
    `statement-card ${item.word}${/no_grad|inference_mode/.test(text) && item.word === "with" ? " no-grad" : ""}`,
  );
  card.setAttribute("role", "group");
  card.tabIndex = -1;
  const content = element("div", "card-content");
  const code = element("code", "card-source");
  code.append(...source.map(sourceNode));
  if (item.kind !== "note")
    content.append(glyphElement(groupOf(item.kind === "off" ? text.replace(/^#\s?/, "") : text)));
  const wordsElement = element("div", "card-words");
  wordsElement.append(code, element("span", "card-result"));
  content.append(wordsElement);
  card.append(content);
  row.append(card);
  card.setAttribute("aria-label", accessibleLabel(item, text, "", say));
  return row;
}

/** @param {import("./card_source.js").Part} part */
function sourceNode(part) {
  if (typeof part === "string") return part;
  const span = element("span", part.style, part.text);
  if (part.name) span.dataset.name = part.name;
  return span;
}

/** The line's number. @param {HTMLElement} row @param {Item} item */
export function setLine(row, { first }) {
  if (row.dataset.line === String(first)) return;
  row.dataset.line = String(first);
  const number = row.querySelector(".card-number");
  if (number) number.textContent = String(first + 1);
}

/** The buttons of the card that the reader is at. @param {Item} item @param {Say} say @param {(name: string) => void} onTool */
export function toolRow(item, say, onTool) {
  const tools = element("div", "card-tools");
  tools.setAttribute("role", "toolbar");
  tools.setAttribute("aria-label", say("card_tools", { line: item.first + 1 }));
  const line = element("span", "card-tools-line", say("card_tools_line", { line: item.first + 1 }));
  line.setAttribute("aria-hidden", "true");
  tools.append(line);
  for (const [name, d] of CARD_TOOLS) {
    const button = /** @type {HTMLButtonElement} */ (element("button", "quiet"));
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

/** What a screen reader says of a card. @param {Item} item @param {string} text @param {string} result @param {Say} say */
function accessibleLabel(item, text, result, say) {
  const key = item.kind === "off" ? "card_spoken_off" : item.kind === "note" ? "card_spoken_note" : "card_spoken";
  return `${say(key, { line: item.first + 1, text })}${result ? `, ${result}` : ""}`;
}

/**
 * Writes on a card what the run says of it. @param {HTMLElement} row @param {Item} item @param {string} text of the card
 * @param {CardFact | null} fact null: the line was not reached @param {{isKnown: boolean, isNow: boolean}} at isKnown: there is a
 *   run of this text, seen to its end; isNow: the step that is shown is at this card @param {Say} say
 */
export function showFact(row, item, text, fact, { isKnown, isNow }, say) {
  const card = /** @type {HTMLElement | null} */ (row.querySelector(".statement-card"));
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
    ? [element("span", "card-missed", say("card_missed"))]
    : fact
      ? resultParts(item, fact, say)
      : [];
  result.replaceChildren(...parts);
  const spokenResult = parts.map((part) => part.textContent).join(" ");
  card.setAttribute("aria-label", accessibleLabel(item, text, item.kind === "off" ? "" : spokenResult, say));
}

/** @param {Item} item @param {CardFact} fact @param {Say} say @returns {HTMLElement[]} */
function resultParts(item, fact, say) {
  const parts = [];
  if (fact.times !== undefined) {
    if (item.word === "for" || item.word === "while")
      parts.push(element("span", "card-text", say("card_rounds", { n: fact.times })));
    return parts;
  }
  if (fact.grads?.length)
    parts.push(element("b", "card-role tracked", `↑ ${fact.grads.map((name) => `${name}.grad`).join(" ")}`));
  if (fact.shape) parts.push(element("b", "", fact.shape));
  if (fact.role)
    parts.push(
      element("span", `card-role${fact.tracked ? " tracked" : ""}`, fact.tracked ? `∇ ${fact.role}` : fact.role),
    );
  if (fact.version) parts.push(element("span", "card-version", `v${fact.version}`));
  if (fact.text) parts.push(element("span", "card-text", fact.text));
  if (fact.type) parts.push(element("span", "card-text", fact.type));
  return parts;
}
