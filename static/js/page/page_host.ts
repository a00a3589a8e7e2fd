/** The page as its parts see it: its elements, its state, its sentences. */

import type { Action } from "../page_state/actions.ts";
import type { PageState } from "../page_state/state.ts";
import type { Locale } from "../words/sentences.ts";

export interface PageHost {
  /** an element of the page, by its id */
  elementById: <T extends HTMLElement>(id: string) => T;
  state: () => PageState;
  dispatch: (action: Action) => void;
  say: Locale["say"];
}

export const elementById: PageHost["elementById"] = <T extends HTMLElement>(id: string) =>
  document.getElementById(id) as T;
