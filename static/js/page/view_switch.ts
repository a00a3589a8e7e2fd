/** The choice between stage, net and loom: a button for each. The choice is a preference of the reader's as well. */

import { readPreference, writePreference } from "../browser/preferences.ts";
import type { View } from "../page_state/url.ts";

const STORAGE_KEY = "gradbox-view";

/** The view that this reader chose last; null: none so far. */
export function preferredView(): View | null {
  const kept = readPreference(STORAGE_KEY);
  return kept === "loom" || kept === "stage" || kept === "net" ? kept : null;
}

/** @param root holds a button with `data-view` for each */
export function createViewSwitch(root: HTMLElement, onChoose: (view: View) => void) {
  const buttons = [...root.querySelectorAll("button")];
  let currentView: View = "stage";

  function choose(view: View) {
    writePreference(STORAGE_KEY, view);
    onChoose(view);
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.view as View));
  return {
    /** @param hasNet whether the run has one to choose */
    show(view: View, hasNet: boolean) {
      currentView = view;
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.view === view));
        if (button.dataset.view === "net") button.hidden = !hasNet;
      }
    },
    /** To another view and back to the stage. */
    toggle: (view: View) => choose(currentView === view ? "stage" : view),
  };
}
