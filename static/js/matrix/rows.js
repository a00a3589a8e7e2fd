/** The rows of the matrix in the document: hides, sorts and groups them. */

import { matchesFilter } from "./filter.js";

/**
 * @typedef {import("./filter.js").Verdict} Verdict
 * @typedef {{element: HTMLTableRowElement, body: HTMLTableSectionElement, facts: import("./filter.js").RowFacts}} Row
 *   body: the group that it belongs to
 * @typedef {{by: string, down: boolean}} Sorting by: a property, or "statement"; down: no before yes, Z before A
 */

/** @type {(Verdict | undefined)[]} */
const VERDICT_ORDER = ["yes", "no", "not_applicable", "raises"];

/** @param {HTMLTableElement} table */
export function createRows(table) {
  const bodies = [...table.tBodies];
  const rows = bodies.flatMap((body) => [...body.rows].map((element) => readRow(element, body)));
  /** The cell beside each group that names it. */
  const labels = new Map(bodies.map((body) => [body, /** @type {HTMLElement} */ (body.querySelector(".group"))]));
  const sortedBody = document.createElement("tbody");
  const blankLabel = document.createElement("td");
  blankLabel.className = "group";
  labels.set(sortedBody, blankLabel);

  /** The label of a group stands in the first row of it that is in sight. @param {HTMLTableSectionElement} body */
  function placeLabel(body) {
    const label = /** @type {HTMLTableCellElement} */ (labels.get(body));
    const visibleRows = [...body.rows].filter((row) => !row.hidden);
    body.hidden = !visibleRows.length;
    label.remove();
    label.rowSpan = Math.max(1, visibleRows.length);
    visibleRows[0]?.prepend(label);
  }

  /** @param {Sorting | null} sorting */
  function arrange(sorting) {
    for (const label of labels.values()) label.remove();
    const ordered = sorting ? rows.toSorted(compareBy(sorting)) : rows;
    for (const { element, body } of ordered) (sorting ? sortedBody : body).append(element);
    if (sorting) table.append(sortedBody);
    else sortedBody.remove();
    for (const body of labels.keys()) placeLabel(body);
  }

  return {
    count: rows.length,
    /** Those that are in sight, from the top. */
    shown: () => [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden),
    /** @param {import("./filter.js").Filter} filter @param {Sorting | null} sorting @returns {number} the rows in sight */
    show(filter, sorting) {
      for (const { element, facts } of rows) element.hidden = !matchesFilter(filter, facts);
      arrange(sorting);
      return rows.filter(({ element }) => !element.hidden).length;
    },
  };
}

/** @param {HTMLTableRowElement} element @param {HTMLTableSectionElement} body @returns {Row} */
function readRow(element, body) {
  /** @type {Map<string, Verdict>} */
  const verdicts = new Map();
  for (const cell of element.querySelectorAll("td[data-verdict]")) {
    const link = /** @type {HTMLElement} */ (cell.querySelector("a"));
    const verdict = /** @type {Verdict} */ (/** @type {HTMLElement} */ (cell).dataset.verdict);
    verdicts.set(link.dataset.property ?? "", verdict);
  }
  const statement = element.querySelector("code")?.textContent ?? "";
  return { element, body, facts: { text: `${element.id} ${statement}`.toLowerCase(), verdicts } };
}

/** @param {Sorting} sorting @returns {(one: Row, other: Row) => number} */
function compareBy({ by, down }) {
  const direction = down ? -1 : 1;
  if (by === "statement") {
    const statementName = (/** @type {Row} */ { element }) =>
      element.querySelector("code")?.textContent?.replace("b = ", "") ?? "";
    return (rowA, rowB) => direction * statementName(rowA).localeCompare(statementName(rowB), "en");
  }
  const rankOfRow = (/** @type {Row} */ { facts }) => VERDICT_ORDER.indexOf(facts.verdicts.get(by) ?? "raises");
  return (rowA, rowB) => direction * (rankOfRow(rowA) - rankOfRow(rowB));
}
