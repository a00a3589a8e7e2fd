/** The gallery: its search and filters, which need no request, and its stills. */

import { looksLikeError, matchError } from "./error_match.ts";
import { buildScenarioIndex, searchScenarios } from "./search.ts";
import { currentTheme } from "../browser/theme.ts";

const elementById = (id: string) => document.getElementById(id) as HTMLElement;

export function startGalleryPage() {
  const field = elementById("gallery-q") as HTMLInputElement;
  const hitList = elementById("found");
  const cards = [...(document.querySelectorAll(".gallery li[data-name]") as NodeListOf<HTMLElement>)];
  const sectionListOf = new Map(cards.map((card) => [card, card.parentElement as HTMLElement]));
  const filters = [...(document.querySelectorAll("button[data-filter]") as NodeListOf<HTMLButtonElement>)];
  const entries = JSON.parse(elementById("gallery-index").textContent ?? "[]");
  const index = buildScenarioIndex(entries);

  /** Shows what the field and the filters ask for; the search field's best hits first. */
  function render() {
    const query = field.value.trim();
    const pressedFilters = filters.filter(isPressed).map(({ dataset }) => dataset.filter ?? "");
    const { exact, similar } = looksLikeError(query) ? matchError(entries, index, query) : { exact: null, similar: [] };
    const isUnknownError = exact?.length === 0;
    const orderedNames = isUnknownError ? similar : (exact ?? searchScenarios(index, query));
    elementById("gallery-unknown").hidden = !isUnknownError;
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
    elementById("gallery-none").hidden = shownCards.length > 0 || isUnknownError;
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

/** Milliseconds before a still that was not there is asked for again, and how often. */
const RETRY_IMAGE_AFTER_MS = 2500;
const MAX_IMAGE_TRIES = 3;

/**
 * The stills of cards, each with its address in `data-still`: loaded as they come into sight, in the page's theme, once
 * more where one is not made yet.
 */
function startCardImageLoading(images: HTMLImageElement[]) {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && target instanceof HTMLImageElement) {
          observer.unobserve(target);
          loadCardImage(target, MAX_IMAGE_TRIES);
        }
    },
    { rootMargin: "300px" },
  );
  for (const image of images) observer.observe(image);
  const reload = () => {
    for (const image of images) if (image.src) loadCardImage(image, 1);
  };
  new MutationObserver(reload).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", reload);
}

function loadCardImage(image: HTMLImageElement, triesLeft: number) {
  image.onload = () => image.classList.add("there");
  image.onerror = () => {
    image.classList.remove("there");
    if (triesLeft > 1) setTimeout(() => loadCardImage(image, triesLeft - 1), RETRY_IMAGE_AFTER_MS);
  };
  image.src = `${image.dataset.still}?theme=${currentTheme()}`;
}
