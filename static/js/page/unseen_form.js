/** The form under the timeline that asks for a skipped iteration. */

/**
 * @param {{form: HTMLFormElement, text: HTMLElement, field: HTMLInputElement}} parts
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {(index: number) => void} onAsk
 * @returns {(gap: import("../trace/skipped_iterations.js").Gap) => void} shows which ones were skipped
 */
export function createSkippedForm({ form, text, field }, say, onAsk) {
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
