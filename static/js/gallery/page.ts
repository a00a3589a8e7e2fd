/** The gallery: its search and filters, which need no request, and its stills. */

import { buildScenarioIndex, searchScenarios } from "./search.ts";
import { startCardImageLoading } from "./stills.ts";

const elementById = (id: string) => document.getElementById(id) as HTMLElement;

export function startGalleryPage() {
  const field = elementById("gallery-q") as HTMLInputElement;
  const hitList = elementById("found");
  const cards = [...(document.querySelectorAll(".gallery li[data-name]") as NodeListOf<HTMLElement>)];
  const sectionListOf = new Map(cards.map((card) => [card, card.parentElement as HTMLElement]));
  const filters = [...(document.querySelectorAll("button[data-filter]") as NodeListOf<HTMLButtonElement>)];
  const index = buildScenarioIndex(JSON.parse(elementById("gallery-index").textContent ?? "[]"));

  /** Shows what the field and the filters ask for; the search field's best hits first. */
  function render() {
    const query = field.value.trim();
    const pressedFilters = filters.filter(isPressed).map(({ dataset }) => dataset.filter ?? "");
    const orderedNames = searchScenarios(index, query);
    const shownCards = cards.filter((card) => {
      const marks = (card.dataset.marks ?? "").split(" ");
      card.hidden =
        !orderedNames.includes(card.dataset.name ?? "") || !pressedFilters.every((mark) => marks.includes(mark));
      return !card.hidden;
    });
    if (query)
      shownCards.sort(
        (a, b) => orderedNames.indexOf(a.dataset.name ?? "") - orderedNames.indexOf(b.dataset.name ?? ""),
      );
    for (const card of cards) (query && !card.hidden ? hitList : sectionListOf.get(card))?.append(card);
    if (query) hitList.append(...shownCards);
    hitList.hidden = !query;
    for (const section of document.querySelectorAll(".gallery section[id]") as NodeListOf<HTMLElement>)
      section.hidden = Boolean(query) || !section.querySelector("li:not([hidden])");
    elementById("gallery-none").hidden = shownCards.length > 0;
    const countElement = elementById("gallery-count");
    countElement.textContent = (countElement.dataset.form ?? "")
      .replace("{n}", String(shownCards.length))
      .replace("{all}", String(cards.length));
    writeAddress(query, pressedFilters);
  }

  /** The address has what is asked for: a link, and the way back from a scenario, bring it again. */
  function writeAddress(query: string, pressedFilters: string[]) {
    const fields = new URLSearchParams(location.search);
    fields.delete("q");
    fields.delete("only");
    if (query) fields.set("q", query.slice(0, 400));
    for (const mark of pressedFilters) fields.append("only", mark);
    const text = fields.toString();
    history.replaceState(null, "", location.pathname + (text && `?${text}`) + location.hash);
  }

  const isPressed = (button: HTMLElement) => button.getAttribute("aria-pressed") === "true";

  function onKey(event: KeyboardEvent) {
    const isInField = event.target === field;
    if (event.key === "/" && !isInField) {
      event.preventDefault();
      field.select();
    } else if (event.key === "Escape" && field.value) {
      field.value = "";
      render();
      field.focus();
    } else if (event.key === "Enter" && isInField) visibleLinks()[0]?.click();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") moveFocus(event, event.key === "ArrowDown" ? 1 : -1);
  }

  const visibleLinks = () =>
    [...document.querySelectorAll(".gallery li:not([hidden]) a")].flatMap((link) =>
      link instanceof HTMLAnchorElement ? [link] : [],
    );

  /** From the field to the first card, from a card to the next one, back to the field. */
  function moveFocus(event: KeyboardEvent, offset: number) {
    const allLinks = visibleLinks();
    const focusedIndex = allLinks.findIndex((link) => link.contains(event.target as Node));
    if (focusedIndex < 0 && event.target !== field) return;
    const nextIndex = focusedIndex + offset;
    if (nextIndex >= allLinks.length || nextIndex < -1) return;
    event.preventDefault();
    (nextIndex < 0 ? field : allLinks[nextIndex]).focus();
  }

  startCardImageLoading(
    [...document.querySelectorAll("img[data-still]")].filter((image) => image instanceof HTMLImageElement),
  );
  const asked = new URLSearchParams(location.search);
  field.value = asked.get("q") ?? "";
  for (const button of filters) {
    button.setAttribute("aria-pressed", String(asked.getAll("only").includes(button.dataset.filter ?? "")));
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!isPressed(button)));
      render();
    });
  }
  field.addEventListener("input", render);
  document.addEventListener("keydown", onKey);
  render();
}
