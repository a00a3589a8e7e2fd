/** Light or dark: what the system says until the reader chooses. */

const KEY = "gradbox-theme";

/** @param {HTMLElement} button */
export function startTheme(button) {
  const root = document.documentElement;
  const chosen = localStorage.getItem(KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem(KEY, root.dataset.theme);
  });
}
