/**
 * The choice between stage, net, loom and parameters: a button for each. The choice is a preference of the reader's as
 * well.
 */

import { readPreference, writePreference } from "../../browser/preferences.ts";
import { VIEWS, type View } from "../../page_state/url.ts";

const STORAGE_KEY = "gradbox-view";

/** The view that this reader chose last; null: none so far. */
export function preferredView(): View | null {
  const kept = readPreference(STORAGE_KEY);
  return VIEWS.find((name) => name === kept) ?? null;
}

/** `root` holds a button with `data-view` for each. */
export function createViewSwitch(root: HTMLElement, onChoose: (view: View) => void) {
  const buttons = [...root.querySelectorAll("button")];
  let currentView: View = "stage";

  function choose(view: View) {
    writePreference(STORAGE_KEY, view);
    onChoose(view);
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.view as View));
  return {
    /** `offered` says whether the run has a view to choose. */
    show(view: View, offered: (view: View) => boolean) {
      currentView = view;
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.view === view));
        button.hidden = !offered(button.dataset.view as View);
      }
    },
    /** To another view and back to the stage. */
    toggle: (view: View) => choose(currentView === view ? "stage" : view),
  };
}
