/** Saving: a sheet that asks for a title and a description, and leads to the permalink. */

import { ROOT } from "./root.js";

const WORDS = ["title", "description", "note"];

/**
 * @param {{button: HTMLElement, sheet: HTMLDialogElement}} parts
 * @param {{say: import("./locale.js").Locale["say"], content: () => object, words: () => {title: string, description?: string, note?: string}, saved: (id: string) => void}} how
 *   content: what is saved besides the words, words: what stands in the fields at first
 */
export function startSaving({ button, sheet }, { say, content, words, saved }) {
  const form = /** @type {HTMLFormElement} */ (sheet.querySelector("form"));
  const fault = /** @type {HTMLElement} */ (sheet.querySelector("[role=alert]"));
  const send = /** @type {HTMLButtonElement} */ (sheet.querySelector("[type=submit]"));
  const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

  button.addEventListener("click", () => {
    fault.hidden = true;
    for (const [name, text] of Object.entries(words())) if (!field(name).value) field(name).value = text;
    sheet.showModal();
    field("title").select();
  });
  sheet.querySelector("[data-close]")?.addEventListener("click", () => sheet.close());
  sheet.addEventListener("click", (event) => {
    if (event.target === sheet) sheet.close(); // beside the sheet
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const body = JSON.stringify({
        ...content(),
        ...Object.fromEntries(WORDS.map((name) => [name, field(name).value])),
      });
      const answer = await fetch(`${ROOT}/api/scenarios`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      const told = await answer.json();
      if (answer.ok) return saved(told.id);
      fault.textContent = say("save_failed", { message: told.error.message });
    } catch {
      fault.textContent = say("error_network");
    } finally {
      send.disabled = false;
    }
    fault.hidden = false;
  });
}
