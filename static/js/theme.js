/** Light or dark: what the system says until the reader chooses. */

import { readPreference, writePreference } from "./preferences.js";

const STORAGE_KEY = "gradbox-theme";

/** @param {HTMLElement} button */
export function startTheme(button) {
  const root = document.documentElement;
  const chosen = readPreference(STORAGE_KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    writePreference(STORAGE_KEY, root.dataset.theme);
  });
}
