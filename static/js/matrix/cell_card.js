/** The card of a cell: what was asked and printed there, and what is otherwise in another situation. */

import { element } from "../browser/elements.js";
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
function verdictDisc(verdict) {
  return element("i", `disc ${verdict}`);
}

/**
 * @param {MatrixDocument} matrixDocument @param {Address} cellAddress @param {string} program the address of the cell's program
 * @param {Context} context @returns {Node[]}
 */
export function cellCard(matrixDocument, cellAddress, program, context) {
  const operation = matrixDocument.operations.find(({ name }) => name === cellAddress.row);
  const property = matrixDocument.properties.find(({ name }) => name === cellAddress.property);
  if (!operation || !property) return [];
  const cells = Object.fromEntries(
    Object.entries(operation.cells).map(([name, cellsByProperty]) => [name, cellsByProperty[cellAddress.property]]),
  );
  const programLink = link("open", program, `${context.words.open} →`);
  return [
    element("code", "statement", context.titles.get(cellAddress.row)),
    questionElement(property, context),
    resultElement(questionLines(property, operation, context.situation), cells[context.situation], context),
    situationTable(cells, cellAddress, context),
    programLink,
    ...siblingLinks(operation, cellAddress, context),
  ];
}

/** @param {Property} property @param {Context} context */
function questionElement(property, { labels }) {
  const paragraph = element("p", "");
  paragraph.append(element("b", "", labels.get(property.name)), " ", property.meaning);
  return paragraph;
}

/** The lines that ask, as this cell's program has them. @param {Property} property @param {Operation} operation @param {string} situation */
function questionLines({ ask }, { written = "b" }, situation) {
  return ask.replaceAll("{root}", situation.startsWith("node") ? "w" : "a").replaceAll("{written}", written);
}

/** @param {string} lines @param {Cell} cell @param {Context} context */
function resultElement(lines, { verdict, detail = "" }, { words }) {
  const box = element("div", "result");
  const isRefused = /^\w+(Error|Exception)\b/.test(detail);
  box.append(element("pre", "", lines));
  const line = element("p", isRefused ? "refused" : "");
  line.append(verdictDisc(verdict), ` ${words[verdict]}`);
  if (detail) line.append(isRefused ? ": " : " ", element(isRefused ? "q" : "code", "", detail));
  box.append(line);
  return box;
}

/** @param {Record<string, Cell>} cells @param {Address} cellAddress @param {Context} context */
function situationTable(cells, cellAddress, context) {
  const { words, situation } = context;
  if (!decisiveDimensions(cells).length) return element("p", "everywhere", words.everywhere);
  const { rows, columns, at: situationName, dimensions } = verdictTable(cells, situation);
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
      const name = situationName(row, column);
      const cellLink = link(name === situation ? "here" : "", context.address(name, cellAddress), "");
      cellLink.append(verdictDisc(cells[name].verdict), ` ${words[cells[name].verdict]}`);
      line.insertCell().append(cellLink);
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

/** @param {Operation} operation @param {Address} cellAddress @param {Context} context */
function siblingLinks({ siblings: names }, cellAddress, { words, titles }) {
  if (!names.length) return [];
  const paragraph = element("p", "cell-siblings", `${words.siblings}: `);
  names.forEach((name, k) => {
    const title = titles.get(name)?.replace("b = ", "") ?? name;
    const siblingLink = link("", `#at=${name}.${cellAddress.property}`, "");
    siblingLink.dataset.go = name;
    siblingLink.append(element("code", "", title));
    paragraph.append(...(k ? [" · ", siblingLink] : [siblingLink]));
  });
  return [paragraph];
}

/** @param {string} className @param {string} address @param {string} text */
function link(className, address, text) {
  const anchor = /** @type {HTMLAnchorElement} */ (element("a", className, text));
  anchor.href = address;
  return anchor;
}
