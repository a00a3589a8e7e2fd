/** The card of a cell: what was asked and printed there, and what is otherwise in another situation. */

import { element } from "../elements.js";
import { decisiveDimensions, verdictTable } from "./situations.js";

/**
 * @typedef {import("./situations.js").Cell} Cell
 * @typedef {{name: string, statement: string, siblings: string[], written?: string, cells: Record<string, Record<string, Cell>>}} Operation
 * @typedef {{name: string, meaning: string, ask: string}} Property
 * @typedef {{properties: Property[], operations: Operation[]}} MatrixDocument
 * @typedef {{row: string, property: string}} Address
 * @typedef {{situation: string, words: Record<string, string>, titles: Map<string, string>, labels: Map<string, string>,
 *   address: (situation: string, at: Address) => string}} Context
 *   words: the page's; titles: of operations; labels: of properties; address: of the page in another situation
 */

/** @param {string} verdict */
export function verdictDisc(verdict) {
  return element("i", `disc ${verdict}`);
}

/**
 * @param {MatrixDocument} whole @param {Address} at @param {string} program the address of the cell's program
 * @param {Context} context @returns {Node[]}
 */
export function cellCard(whole, at, program, context) {
  const operation = whole.operations.find(({ name }) => name === at.row);
  const property = whole.properties.find(({ name }) => name === at.property);
  if (!operation || !property) return [];
  const cells = Object.fromEntries(Object.entries(operation.cells).map(([name, all]) => [name, all[at.property]]));
  const open = link("open", program, `${context.words.open} →`);
  return [
    element("code", "statement", context.titles.get(at.row)),
    questionElement(property, context),
    resultElement(linesOf(property, operation, context.situation), cells[context.situation], context),
    situationTable(cells, at, context),
    open,
    ...siblingLinks(operation, at, context),
  ];
}

/** @param {Property} property @param {Context} context */
function questionElement(property, { labels }) {
  const paragraph = element("p", "");
  paragraph.append(element("b", "", labels.get(property.name)), " ", property.meaning);
  return paragraph;
}

/** The lines that ask, as this cell's program has them. @param {Property} property @param {Operation} operation @param {string} situation */
function linesOf({ ask }, { written = "b" }, situation) {
  return ask.replaceAll("{root}", situation.startsWith("node") ? "w" : "a").replaceAll("{written}", written);
}

/** @param {string} lines @param {Cell} cell @param {Context} context */
function resultElement(lines, { verdict, detail = "" }, { words }) {
  const box = element("div", "result");
  const refused = /^\w+(Error|Exception)\b/.test(detail);
  box.append(element("pre", "", lines));
  const line = element("p", refused ? "refused" : "");
  line.append(verdictDisc(verdict), ` ${words[verdict]}`);
  if (detail) line.append(refused ? ": " : " ", element(refused ? "q" : "code", "", detail));
  box.append(line);
  return box;
}

/** @param {Record<string, Cell>} cells @param {Address} at @param {Context} context */
function situationTable(cells, at, context) {
  const { words, situation } = context;
  if (!decisiveDimensions(cells).length) return element("p", "everywhere", words.everywhere);
  const { rows, columns, at: nameOf, dimensions } = verdictTable(cells, situation);
  const table = document.createElement("table");
  table.className = "situations";
  table.createCaption().textContent = words.depends.replace(
    "{on}",
    dimensions.map((name) => words[name]).join(words.and),
  );
  if (columns.length > 1)
    table
      .createTHead()
      .insertRow()
      .append(...headerCells(rows.length > 1 ? ["", ...columns] : columns, words));
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    const head = element("th", "", row.map((value) => words[value]).join(" · "));
    head.setAttribute("scope", "row");
    if (rows.length > 1) line.append(head);
    for (const column of columns) {
      const name = nameOf(row, column);
      const made = link(name === situation ? "here" : "", context.address(name, at), "");
      made.append(verdictDisc(cells[name].verdict), ` ${words[cells[name].verdict]}`);
      line.insertCell().append(made);
    }
  }
  return table;
}

/** @param {string[]} values @param {Record<string, string>} words */
function headerCells(values, words) {
  return values.map((value) => {
    const cell = element(value ? "th" : "td", "", words[value] ?? "");
    if (value) cell.setAttribute("scope", "col");
    return cell;
  });
}

/** @param {Operation} operation @param {Address} at @param {Context} context */
function siblingLinks({ siblings: names }, at, { words, titles }) {
  if (!names.length) return [];
  const paragraph = element("p", "cell-siblings", `${words.siblings}: `);
  names.forEach((name, k) => {
    const title = titles.get(name)?.replace("b = ", "") ?? name;
    const made = link("", `#at=${name}.${at.property}`, "");
    made.dataset.go = name;
    made.append(element("code", "", title));
    paragraph.append(...(k ? [" · ", made] : [made]));
  });
  return [paragraph];
}

/** @param {string} className @param {string} address @param {string} text */
function link(className, address, text) {
  const made = /** @type {HTMLAnchorElement} */ (element("a", className, text));
  made.href = address;
  return made;
}
