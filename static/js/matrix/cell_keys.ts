/** The cells of the matrix by keyboard: one of them is a stop of Tab, the arrow keys go to the others. */

/** Rows and columns that a key goes on by; Home and End go to the ends of a row. */
const CELL_MOVES_BY_KEY: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
  PageUp: [-10, 0],
  PageDown: [10, 0],
};

const clampIndex = (index: number, count: number) => Math.min(Math.max(index, 0), count - 1);

export function startCellKeyboard(table: HTMLTableElement, shownRows: () => HTMLTableRowElement[]) {
  const linksOf = (row: Element) => [...row.querySelectorAll("a")];
  let tabStop: HTMLAnchorElement | null = null;
  /** Where the reader wants to be in each row: one that raises has a single cell. */
  let column = 0;

  function moveStop(link: HTMLAnchorElement) {
    if (tabStop) tabStop.tabIndex = -1;
    tabStop = link;
    link.tabIndex = 0;
  }

  /** A stop that is in sight, whatever has been filtered or sorted. */
  function refresh() {
    const rows = shownRows();
    if (rows.length && (!tabStop || !rows.some((row) => row.contains(tabStop)))) moveStop(linksOf(rows[0])[0]);
  }

  table.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLAnchorElement) moveStop(target);
  });
  table.addEventListener("keydown", (event) => {
    const move = CELL_MOVES_BY_KEY[event.key];
    if (!move || !(event.target instanceof HTMLAnchorElement) || event.altKey || event.metaKey) return;
    const rows = shownRows();
    const row = rows.findIndex((member) => member.contains(event.target as Node));
    const links = linksOf(rows[row]);
    const linkIndex = links.indexOf(event.target);
    if (links.length > 1) column = linkIndex;
    const isToLastRow = event.ctrlKey && !Number.isFinite(move[1]);
    const nextLinks = linksOf(
      rows[isToLastRow ? (move[1] < 0 ? 0 : rows.length - 1) : clampIndex(row + move[0], rows.length)],
    );
    if (move[1]) column = clampIndex(linkIndex + move[1], links.length);
    nextLinks[clampIndex(column, nextLinks.length)].focus();
    event.preventDefault();
  });
  for (const link of table.querySelectorAll("tbody a")) (link as HTMLElement).tabIndex = -1;
  refresh();
  return { refresh };
}
