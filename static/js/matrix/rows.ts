/** The rows of the matrix in the document: hides, sorts and groups them. */

import { doesRowMatchFilter, type MatrixFilter, type MatrixRowFacts, type CellVerdict } from "./filter.ts";

interface MatrixRow {
  element: HTMLTableRowElement;
  /** the group that it belongs to */
  body: HTMLTableSectionElement;
  facts: MatrixRowFacts;
}

export interface MatrixSorting {
  /** a property, or "statement" */
  by: string;
  /** no before yes, Z before A */
  down: boolean;
}

const VERDICT_SORT_ORDER: (CellVerdict | undefined)[] = ["yes", "no", "not_applicable", "raises"];

export function createMatrixRows(table: HTMLTableElement) {
  const bodies = [...table.tBodies];
  const rows = bodies.flatMap((body) => [...body.rows].map((element) => readMatrixRow(element, body)));
  /** The cell beside each group that names it. */
  const labels = new Map(bodies.map((body) => [body, body.querySelector(".group") as HTMLElement]));
  const sortedBody = document.createElement("tbody");
  const blankLabel = document.createElement("td");
  blankLabel.className = "group";
  labels.set(sortedBody, blankLabel);

  /** The label of a group stands in the first row of it that is in sight. */
  function placeLabel(body: HTMLTableSectionElement) {
    const label = labels.get(body) as HTMLTableCellElement;
    const visibleRows = [...body.rows].filter((row) => !row.hidden);
    body.hidden = !visibleRows.length;
    label.remove();
    label.rowSpan = Math.max(1, visibleRows.length);
    visibleRows[0]?.prepend(label);
  }

  function arrange(sorting: MatrixSorting | null) {
    for (const label of labels.values()) label.remove();
    const ordered = sorting ? rows.toSorted(rowComparator(sorting)) : rows;
    for (const { element, body } of ordered) (sorting ? sortedBody : body).append(element);
    if (sorting) table.append(sortedBody);
    else sortedBody.remove();
    for (const body of labels.keys()) placeLabel(body);
  }

  return {
    count: rows.length,
    /** Those that are in sight, from the top. */
    shown: () => [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.hidden),
    /** Returns the number of rows in sight. */
    show(filter: MatrixFilter, sorting: MatrixSorting | null): number {
      for (const { element, facts } of rows) element.hidden = !doesRowMatchFilter(filter, facts);
      arrange(sorting);
      return rows.filter(({ element }) => !element.hidden).length;
    },
  };
}

function readMatrixRow(element: HTMLTableRowElement, body: HTMLTableSectionElement): MatrixRow {
  const verdicts = new Map<string, CellVerdict>();
  for (const cell of element.querySelectorAll("td[data-verdict]")) {
    const link = cell.querySelector("a") as HTMLElement;
    const verdict = (cell as HTMLElement).dataset.verdict as CellVerdict;
    verdicts.set(link.dataset.property ?? "", verdict);
  }
  const statement = element.querySelector("code")?.textContent ?? "";
  return { element, body, facts: { text: `${element.id} ${statement}`.toLowerCase(), verdicts } };
}

function rowComparator({ by, down }: MatrixSorting): (one: MatrixRow, other: MatrixRow) => number {
  const direction = down ? -1 : 1;
  if (by === "statement") {
    const statementName = ({ element }: MatrixRow) =>
      element.querySelector("code")?.textContent?.replace("b = ", "") ?? "";
    return (rowA, rowB) => direction * statementName(rowA).localeCompare(statementName(rowB), "en");
  }
  const rankOfRow = ({ facts }: MatrixRow) => VERDICT_SORT_ORDER.indexOf(facts.verdicts.get(by) ?? "raises");
  return (rowA, rowB) => direction * (rankOfRow(rowA) - rankOfRow(rowB));
}
