/** Running a saved program once more, with what the server has now: whether its result is still the same. */

import { ROOT } from "../requests/root.js";

/**
 * @param {{button: HTMLButtonElement, status: HTMLElement}} parts
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {string} id the scenario's
 */
export function startRerun({ button, status }, say, id) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = say("running");
    try {
      const response = await fetch(`${ROOT}/api/scenarios/${id}/rerun`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
      });
      const comparison = await response.json();
      status.textContent = response.ok
        ? rerunSentence(comparison, say)
        : say("error_server", { message: comparison.error.message });
    } catch {
      status.textContent = say("error_network");
    } finally {
      button.disabled = false;
    }
  });
}

/**
 * The sentence for what the server found.
 * @param {{changed: boolean, differs: string[], step: number | null, repeatable: boolean, now: {torch: string}}} comparison
 *   step: the first that differs
 * @param {import("../words/locale.js").Locale["say"]} say @returns {string}
 */
function rerunSentence({ changed, differs, step, repeatable, now }, say) {
  if (!changed) return say("rerun_same", { torch: now.torch });
  const parts = differs.map((part) => say(`rerun_${part}`)).join(", ");
  const fromText = step === null ? "" : say("rerun_from", { step: step + 1 });
  return [say("rerun_differs", { torch: now.torch, parts }), fromText, repeatable ? "" : say("rerun_chance")]
    .filter(Boolean)
    .join(" ");
}
