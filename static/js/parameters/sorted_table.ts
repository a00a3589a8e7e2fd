/** A table whose headings sort it, whose parts open and close, and whose rows the arrow keys go through. */

import { element } from "../browser/elements.ts";
import { itemsIn, type NameNode } from "./name_tree.ts";

export interface TableColumn {
  id: string;
  label: string;
  /** numbers end below each other */
  isNumber?: boolean;
}

interface TableOptions<T> {
  className: string;
  caption: string;
  /** what heads the sorting to a reader who can't see it, by the column's label */
  sortLabel: (column: string) => string;
  openLabel: (name: string, count: number) => string;
  moreLabel: (name: string, count: number, next: number) => string;
  /** the column that it is sorted by at first */
  sortedBy: string;
  /** called when the reader changed the order, or opened or closed a part */
  onChange: () => void;
  /** what a row is compared by; null comes last */
  keyOf: (node: NameNode<T>, column: string) => number | string | null;
  /** the cells behind the first, as nodes or texts, each with the class of its cell */
  cellsOf: (node: NameNode<T>) => { className?: string; title?: string; content: (Node | string)[] }[];
  rowClass: (node: NameNode<T>) => string;
  /** called when a row that stands for one thing is chosen; null: it can't be */
  choose: ((node: NameNode<T>) => void) | null;
  chooseLabel: (node: NameNode<T>) => string;
  /** the name of a row where all are shown beside each other */
  fullName: (node: NameNode<T>) => string;
}

/** Rows of one part that are made at a time: the next come when they are asked for. */
const ROWS_AT_A_TIME = 60;

export function createSortedTable<T>(columns: TableColumn[], options: TableOptions<T>) {
  const table = element("table", `sorted-table ${options.className}`);
  const caption = element("caption", "", options.caption);
  const head = element("thead", "");
  const body = element("tbody", "");
  table.append(caption, head, body);
  const order = { column: options.sortedBy, isReversed: false };
  /** by path, what the reader opened or closed */
  const chosen = new Map<string, boolean>();
  /** by path, how many of its rows are shown */
  const limits = new Map<string, number>();
  const headings = columns.map((column) => createHeading(column));
  const headRow = element("tr", "");
  headRow.append(...headings.map(({ cell }) => cell));
  head.append(headRow);

  function createHeading({ id, label, isNumber }: TableColumn) {
    const cell = element("th", isNumber ? "number" : "");
    cell.setAttribute("scope", "col");
    const press = element("button", "sorts", label);
    press.setAttribute("type", "button");
    press.addEventListener("click", () => {
      order.isReversed = order.column === id && !order.isReversed;
      order.column = id;
      options.onChange();
    });
    cell.append(press);
    return { id, cell, press };
  }

  function sorted(nodes: NameNode<T>[]) {
    const keyed = nodes.map((node) => ({ node, key: options.keyOf(node, order.column) }));
    return keyed.sort((a, b) => compared(a.key, b.key, order.isReversed)).map(({ node }) => node);
  }

  /** @param opened the parts that are open unless the reader said otherwise */
  function show(nodes: NameNode<T>[], opened: Set<string>, labels: Record<string, string> = {}) {
    for (const { id, cell, press } of headings) {
      if (labels[id]) press.textContent = labels[id];
      press.setAttribute("aria-label", options.sortLabel(press.textContent ?? ""));
      if (id === order.column) cell.setAttribute("aria-sort", order.isReversed ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const focused = focusedPath(body);
    const isOpen = (node: NameNode<T>) => chosen.get(node.path) ?? opened.has(node.path);
    const isFlat = nodes.every((node) => !node.children.length);
    body.replaceChildren(...rowsWithin(nodes, isOpen, isFlat));
    if (focused !== null) focusPath(body, focused);
  }

  /** The rows of nodes in order, those of an open one below it; of a part with very many the first. */
  function rowsWithin(
    nodes: NameNode<T>[],
    isOpen: (node: NameNode<T>) => boolean,
    isFlat: boolean,
    owner: NameNode<T> | null = null,
  ): HTMLElement[] {
    const limit = limits.get(owner?.path ?? "") ?? ROWS_AT_A_TIME;
    const rows = sorted(nodes)
      .slice(0, limit)
      .flatMap((node) => {
        const open = node.children.length > 0 && isOpen(node);
        return [rowOf(node, open, isFlat), ...(open ? rowsWithin(node.children, isOpen, isFlat, node) : [])];
      });
    return nodes.length > limit ? [...rows, moreRow(owner, nodes.length - limit)] : rows;
  }

  function rowOf(node: NameNode<T>, isOpen: boolean, isFlat: boolean): HTMLElement {
    const row = element("tr", options.rowClass(node));
    row.dataset.path = node.path;
    const name = element("th", "name");
    name.setAttribute("scope", "row");
    name.style.setProperty("--depth", String(node.depth));
    name.append(nameOf(node, isOpen, isFlat));
    row.append(name);
    options.cellsOf(node).forEach(({ className, title, content }, k) => {
      const cell = element("td", `${columns[k + 1].isNumber ? "number " : ""}${className ?? ""}`.trim());
      if (title) cell.title = title;
      cell.append(...content);
      row.append(cell);
    });
    return row;
  }

  function nameOf(node: NameNode<T>, isOpen: boolean, isFlat: boolean): HTMLElement {
    const label = isFlat ? options.fullName(node) : node.label;
    if (node.children.length) {
      const press = element("button", "opens", label);
      press.setAttribute("type", "button");
      press.setAttribute("aria-expanded", String(isOpen));
      press.setAttribute("aria-label", options.openLabel(options.fullName(node), itemsIn(node).length));
      press.addEventListener("click", () => {
        chosen.set(node.path, !isOpen);
        options.onChange();
      });
      return press;
    }
    const { choose } = options;
    if (!choose) return element("span", "", label);
    const press = element("button", "chooses", label);
    press.setAttribute("type", "button");
    press.title = options.chooseLabel(node);
    press.addEventListener("click", () => choose(node));
    return press;
  }

  function moreRow(owner: NameNode<T> | null, left: number): HTMLElement {
    const path = owner?.path ?? "";
    const row = element("tr", "more-rows");
    row.dataset.path = `${path} more`;
    const cell = element("td", "");
    cell.setAttribute("colspan", String(columns.length));
    const next = Math.min(left, ROWS_AT_A_TIME);
    const press = element("button", "opens-more", options.moreLabel(owner ? options.fullName(owner) : "", left, next));
    press.setAttribute("type", "button");
    press.addEventListener("click", () => {
      limits.set(path, (limits.get(path) ?? ROWS_AT_A_TIME) + ROWS_AT_A_TIME);
      options.onChange();
    });
    cell.append(press);
    row.append(cell);
    return row;
  }

  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...body.querySelectorAll<HTMLElement>("button")];
    const next = buttons[buttons.indexOf(document.activeElement as HTMLElement) + step];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  });

  return {
    element: table,
    show,
    /** The reader opened and closed parts of another run: forget which. */
    reset() {
      chosen.clear();
      limits.clear();
    },
  };
}

function focusedPath(body: HTMLElement): string | null {
  const focused = document.activeElement;
  return focused && body.contains(focused) ? (focused.closest("tr")?.dataset.path ?? null) : null;
}

function focusPath(body: HTMLElement, path: string) {
  for (const row of body.querySelectorAll<HTMLElement>("tr"))
    if (row.dataset.path === path) row.querySelector<HTMLElement>("button")?.focus();
}

/** Words by the alphabet, with numbers in them as numbers; what is null comes last in either direction. */
function compared(a: number | string | null, b: number | string | null, isReversed: boolean) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order =
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), "en", { numeric: true })
      : a - b;
  return isReversed ? -order : order;
}
