/**
 * Thumbnails of operations and of scenarios: loaded as they come into sight, in the page's theme, and asked for again
 * while the server has not drawn them.
 */

import { currentTheme } from "./theme.ts";

/** Milliseconds before one that is not drawn yet is asked for again; each time longer. */
const RETRY_MS = 2500;
const MAX_TRIES = 5;
/** A browser has six connections to a server; nothing else waits until thumbnails are drawn. */
const MAX_AT_ONCE = 3;
/** What the server answers until it has drawn one; the page then keeps the place empty. */
const NOT_DRAWN_YET = 202;

const waiting: HTMLImageElement[] = [];
const tries = new WeakMap<HTMLImageElement, number>();
const shownAddresses = new Set<string>();
let loading = 0;
let observer: IntersectionObserver | null = null;

const addressOf = (image: HTMLImageElement) => `${image.dataset.thumbnail}?theme=${currentTheme()}`;

/** Begins to load those in an element: `img[data-thumbnail]`, by their address without the theme. */
export function loadThumbnails(root: ParentNode) {
  observer ??= new IntersectionObserver(loadVisibleThumbnails, { rootMargin: "300px" });
  for (const image of root.querySelectorAll<HTMLImageElement>("img[data-thumbnail]"))
    if (shownAddresses.has(addressOf(image))) {
      image.src = addressOf(image);
      image.classList.add("there"); // without fading in: it was in sight a moment ago
    } else observer.observe(image);
}

/** Loads again those that have been loaded, for another theme. */
export function reloadThumbnails(root: ParentNode) {
  const images = [...root.querySelectorAll<HTMLImageElement>("img[data-thumbnail]")];
  waiting.push(...images.filter(({ src }) => src));
  loadNextThumbnails();
}

function loadVisibleThumbnails(entries: IntersectionObserverEntry[]) {
  for (const { isIntersecting, target } of entries)
    if (isIntersecting && target instanceof HTMLImageElement) {
      observer?.unobserve(target);
      waiting.push(target);
    }
  loadNextThumbnails();
}

function loadNextThumbnails() {
  while (loading < MAX_AT_ONCE && waiting.length) {
    const image = waiting.shift();
    if (image?.isConnected) void loadThumbnailImage(image);
  }
}

async function loadThumbnailImage(image: HTMLImageElement) {
  const address = addressOf(image);
  loading++;
  const status = await fetch(address).then(
    (response) => response.status,
    () => null,
  );
  loading--;
  if (status === 200) {
    image.src = address;
    shownAddresses.add(address);
    image.classList.add("there");
  } else if (status === NOT_DRAWN_YET) retryThumbnailLater(image);
  loadNextThumbnails();
}

function retryThumbnailLater(image: HTMLImageElement) {
  const count = (tries.get(image) ?? 0) + 1;
  tries.set(image, count);
  if (count < MAX_TRIES) setTimeout(() => waiting.push(image) && loadNextThumbnails(), RETRY_MS * count);
}
