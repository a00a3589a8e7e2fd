/** The card of a cell: what was asked and printed there, and what is otherwise in another situation. */

import { createElement } from "../browser/elements.ts";
import { dimensionsThatChangeVerdict, verdictTable, type MatrixCell } from "./situations.ts";

interface MatrixOperation {
  name: string;
  statement: string;
  siblings: string[];
  written?: string;
  cells: Record<string, Record<string, MatrixCell>>;
}

interface MatrixProperty {
  name: string;
  meaning: string;
  ask: string;
}

export interface MatrixDocument {
  properties: MatrixProperty[];
  operations: MatrixOperation[];
}

export interface CellAddress {
  row: string;
  property: string;
}

interface CellCardContext {
  situation: string;
  /** the page's */
  words: Record<string, string>;
  /** of operations */
  titles: Map<string, string>;
  /** of properties */
  labels: Map<string, string>;
  /** of the page in another situation */
  address: (situation: string, at: CellAddress) => string;
}

function verdictIcon(verdict: string) {
  return createElement("i", `disc ${verdict}`);
}

/** `program` is the address of the cell's program. */
export function cellCardNodes(
  matrixDocument: MatrixDocument,
  cellAddress: CellAddress,
  program: string,
  context: CellCardContext,
): Node[] {
  const operation = matrixDocument.operations.find(({ name }) => name === cellAddress.row);
  const property = matrixDocument.properties.find(({ name }) => name === cellAddress.property);
  if (!operation || !property) return [];
  const cells = Object.fromEntries(
    Object.entries(operation.cells).map(([name, cellsByProperty]) => [name, cellsByProperty[cellAddress.property]]),
  );
  const programLink = linkElement("open", program, `${context.words.open} →`);
  return [
    createElement("code", "statement", context.titles.get(cellAddress.row)),
    questionElement(property, context),
    resultElement(questionLines(property, operation, context.situation), cells[context.situation], context),
    situationTable(cells, cellAddress, context),
    programLink,
    ...siblingLinks(operation, cellAddress, context),
  ];
}

function questionElement(property: MatrixProperty, { labels }: CellCardContext) {
  const paragraph = createElement("p", "");
  paragraph.append(createElement("b", "", labels.get(property.name)), " ", property.meaning);
  return paragraph;
}

/** The lines that ask, as this cell's program has them. */
function questionLines({ ask }: MatrixProperty, { written = "b" }: MatrixOperation, situation: string) {
  return ask.replaceAll("{root}", situation.startsWith("node") ? "w" : "a").replaceAll("{written}", written);
}

function resultElement(lines: string, { verdict, detail = "" }: MatrixCell, { words }: CellCardContext) {
  const box = createElement("div", "result");
  const isRefused = /^\w+(Error|Exception)\b/.test(detail);
  box.append(createElement("pre", "", lines));
  const line = createElement("p", isRefused ? "refused" : "");
  line.append(verdictIcon(verdict), ` ${words[verdict]}`);
  if (detail) line.append(isRefused ? ": " : " ", createElement(isRefused ? "q" : "code", "", detail));
  box.append(line);
  return box;
}

function situationTable(cells: Record<string, MatrixCell>, cellAddress: CellAddress, context: CellCardContext) {
  const { words, situation } = context;
  if (!dimensionsThatChangeVerdict(cells).length) return createElement("p", "everywhere", words.everywhere);
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
      .append(...tableHeaderCells(rows.length > 1 ? ["", ...columns] : columns, words));
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    const head = createElement("th", "", row.map((value) => words[value]).join(" · "));
    head.setAttribute("scope", "row");
    if (rows.length > 1) line.append(head);
    for (const column of columns) {
      const name = situationName(row, column);
      const cellLink = linkElement(name === situation ? "here" : "", context.address(name, cellAddress), "");
      cellLink.append(verdictIcon(cells[name].verdict), ` ${words[cells[name].verdict]}`);
      line.insertCell().append(cellLink);
    }
  }
  return table;
}

function tableHeaderCells(values: string[], words: Record<string, string>) {
  return values.map((value) => {
    const cell = createElement(value ? "th" : "td", "", words[value] ?? "");
    if (value) cell.setAttribute("scope", "col");
    return cell;
  });
}

function siblingLinks(
  { siblings: names }: MatrixOperation,
  cellAddress: CellAddress,
  { words, titles }: CellCardContext,
) {
  if (!names.length) return [];
  const paragraph = createElement("p", "cell-siblings", `${words.siblings}: `);
  names.forEach((name, k) => {
    const title = titles.get(name)?.replace("b = ", "") ?? name;
    const siblingLink = linkElement("", `#at=${name}.${cellAddress.property}`, "");
    siblingLink.dataset.go = name;
    siblingLink.append(createElement("code", "", title));
    paragraph.append(...(k ? [" · ", siblingLink] : [siblingLink]));
  });
  return [paragraph];
}

function linkElement(className: string, address: string, text: string) {
  const anchor = createElement("a", className, text) as HTMLAnchorElement;
  anchor.href = address;
  return anchor;
}
