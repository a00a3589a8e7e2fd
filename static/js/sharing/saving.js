/** Saving: a sheet that asks for a title and a description, and leads to the permalink. */

import { ROOT } from "../requests/root.js";

const SAVED_FIELDS = ["title", "description", "note"];

/**
 * @param {{button: HTMLElement, sheet: HTMLDialogElement}} parts
 * @param {{say: import("../words/locale.js").Locale["say"], content: () => object, initial: () => {title: string, description?: string, note?: string}, onSaved: (id: string) => void}} how
 *   content: what is saved besides the fields, initial: what stands in the fields at first
 */
export function startSaving({ button, sheet }, { say, content, initial, onSaved }) {
  const form = /** @type {HTMLFormElement} */ (sheet.querySelector("form"));
  const alert = /** @type {HTMLElement} */ (sheet.querySelector("[role=alert]"));
  const submit = /** @type {HTMLButtonElement} */ (sheet.querySelector("[type=submit]"));
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

  button.addEventListener("click", () => {
    alert.hidden = true;
    for (const [name, text] of Object.entries(initial())) if (!field(name).value) field(name).value = text;
    sheet.showModal();
    field("title").select();
  });
  sheet.querySelector("[data-close]")?.addEventListener("click", () => sheet.close());
  sheet.addEventListener("click", (event) => {
    if (event.target === sheet) sheet.close(); // on the backdrop
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      const body = JSON.stringify({
        ...content(),
        ...Object.fromEntries(SAVED_FIELDS.map((name) => [name, field(name).value])),
      });
      const response = await fetch(`${ROOT}/api/scenarios`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      const result = await response.json();
      if (response.ok) return onSaved(result.id);
      alert.textContent = say("save_failed", { message: result.error.message });
    } catch {
      alert.textContent = say("error_network");
    } finally {
      submit.disabled = false;
    }
    alert.hidden = false;
  });
}
