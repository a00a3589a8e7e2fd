/** Light or dark: what the system says until the reader chooses. */

import { recall, remember } from "./remembered.js";

const KEY = "gradbox-theme";

/** @param {HTMLElement} button */
export function startTheme(button) {
  const root = document.documentElement;
  const chosen = recall(KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember(KEY, root.dataset.theme);
  });
}
