/** The strip that says what the marks mean: a new visitor sees it on the first visit, until it is dismissed. */

import { readPreference, writePreference } from "../../browser/preferences.ts";

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

/** By each mark of the legend, what it looks like on the stage. */
const MARKS_ON_STAGE: Record<string, string> = {
  now: ".halo, .cell-written",
  tags: ".tag",
  tape: ".card-bar",
  version: ".rail",
  beads: ".bead",
  signs: ".wash",
  pin: ".pin:not(.stale, .changed, .detached), .slot:not(.stale, .changed, .detached)",
  broken: ".pin:is(.stale, .changed, .detached), .slot:is(.stale, .changed, .detached)",
  grad: ".strip-frame.grad",
  order: ".order",
  released: ".node.released",
  array: ".card.array",
};

/** Only the marks that are on the stage now have their entry. */
function showMarksOnStage(strip: HTMLElement, stage: ParentNode) {
  for (const entry of strip.querySelectorAll<HTMLElement>("[data-mark]"))
    entry.hidden = stage.querySelector(MARKS_ON_STAGE[entry.dataset.mark ?? ""] ?? "svg") === null;
}

/**
 * Closing it moves nothing: its room stays as it is until the next page. The strip has a button `[data-close]`; what it
 * stands in has the class `explained` while it has its room.
 */
export function startLegend(strip: HTMLElement) {
  const isShown = isFirstVisit();
  strip.hidden = !isShown;
  strip.parentElement?.classList.toggle("explained", isShown);
  const workbench = document.getElementById("workbench");
  const stage = document.getElementById("stage");
  if (workbench && stage)
    new MutationObserver(() => {
      if (!strip.hidden) requestAnimationFrame(() => showMarksOnStage(strip, stage));
    }).observe(workbench, { attributeFilter: ["data-step", "data-steps"] });
  writePreference(LEGEND_KEY, "seen");
  strip.querySelector("[data-close]")?.addEventListener("click", () => {
    strip.classList.add("away");
    try {
      sessionStorage.removeItem(LEGEND_KEY);
    } catch {
      // then it is hidden on this page
    }
  });
}
