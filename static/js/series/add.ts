/** The button on a saved program's page that puts it into the series in the making. */

import { ROOT } from "../requests/root.ts";
import { readSeriesDraft, writeSeriesDraft } from "./draft.ts";

/** @param step that is shown */
export function startAddToSeriesButton(
  button: HTMLElement,
  { id, title }: { id: string; title: string },
  step: () => number,
) {
  button.addEventListener("click", () => {
    const draft = readSeriesDraft();
    draft.items.push({ program: id, title, note: "", step: null, seen: step() });
    writeSeriesDraft(draft);
    location.assign(`${ROOT}/series/new?lang=${document.documentElement.lang}&item=${draft.items.length}`);
  });
}
