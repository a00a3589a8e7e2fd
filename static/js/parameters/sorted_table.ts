/** A table whose headings sort it, whose parts open and close, and whose rows the arrow keys go through. */

import { element } from "../browser/elements.ts";
import { itemsUnderNode, type NameNode } from "./name_tree.ts";

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
  /** what a row's class and cells depend on: as long as it is the same object, the row stays as it is */
  lookOf: (node: NameNode<T>) => unknown;
  /** called when a row that stands for one thing is chosen; null: it can't be */
  choose: ((node: NameNode<T>) => void) | null;
  chooseLabel: (node: NameNode<T>) => string;
  /** the name of a row where all are shown beside each other */
  fullName: (node: NameNode<T>) => string;
}

interface DrawnRow {
  row: HTMLElement;
  madeOf: readonly unknown[];
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
  /** by path, the rows that are shown, with what each was made of */
  let drawn = new Map<string, DrawnRow>();
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
      orders = new WeakMap();
      options.onChange();
    });
    cell.append(press);
    return { id, cell, press };
  }

  /** by a part's nodes, their order and what they were compared by */
  let orders = new WeakMap<NameNode<T>[], { keys: (number | string | null)[]; nodes: NameNode<T>[] }>();

  function sorted(nodes: NameNode<T>[]) {
    const keys = nodes.map((node) => options.keyOf(node, order.column));
    const known = orders.get(nodes);
    if (known?.keys.every((key, k) => key === keys[k])) return known.nodes;
    const places = [...keys.keys()].sort((a, b) => compared(keys[a], keys[b], order.isReversed));
    const inOrder = { keys, nodes: places.map((k) => nodes[k]) };
    orders.set(nodes, inOrder);
    return inOrder.nodes;
  }

  /** `opened` are the parts that are open unless the reader said otherwise. */
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
    const rows = rowsWithin(nodes, isOpen, isFlat);
    drawn = new Map(rows.map((each) => [each.row.dataset.path ?? "", each]));
    placeRows(
      body,
      rows.map(({ row }) => row),
    );
    if (focused !== null && focusedPath(body) !== focused) focusPath(body, focused);
  }

  /** The rows of nodes in order, those of an open one below it; of a part with very many the first. */
  function rowsWithin(
    nodes: NameNode<T>[],
    isOpen: (node: NameNode<T>) => boolean,
    isFlat: boolean,
    owner: NameNode<T> | null = null,
  ): DrawnRow[] {
    const limit = limits.get(owner?.path ?? "") ?? ROWS_AT_A_TIME;
    const rows = sorted(nodes)
      .slice(0, limit)
      .flatMap((node) => {
        const open = node.children.length > 0 && isOpen(node);
        return [drawnRow(node, open, isFlat), ...(open ? rowsWithin(node.children, isOpen, isFlat, node) : [])];
      });
    return nodes.length > limit ? [...rows, moreRow(owner, nodes.length - limit)] : rows;
  }

  /** The row that stands there, where it would be made the same again. */
  function drawnRow(node: NameNode<T>, isOpen: boolean, isFlat: boolean): DrawnRow {
    const madeOf = [node, isOpen, isFlat, options.lookOf(node)];
    const before = drawn.get(node.path);
    if (before?.madeOf.every((each, k) => each === madeOf[k])) return before;
    return { row: rowOf(node, isOpen, isFlat), madeOf };
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
      press.setAttribute("aria-label", options.openLabel(options.fullName(node), itemsUnderNode(node).length));
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

  function moreRow(owner: NameNode<T> | null, left: number): DrawnRow {
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
    return { row, madeOf: [] };
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
      drawn.clear();
    },
  };
}

/** Puts rows into a body in their order; those that stand there already are not touched. */
function placeRows(body: HTMLElement, rows: HTMLElement[]) {
  const wanted = new Set<Element>(rows);
  for (const row of [...body.children]) if (!wanted.has(row)) row.remove();
  let next = body.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
}

function focusedPath(body: HTMLElement): string | null {
  const focused = document.activeElement;
  return focused && body.contains(focused) ? (focused.closest("tr")?.dataset.path ?? null) : null;
}

function focusPath(body: HTMLElement, path: string) {
  for (const row of body.querySelectorAll<HTMLElement>("tr"))
    if (row.dataset.path === path) row.querySelector<HTMLElement>("button")?.focus();
}

const ALPHABET = new Intl.Collator("en", { numeric: true });

/** Words by the alphabet, with numbers in them as numbers; what is null comes last in either direction. */
function compared(a: number | string | null, b: number | string | null, isReversed: boolean) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const order = typeof a === "string" || typeof b === "string" ? ALPHABET.compare(String(a), String(b)) : a - b;
  return isReversed ? -order : order;
}
