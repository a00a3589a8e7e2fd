/** The gallery in the browser: its keys and its stills. The server searches; the page's form says what for. */

import { showRequestFailures } from "../browser/failed_fragments.ts";
import { currentTheme } from "../browser/theme.ts";

export function startGalleryPage() {
  document.addEventListener("keydown", onKey);
  showRequestFailures();
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

/** Milliseconds before a still that was not there is asked for again, and how often. */
const RETRY_IMAGE_AFTER_MS = 2500;
const MAX_IMAGE_TRIES = 3;
/** A browser has six connections to a server; a search never waits until stills are drawn. */
const MAX_IMAGES_AT_ONCE = 3;

/** The stills of cards: loaded as they come into sight, in the page's theme, once more where one is not made yet. */
function startCardThumbnails() {
  const shownAddresses = new Set<string>();
  const waiting: HTMLImageElement[] = [];
  let loading = 0;
  const stills = () => document.querySelectorAll<HTMLImageElement>("img[data-still]");
  const addressOf = (image: HTMLImageElement) => `${image.dataset.still}?theme=${currentTheme()}`;
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries)
        if (isIntersecting && target instanceof HTMLImageElement) {
          observer.unobserve(target);
          waiting.push(target);
        }
      loadNext();
    },
    { rootMargin: "300px" },
  );

  function loadNext() {
    while (loading < MAX_IMAGES_AT_ONCE && waiting.length) {
      const image = waiting.shift() as HTMLImageElement;
      if (image.isConnected) void load(image);
    }
  }

  async function load(image: HTMLImageElement) {
    const address = addressOf(image);
    image.src = address;
    loading++;
    const isThere = await image.decode().then(
      () => true,
      () => false,
    );
    loading--;
    image.classList.toggle("there", isThere);
    const tries = Number(image.dataset.tries ?? 0) + 1;
    image.dataset.tries = String(tries);
    if (isThere) shownAddresses.add(address);
    else if (tries < MAX_IMAGE_TRIES) setTimeout(() => waiting.push(image) && loadNext(), RETRY_IMAGE_AFTER_MS);
    loadNext();
  }

  function loadAsTheyAppear() {
    for (const image of stills())
      if (shownAddresses.has(addressOf(image))) {
        image.src = addressOf(image);
        image.classList.add("there"); // without fading in: it was in sight a moment ago
      } else observer.observe(image);
  }

  function reload() {
    waiting.push(...[...stills()].filter(({ src }) => src));
    loadNext();
  }
  new MutationObserver(reload).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", reload);
  document.addEventListener("htmx:load", loadAsTheyAppear); // for what htmx puts into the page
  loadAsTheyAppear();
}
