/** The page of the matrix: filters, sorts and walks its table, and keeps the address in step. */

import { startCellKeyboard } from "./cell_keys.ts";
import { startCellCardPane } from "./card_pane.ts";
import { parseMatrixFilter } from "./filter.ts";
import { createMatrixRows, type MatrixSorting } from "./rows.ts";
import { startThemeButton } from "../browser/theme.ts";

const elementById = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

function startMatrixPage(table: HTMLTableElement) {
  const rows = createMatrixRows(table);
  const sortHeads = [...(table.querySelectorAll("th[data-sort]") as NodeListOf<HTMLElement>)];
  const properties = sortHeads.slice(1).map((head) => ({
    name: head.dataset.sort ?? "",
    label: (head.textContent ?? "").replace("_ ", "_"),
  }));
  const filterField = elementById("filter") as HTMLInputElement;
  const differingBox = elementById("differing") as HTMLInputElement;
  const countElement = elementById("count");
  let sorting: MatrixSorting | null = null;
  const cellKeys = startCellKeyboard(table, rows.shown);
  const card = startCellCardPane(table, properties, writeAddress);

  function render() {
    const shownCount = rows.show(parseMatrixFilter(filterField.value, properties), sorting);
    table.classList.toggle("differing", differingBox.checked);
    elementById("none").hidden = shownCount > 0;
    const template = countElement.dataset[shownCount ? "form" : "none"] ?? "";
    countElement.textContent = template.replace("{n}", String(shownCount)).replace("{all}", String(rows.count));
    for (const head of sortHeads) {
      const headSorting = sorting && sorting.by === head.dataset.sort ? sorting : null;
      head.ariaSort = headSorting ? (headSorting.down ? "descending" : "ascending") : "none";
      head.dataset.direction = headSorting ? (headSorting.down ? "down" : "up") : "";
    }
    cellKeys.refresh();
    writeAddress();
  }

  /** The fragment has what the reader chose, and every link to another situation or language takes it along. */
  function writeAddress() {
    const fields = new URLSearchParams();
    if (filterField.value.trim()) fields.set("q", filterField.value.trim());
    if (sorting) fields.set("sort", (sorting.down ? "-" : "") + sorting.by);
    if (differingBox.checked) fields.set("only", "differing");
    if (card.at()) fields.set("at", card.at() ?? "");
    const text = fields.toString();
    history.replaceState(null, "", location.pathname + location.search + (text && `#${text}`));
    for (const link of document.querySelectorAll("a[data-keep], a[data-switch]") as NodeListOf<HTMLAnchorElement>)
      link.hash = text;
  }

  function readAddress() {
    const fields = new URLSearchParams(location.hash.slice(1));
    const sort = fields.get("sort");
    filterField.value = fields.get("q") ?? "";
    differingBox.checked = fields.get("only") === "differing";
    sorting = sort ? { by: sort.replace(/^-/, ""), down: sort.startsWith("-") } : null;
    if (!sortHeads.some((head) => head.dataset.sort === sorting?.by)) sorting = null;
    const cellAddress = fields.get("at");
    render();
    if (cellAddress) card.open(cellAddress);
  }

  for (const head of sortHeads) addSortButton(head);
  function addSortButton(head: HTMLElement) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const column = head.dataset.sort ?? "";
      const isSameColumn = sorting?.by === column;
      sorting = isSameColumn && sorting?.down ? null : { by: column, down: isSameColumn };
      render();
    });
  }

  filterField.addEventListener("input", render);
  differingBox.addEventListener("change", render);
  window.addEventListener("hashchange", readAddress);
  window.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    filterField.focus();
  });
  elementById("print").addEventListener("click", () => print());
  for (const id of ["filter", "print-way", "differing-label"]) elementById(id).hidden = false;
  readAddress();
}

startThemeButton(elementById("theme"));
const matrixTable = document.querySelector(".matrix-table") as HTMLTableElement | null;
if (matrixTable) startMatrixPage(matrixTable);
