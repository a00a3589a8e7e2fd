/** The siblings of the statement at the step, as chips: a click puts one in its place and runs the program. */

import { element } from "../elements.js";
import { isCurrent } from "../page_selectors.js";
import { ROOT } from "../root.js";
import { alternatives, swap } from "./alternatives.js";

/** @typedef {import("../page_state.js").PageState} PageState */
/** @typedef {import("./alternatives.js").Operation} Operation */
/** @typedef {import("./alternatives.js").Alternative} Alternative */

const MAX_CHIPS = 10;

/** @returns {Promise<Operation[]>} */
async function fetchCatalogue() {
  const response = await fetch(`${ROOT}/api/operations?lang=${document.documentElement.lang}`);
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).operations;
}

/** Tells whether a name stands for a tensor after the step, in the innermost frame that has it.
 * @param {import("../state.js").Entities} entities @returns {(name: string) => boolean} */
function tensorNames(entities) {
  const frames = [...entities.values()].filter((entity) => entity.kind === "frame");
  return (name) => {
    const value = frames.findLast((frame) => frame.vars.has(name))?.vars.get(name);
    const uid = typeof value === "object" && value !== null && "ref" in value ? String(value.ref) : "";
    return entities.get(uid)?.kind === "tensor";
  };
}

/**
 * @param {HTMLElement} row
 * @param {import("../locale.js").Locale["say"]} say
 * @param {(change: ReturnType<typeof swap>) => void} choose
 */
export function createSiblingChips(row, say, choose) {
  /** @type {Operation[] | null} */
  let catalogue = null;
  /** @type {PageState | null} */
  let latest = null;
  let isLoading = false;
  let shown = "";

  async function load() {
    isLoading = true;
    try {
      catalogue = await fetchCatalogue();
    } catch {
      return; // without the catalogue there are no chips, and nothing else is missing
    }
    if (latest) show(latest);
  }

  /** @param {PageState} state */
  function show(state) {
    const { opened, step, text } = state;
    const waits = state.isLive && !isCurrent(state) && !row.classList.contains("none");
    row.inert = waits;
    if (waits) return; // the next picture brings the next chips: until then these stay, and do nothing
    const line = opened?.count && isCurrent(state) ? opened.trace.steps[step].line : null;
    const code = line ? text.split("\n")[line - 1] : "";
    const entities = line && opened ? opened.at(step).entities : new Map();
    const found = catalogue && code ? alternatives(code, catalogue, tensorNames(entities)) : [];
    const key = JSON.stringify([line, code, found.map((one) => one.text)]);
    if (key === shown) return;
    shown = key;
    row.classList.toggle("none", !found.length);
    row.replaceChildren(element("span", "sibling-label", say("siblings")));
    for (const alternative of found.slice(0, MAX_CHIPS)) row.append(chip(alternative, text, line ?? 0));
  }

  /** @param {Alternative} alternative @param {string} source @param {number} line */
  function chip(alternative, source, line) {
    const button = /** @type {HTMLButtonElement} */ (element("button", "sibling"));
    button.type = "button";
    button.dataset.sibling = alternative.name;
    button.title = alternative.sentence;
    button.append(element("code", "", alternative.label));
    button.addEventListener("click", () => choose(swap(source, line, alternative)));
    return button;
  }

  return {
    /** @param {PageState} state */
    render(state) {
      latest = state;
      if (!isLoading && state.opened?.count) load();
      if (catalogue) show(state);
    },
  };
}
