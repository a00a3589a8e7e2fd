/** The form under the timeline that asks for a skipped iteration. */

import type { SkippedIterations } from "../trace/skipped_iterations.ts";
import type { Locale } from "../words/sentences.ts";

/** @returns shows which ones were skipped */
export function createSkippedForm(
  { form, text, field }: { form: HTMLFormElement; text: HTMLElement; field: HTMLInputElement },
  say: Locale["say"],
  onAsk: (index: number) => void,
): (gap: SkippedIterations) => void {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onAsk(Number(field.value));
  });
  return ({ skipped, from, to }) => {
    const key = to === null ? "unseen_to_end" : from === to ? "unseen_one" : "unseen_between";
    text.textContent = say(key, { n: skipped, from, to });
    field.min = String(from);
    field.max = to === null ? "" : String(to);
    field.value = String(from);
  };
}
