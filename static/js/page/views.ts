/** The choice between stage and loom: two buttons. The choice is a preference of the reader's as well. */

import { readPreference, writePreference } from "../browser/preferences.ts";
import type { View } from "../page_state/url.ts";

const STORAGE_KEY = "gradbox-view";

/** The view that this reader chose last. */
export function preferredView(): View {
  return readPreference(STORAGE_KEY) === "loom" ? "loom" : "stage";
}

/** @param root holds a button with `data-view` for each */
export function createViews(root: HTMLElement, onChoose: (view: View) => void) {
  const buttons = [...root.querySelectorAll("button")];
  let currentView: View = "stage";

  function choose(view: View) {
    writePreference(STORAGE_KEY, view);
    onChoose(view);
  }

  for (const button of buttons)
    button.addEventListener("click", () => choose(button.dataset.view === "loom" ? "loom" : "stage"));
  return {
    show(view: View) {
      currentView = view;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    },
    toggle: () => choose(currentView === "stage" ? "loom" : "stage"),
  };
}
