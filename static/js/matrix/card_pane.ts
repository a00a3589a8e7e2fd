/** Where the card of a cell is shown: it follows the pointer and the focus, and stays on a cell that was chosen. */

import { SERVER_ROOT } from "../requests/root.ts";
import { cellCardNodes, type CellAddress, type MatrixDocument } from "./cell_card.ts";

/** Milliseconds that the pointer rests on a cell before its card is shown. */
const HOVER_DELAY_MS = 60;

/** Where the card has its place beside the table, and a pointer that can hover. */
const roomBesideTableQuery = matchMedia("(min-width: 1261px) and (hover: hover)");

/** All cells of all situations, asked for once. */
function createMatrixDocumentLoader(): () => Promise<MatrixDocument> {
  let loading: Promise<MatrixDocument> | null = null;
  return () => {
    loading ??= fetch(`${SERVER_ROOT}/matrix.json?lang=${document.documentElement.lang}`).then((response) => {
      if (!response.ok) throw new Error(String(response.status));
      return response.json();
    });
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
}

/** `onChoice` is called when another cell is chosen, by a key, a click or an address. */
export function startCellCardPane(
  table: HTMLTableElement,
  properties: { name: string; label: string }[],
  onChoice: () => void,
) {
  const pane = document.getElementById("cell-card") as HTMLElement;
  const body = pane.querySelector(".card-body") as HTMLElement;
  const loadDocument = createMatrixDocumentLoader();
  const rows = [...(table.querySelectorAll("tbody tr") as NodeListOf<HTMLElement>)];
  const context = {
    situation: pane.dataset.situation ?? "",
    words: JSON.parse(document.getElementById("card-words")?.textContent ?? "{}"),
    titles: new Map(rows.map(({ id }) => [id, document.querySelector(`#${id} code`)?.textContent ?? ""])),
    labels: new Map(properties.map(({ name, label }) => [name, label])),
    address(situation: string, { row, property }: CellAddress) {
      const [tensor, memory, mode] = situation.split(".");
      const query = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries({ tensor, memory, mode })) query.set(name, value);
      return `${SERVER_ROOT}/matrix?${query}#at=${row}.${property}`;
    },
  };
  let shownLink: HTMLAnchorElement | null = null;
  /** What the card goes back to when the pointer leaves the table. */
  let chosenLink: HTMLAnchorElement | null = null;
  let hoverTimer = 0;

  async function show(link: HTMLAnchorElement) {
    if (link === shownLink) return;
    shownLink?.parentElement?.classList.remove("at");
    shownLink = link;
    link.parentElement?.classList.add("at");
    try {
      const matrixDocument = await loadDocument();
      if (link !== shownLink) return;
      body.replaceChildren(...cellCardNodes(matrixDocument, cellAddressOfLink(link), link.href, context));
    } catch {
      body.textContent = context.words.failed;
    }
    pane.hidden = false;
    pane.scrollTop = 0;
    if (!roomBesideTableQuery.matches) keepInSight(link);
  }

  /** The card covers the foot of the window. */
  function keepInSight(link: HTMLAnchorElement) {
    table.parentElement?.scrollIntoView({ block: "start" });
    link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function choose(link: HTMLAnchorElement) {
    chosenLink = link;
    onChoice();
    return show(link);
  }

  function close() {
    shownLink?.parentElement?.classList.remove("at");
    shownLink = chosenLink = null;
    pane.hidden = true;
    onChoice();
  }

  /** Takes a cell as the address names it. */
  function openCell(cellAddress: string) {
    const [row, property] = cellAddress.split(".");
    const rowElement = rows.find(({ id }) => id === row);
    const link =
      rowElement?.querySelector(`a[data-property="${CSS.escape(property ?? "")}"]`) ?? rowElement?.querySelector("a");
    if (!rowElement || !(link instanceof HTMLAnchorElement)) return;
    rowElement.scrollIntoView({ block: "nearest" });
    choose(link);
  }

  const cellOf = ({ target }: Event): HTMLAnchorElement | null =>
    (target instanceof Element ? target.closest("tbody td")?.querySelector("a") : null) ?? null;

  table.addEventListener("pointerover", (event) => {
    const link = cellOf(event);
    clearTimeout(hoverTimer);
    if (link && roomBesideTableQuery.matches) hoverTimer = window.setTimeout(() => show(link), HOVER_DELAY_MS);
  });
  table.addEventListener("pointerleave", () => {
    clearTimeout(hoverTimer);
    if (chosenLink) show(chosenLink);
  });
  table.addEventListener("focusin", (event) => {
    const link = cellOf(event);
    if (link?.matches(":focus-visible")) choose(link);
  });
  table.addEventListener("click", (event) => {
    const link = cellOf(event);
    if (!link || link === shownLink || roomBesideTableQuery.matches) return;
    event.preventDefault(); // the card comes before the program
    choose(link);
  });
  pane.addEventListener("click", (event) => {
    const sibling = event.target instanceof Element ? event.target.closest("[data-go]") : null;
    if (!(sibling instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    openCell(sibling.hash.replace("#at=", ""));
  });
  pane.querySelector("[data-close]")?.addEventListener("click", close);
  window.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && shownLink) close();
  });

  return {
    open: openCell,
    /** The cell that was chosen, as the address names it. */
    at: () => (chosenLink ? Object.values(cellAddressOfLink(chosenLink)).join(".") : null),
  };
}

function cellAddressOfLink(link: HTMLAnchorElement) {
  return { row: link.closest("tr")?.id ?? "", property: link.dataset.property ?? "" };
}
