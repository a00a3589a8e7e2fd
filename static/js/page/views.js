/** The choice between stage and loom: two buttons. The choice is a preference of the reader's as well. */

import { readPreference, writePreference } from "../browser/preferences.js";

/** @typedef {import("../page_state/url.js").View} View */

const STORAGE_KEY = "gradbox-view";

/** The view that this reader chose last. @returns {View} */
export function preferredView() {
  return readPreference(STORAGE_KEY) === "loom" ? "loom" : "stage";
}

/**
 * @param {HTMLElement} root holds a button with `data-view` for each
 * @param {(view: View) => void} onChoose
 */
export function createViews(root, onChoose) {
  const buttons = [...root.querySelectorAll("button")];
  /** @type {View} */
  let currentView = "stage";

  /** @param {View} view */
  function choose(view) {
    writePreference(STORAGE_KEY, view);
    onChoose(view);
  }

  for (const button of buttons)
    button.addEventListener("click", () => choose(button.dataset.view === "loom" ? "loom" : "stage"));
  return {
    /** @param {View} view */
    show(view) {
      currentView = view;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    },
    toggle: () => choose(currentView === "stage" ? "loom" : "stage"),
  };
}
