/** The program that the reader was writing, kept for as long as the browser's tab is open: a page that shows another
 * program offers it. */

import { isPageProgram, draftNotShown } from "../page_state/selectors.ts";
import type { PageHost } from "./page_host.ts";
import type { PageState } from "../page_state/state.ts";

const DRAFT_STORAGE_KEY = "gradbox-draft";

/** @returns null where there is none, or the browser keeps nothing */
export function readDraft(): string | null {
  try {
    return sessionStorage.getItem(DRAFT_STORAGE_KEY);
  } catch {
    return null;
  }
}

function writeDraft(source: string) {
  try {
    sessionStorage.setItem(DRAFT_STORAGE_KEY, source);
  } catch {
    // then it lasts as long as this page
  }
}

export function createDraftKeeper({ element, state: currentState, dispatch }: PageHost) {
  element("kept-show").addEventListener("click", () => {
    const source = draftNotShown(currentState());
    if (source !== null) dispatch({ type: "programEdited", text: source });
  });

  return {
    render(state: PageState, before: PageState | null) {
      if (before && state.text !== before.text && !state.waiting && !isPageProgram(state)) writeDraft(state.text);
      element("kept").hidden = draftNotShown(state) === null;
    },
  };
}
