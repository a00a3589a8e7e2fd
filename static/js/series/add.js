/** The button on a saved program's page that puts it into the series in the making. */

import { ROOT } from "../requests/root.js";
import { readDraft, writeDraft } from "./draft.js";

/** @param {HTMLElement} button @param {{id: string, title: string}} program @param {() => number} step that is shown */
export function startAdding(button, { id, title }, step) {
  button.addEventListener("click", () => {
    const draft = readDraft();
    draft.items.push({ program: id, title, note: "", step: null, seen: step() });
    writeDraft(draft);
    location.assign(`${ROOT}/series/new?lang=${document.documentElement.lang}&item=${draft.items.length}`);
  });
}
