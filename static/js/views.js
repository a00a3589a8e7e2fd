/** The choice between stage and loom: two buttons; the choice is kept as a preference and in the address. */

import { readPreference, writePreference } from "./preferences.js";

const KEY = "gradbox-view";
const NAMES = ["stage", "loom"];

/**
 * @param {HTMLElement} root holds a button with `data-view` for each
 * @param {(name: string) => void} change
 */
export function createViews(root, change) {
  const buttons = [...root.querySelectorAll("button")];
  let current =
    [requestedView(location.hash), readPreference(KEY)].find((name) => name && NAMES.includes(name)) ?? NAMES[0];

  /** @param {string} name */
  function show(name) {
    current = name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.view === name));
    change(name);
  }

  /** @param {string} name */
  function choose(name) {
    writePreference(KEY, name);
    show(name);
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.view ?? current));
  return {
    start: () => show(current),
    /** Show what an address asks for. @param {string} fragment */
    read(fragment) {
      const name = requestedView(fragment);
      if (name && NAMES.includes(name) && name !== current) show(name);
    },
    current: () => current,
    toggle: () => choose(NAMES[1 - NAMES.indexOf(current)]),
    /** What an address says of it. */
    fragment: () => (current === NAMES[0] ? "" : `&v=${current}`),
  };
}

/** What an address asks for: a step without a view is one of the stage. @param {string} fragment */
function requestedView(fragment) {
  const fields = new URLSearchParams(fragment.slice(1));
  return fields.get("v") ?? (fields.has("i") ? NAMES[0] : null);
}
