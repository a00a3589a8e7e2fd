/** The gallery in the browser: its keys and its stills. The server searches; the page's form says what for. */

import { startRequestFailureMessages } from "../browser/failed_fragments.ts";
import { loadThumbnails, reloadThumbnails } from "../browser/thumbnails.ts";

export function startGalleryPage() {
  document.addEventListener("keydown", onKey);
  startRequestFailureMessages();
  startCardThumbnails();
}

/** The one of the page as it is now: the way back brings another. */
const searchField = () => document.getElementById("gallery-q") as HTMLInputElement;

function onKey(event: KeyboardEvent) {
  const field = searchField();
  const isInField = event.target === field;
  if (event.key === "/" && !isInField) {
    event.preventDefault();
    field.select();
  } else if (event.key === "Escape" && field.value) {
    event.preventDefault();
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  } else if (event.key === "Enter" && isInField && areCardsCurrent()) {
    event.preventDefault();
    cardLinks()[0]?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") moveFocus(event, event.key === "ArrowDown" ? 1 : -1);
}

/** Whether the cards are those that the field asks for. */
const areCardsCurrent = () => document.getElementById("gallery-found")?.dataset.query === searchField().value.trim();

const cardLinks = () => [...document.querySelectorAll<HTMLAnchorElement>(".gallery li a")];

/** From the field to the first card, from a card to the next one, back to the field. */
function moveFocus(event: KeyboardEvent, offset: number) {
  const links = cardLinks();
  const focusedIndex = links.findIndex((link) => link.contains(event.target as Node));
  if (focusedIndex < 0 && event.target !== searchField()) return;
  const nextIndex = focusedIndex + offset;
  if (nextIndex >= links.length || nextIndex < -1) return;
  event.preventDefault();
  (nextIndex < 0 ? searchField() : links[nextIndex]).focus();
}

/** The stills of cards, in the page's theme. */
function startCardThumbnails() {
  const reload = () => reloadThumbnails(document);
  new MutationObserver(reload).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", reload);
  document.addEventListener("htmx:load", () => loadThumbnails(document)); // for what htmx puts into the page
  loadThumbnails(document);
}
