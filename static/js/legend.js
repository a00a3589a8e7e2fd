/** The strip that says what the marks mean: a new visitor sees it on the first visit, until it is dismissed. */

import { readPreference, writePreference } from "./preferences.js";

const KEY = "gradbox-legend";

/** A visit lasts as long as the tab. @returns {boolean} */
function isFirstVisit() {
  try {
    if (sessionStorage.getItem(KEY)) return true;
    if (readPreference(KEY)) return false;
    sessionStorage.setItem(KEY, "shown");
    return true;
  } catch {
    return false; // a browser that keeps nothing would show it each time
  }
}

/** @param {HTMLElement} strip with a button `[data-close]`; what it stands in has the class `explained` while it is seen */
export function startLegend(strip) {
  /** @param {boolean} seen */
  const show = (seen) => {
    strip.hidden = !seen;
    strip.parentElement?.classList.toggle("explained", seen);
  };
  show(isFirstVisit());
  writePreference(KEY, "seen");
  strip.querySelector("[data-close]")?.addEventListener("click", () => {
    show(false);
    try {
      sessionStorage.removeItem(KEY);
    } catch {
      // then it is hidden on this page
    }
  });
}
