/** Running a saved program once more, with what the server has now: whether its result is still the same. */

import { ROOT } from "./root.js";

/**
 * @param {{button: HTMLButtonElement, told: HTMLElement}} parts
 * @param {import("./locale.js").Locale["say"]} say
 * @param {string} id the scenario's
 */
export function startRerun({ button, told }, say, id) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    told.textContent = say("running");
    try {
      const answer = await fetch(`${ROOT}/api/scenarios/${id}/rerun`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
      });
      const found = await answer.json();
      told.textContent = answer.ok ? verdict(found, say) : say("error_server", { message: found.error.message });
    } catch {
      told.textContent = say("error_network");
    } finally {
      button.disabled = false;
    }
  });
}

/** @param {any} found @param {import("./locale.js").Locale["say"]} say @returns {string} */
export function verdict({ changed, differs, step, repeatable, now }, say) {
  if (!changed) return say("rerun_same", { torch: now.torch });
  const parts = differs.map((/** @type {string} */ part) => say(`rerun_${part}`)).join(", ");
  const where = step === null ? "" : say("rerun_from", { step: step + 1 });
  return [say("rerun_differs", { torch: now.torch, parts }), where, repeatable ? "" : say("rerun_chance")]
    .filter(Boolean)
    .join(" ");
}
