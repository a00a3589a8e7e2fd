/** Light or dark: what the system says until the reader chooses. */

import { readPreference, writePreference } from "./preferences.js";

const STORAGE_KEY = "gradbox-theme";

/** The theme that the page has now. @returns {"light" | "dark"} */
export function currentTheme() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}

/** @param {HTMLElement} button */
export function startTheme(button) {
  const root = document.documentElement;
  const chosen = readPreference(STORAGE_KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
    writePreference(STORAGE_KEY, root.dataset.theme);
  });
}
