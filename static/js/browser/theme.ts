/** Light or dark: what the system says until the reader chooses. */

import { readPreference, writePreference } from "./preferences.ts";

const THEME_STORAGE_KEY = "gradbox-theme";

/** The theme that the page has now. */
export function currentTheme(): "light" | "dark" {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}

export function startThemeButton(button: HTMLElement) {
  const root = document.documentElement;
  const chosen = readPreference(THEME_STORAGE_KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
    writePreference(THEME_STORAGE_KEY, root.dataset.theme);
  });
}
