/** Saving: a sheet that asks for a title and a description, and leads to the permalink. */

import { SERVER_ROOT } from "../requests/root.ts";
import type { Locale } from "../words/sentences.ts";

const SAVED_FIELDS = ["title", "description", "note"];

interface SaveSheetOptions {
  say: Locale["say"];
  /** what is saved besides the fields */
  content: () => object;
  /** what stands in the fields at first */
  initial: () => Promise<{ title: string; description?: string; note?: string }>;
  onSaved: (id: string) => void;
}

export function startSaveSheet(
  { button, sheet }: { button: HTMLElement; sheet: HTMLDialogElement },
  { say, content, initial, onSaved }: SaveSheetOptions,
) {
  const form = sheet.querySelector("form") as HTMLFormElement;
  const alert = sheet.querySelector("[role=alert]") as HTMLElement;
  const submit = sheet.querySelector("[type=submit]") as HTMLButtonElement;
  const field = (name: string) => form.elements.namedItem(name) as HTMLInputElement;

  button.addEventListener("click", async () => {
    alert.hidden = true;
    const proposed = await initial();
    if (sheet.open) return;
    for (const [name, text] of Object.entries(proposed)) if (!field(name).value) field(name).value = text;
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
      const response = await fetch(`${SERVER_ROOT}/api/scenarios`, {
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
