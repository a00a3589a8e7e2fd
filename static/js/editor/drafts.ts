/** The program that the reader was writing, kept for as long as the browser's tab is open. */

const DRAFT_STORAGE_KEY = "gradbox-draft";

/** @returns null where there is none, or the browser keeps nothing */
export function readDraft(): string | null {
  try {
    return sessionStorage.getItem(DRAFT_STORAGE_KEY);
  } catch {
    return null;
  }
}

/** @param source null forgets it */
export function writeDraft(source: string | null) {
  try {
    if (source === null) sessionStorage.removeItem(DRAFT_STORAGE_KEY);
    else sessionStorage.setItem(DRAFT_STORAGE_KEY, source);
  } catch {
    // then it lasts as long as this page
  }
}
