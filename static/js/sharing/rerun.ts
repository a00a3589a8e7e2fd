/** Running a saved program once more, with what the server has now: whether its result is still the same. */

import { SERVER_ROOT } from "../requests/root.ts";
import type { Locale } from "../words/sentences.ts";

/** `id` is the scenario's. */
export function startRerunButton(
  { button, status }: { button: HTMLButtonElement; status: HTMLElement },
  say: Locale["say"],
  id: string,
) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = say("running");
    try {
      const response = await fetch(`${SERVER_ROOT}/api/scenarios/${id}/rerun`, {
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

interface RerunComparison {
  changed: boolean;
  differs: string[];
  /** the first that differs */
  step: number | null;
  repeatable: boolean;
  now: { torch: string };
}

/** The sentence for what the server found. */
function rerunSentence({ changed, differs, step, repeatable, now }: RerunComparison, say: Locale["say"]): string {
  if (!changed) return say("rerun_same", { torch: now.torch });
  const parts = differs.map((part) => say(`rerun_${part}`)).join(", ");
  const fromText = step === null ? "" : say("rerun_from", { step: step + 1 });
  return [say("rerun_differs", { torch: now.torch, parts }), fromText, repeatable ? "" : say("rerun_chance")]
    .filter(Boolean)
    .join(" ");
}
