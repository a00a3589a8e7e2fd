/**
 * What this browser keeps of earlier visits, so that its reader finds the page as he left it. Nothing of it is sent.
 */

import { readPreference, writePreference } from "../../browser/preferences.ts";

/** What a reader has used once: then it stays in sight. */
type RememberedFeature = "starts" | "live" | "predict";

const USED_KEY = "gradbox-used";
const PAGE_COUNTS_KEY = "gradbox-pages";
const LAST_ADDRESS_KEY = "gradbox-last";
/** Keys of other modules that are forgotten with them. */
const OTHER_KEYS = ["gradbox-drafts", "gradbox-live", "gradbox-speed", "gradbox-program-as", "gradbox-legend"];
const DRAFT_KEYS = ["gradbox-draft-tab", "gradbox-legend"];

/** So often a page was opened from the menu before it stands beside it, and so many pages do. */
const OPENED_OFTEN = 3;
const MAX_PAGES_IN_SIGHT = 2;

function readJson(key: string): unknown {
  try {
    return JSON.parse(readPreference(key) ?? "null");
  } catch {
    return null;
  }
}

export function readUsedFeatures(): Set<string> {
  const names = readJson(USED_KEY);
  return new Set(Array.isArray(names) ? names.map(String) : []);
}

export function rememberFeatureUse(name: RememberedFeature) {
  const names = readUsedFeatures();
  if (!names.has(name)) writePreference(USED_KEY, JSON.stringify([...names, name]));
}

function pageCounts(): Record<string, number> {
  const counts = readJson(PAGE_COUNTS_KEY);
  if (typeof counts !== "object" || counts === null) return {};
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => Number.isSafeInteger(count)));
}

/** Takes a page of the menu, as its link's `data-page` names it. */
export function countPageVisit(page: string) {
  const counts = pageCounts();
  writePreference(PAGE_COUNTS_KEY, JSON.stringify({ ...counts, [page]: (counts[page] ?? 0) + 1 }));
}

/** The pages that were opened often, the most often opened first. */
export function oftenOpenedPages(): string[] {
  return Object.entries(pageCounts())
    .filter(([, count]) => count >= OPENED_OFTEN)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_PAGES_IN_SIGHT)
    .map(([page]) => page);
}

/** The fragment that brings back what the front page showed last; null on a first visit. */
export const lastAddress = () => readPreference(LAST_ADDRESS_KEY);

export const keepLastAddress = (fragment: string) => writePreference(LAST_ADDRESS_KEY, fragment);

/** Forgets all of it, as if nobody had been here; what was learned in the course, and the theme, stay. */
export function forgetVisits() {
  for (const key of [USED_KEY, PAGE_COUNTS_KEY, LAST_ADDRESS_KEY, ...OTHER_KEYS]) writePreference(key, null);
  try {
    for (const key of DRAFT_KEYS) sessionStorage.removeItem(key);
  } catch {
    // then nothing was kept
  }
}
