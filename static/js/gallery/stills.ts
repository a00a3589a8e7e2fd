/** The stills of the gallery's cards: loaded as they come into sight, in the page's theme, once more where one is not made yet. */

import { currentTheme } from "../browser/theme.ts";

/** Milliseconds before a still that was not there is asked for again, and how often. */
const RETRY_IMAGE_AFTER_MS = 2500;
const MAX_IMAGE_TRIES = 3;

/** @param images each with its address in `data-still` */
export function startCardImageLoading(images: HTMLImageElement[]) {
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
