/** The program that the reader was writing, kept for as long as the browser's tab is open. */

const DRAFT_KEY = "gradbox-draft";

/** @returns {string | null} null where there is none, or the browser keeps nothing */
export function readDraft() {
  try {
    return sessionStorage.getItem(DRAFT_KEY);
  } catch {
    return null;
  }
}

/** @param {string | null} source null forgets it */
export function writeDraft(source) {
  try {
    if (source === null) sessionStorage.removeItem(DRAFT_KEY);
    else sessionStorage.setItem(DRAFT_KEY, source);
  } catch {
    // then it lasts as long as this page
  }
}
