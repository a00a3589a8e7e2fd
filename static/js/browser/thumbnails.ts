/** Thumbnails of operations, as they come into sight: one that is not made yet is asked for again. */

import { currentTheme } from "./theme.ts";

/** Milliseconds before one that was not there is asked for again; each time longer. */
const THUMBNAIL_RETRY_MS = 3000;
const MAX_THUMBNAIL_RETRIES = 4;

/** Begins to load those in an element: `img[data-thumbnail]`, by their address without the theme. */
export function loadThumbnails(root: HTMLElement) {
  const images = root.querySelectorAll("img[data-thumbnail]:not([src])") as NodeListOf<HTMLImageElement>;
  for (const image of images) {
    image.addEventListener("error", () => retryThumbnailLater(image));
    image.addEventListener("load", () => image.classList.remove("missing"));
    image.src = `${image.dataset.thumbnail}?theme=${currentTheme()}`;
  }
}

function retryThumbnailLater(image: HTMLImageElement) {
  image.classList.add("missing");
  const retries = Number(image.dataset.times ?? 0) + 1;
  if (retries > MAX_THUMBNAIL_RETRIES) return;
  image.dataset.times = String(retries);
  const { src } = image;
  setTimeout(() => {
    if (image.isConnected) image.src = src;
  }, THUMBNAIL_RETRY_MS * retries);
}
