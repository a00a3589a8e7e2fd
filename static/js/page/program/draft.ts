/**
 * The program that the reader was writing, kept past a reload, a crash and the end of the tab: a page that shows
 * another program offers it.
 */

import { createDraftStore } from "./draft_store.ts";
import { isPageProgram, draftNotShown } from "../../page_state/selectors.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";

/** null where the browser keeps nothing */
function browserStore() {
  try {
    return createDraftStore(localStorage, sessionStorage, () => Math.random().toString(36).slice(2), Date.now);
  } catch {
    return null;
  }
}

const store = browserStore();

/** Null where there is none, or the browser keeps nothing. */
export const readDraft = (): string | null => store?.read() ?? null;

export function createDraftKeeper({ elementById, state: currentState, dispatch }: PageHost) {
  elementById("kept-show").addEventListener("click", () => {
    const source = draftNotShown(currentState());
    if (source !== null) dispatch({ type: "programEdited", text: source });
  });

  return {
    render(state: PageState, before: PageState | null) {
      if (before && state.text !== before.text && !state.waiting && !isPageProgram(state)) store?.write(state.text);
      elementById("kept").hidden = draftNotShown(state) === null;
    },
  };
}
