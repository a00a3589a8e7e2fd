/** Which picture is shown, the stage or the loom: two buttons, remembered here and in the address. */

import { recall, remember } from "./remembered.js";

const KEY = "gradbox-view";
const NAMES = ["stage", "loom"];

/**
 * @param {HTMLElement} root holds a button with `data-view` for each
 * @param {(name: string) => void} change
 */
export function createViews(root, change) {
  const buttons = [...root.querySelectorAll("button")];
  let now = [asked(location.hash), recall(KEY)].find((name) => name && NAMES.includes(name)) ?? NAMES[0];

  /** @param {string} name */
  function show(name) {
    now = name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === name));
    change(name);
  }

  /** @param {string} name */
  function choose(name) {
    remember(KEY, name);
    show(name);
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.view ?? now));
  return {
    start: () => show(now),
    /** Show what an address asks for. @param {string} fragment */
    read(fragment) {
      const name = asked(fragment);
      if (name && NAMES.includes(name) && name !== now) show(name);
    },
    now: () => now,
    other: () => choose(NAMES[1 - NAMES.indexOf(now)]),
    /** What an address says of it. */
    fragment: () => (now === NAMES[0] ? "" : `&v=${now}`),
  };
}

/** What an address asks for: a step without a view is one of the stage. @param {string} fragment */
function asked(fragment) {
  const fields = new URLSearchParams(fragment.slice(1));
  return fields.get("v") ?? (fields.has("i") ? NAMES[0] : null);
}
