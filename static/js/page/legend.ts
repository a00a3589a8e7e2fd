/** The strip that says what the marks mean: a new visitor sees it on the first visit, until it is dismissed. */

import { readPreference, writePreference } from "../browser/preferences.ts";

const LEGEND_KEY = "gradbox-legend";

/** A visit lasts as long as the tab. */
function isFirstVisit(): boolean {
  try {
    if (sessionStorage.getItem(LEGEND_KEY)) return true;
    if (readPreference(LEGEND_KEY)) return false;
    sessionStorage.setItem(LEGEND_KEY, "shown");
    return true;
  } catch {
    return false; // a browser that keeps nothing would show it each time
  }
}

/** @param strip with a button `[data-close]`; what it stands in has the class `explained` while it is seen */
export function startLegend(strip: HTMLElement) {
  const show = (isShown: boolean) => {
    strip.hidden = !isShown;
    strip.parentElement?.classList.toggle("explained", isShown);
  };
  show(isFirstVisit());
  writePreference(LEGEND_KEY, "seen");
  strip.querySelector("[data-close]")?.addEventListener("click", () => {
    show(false);
    try {
      sessionStorage.removeItem(LEGEND_KEY);
    } catch {
      // then it is hidden on this page
    }
  });
}
