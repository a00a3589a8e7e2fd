/** The choice between a step and the whole run: a button for each. */

import type { View } from "../../page_state/url.ts";

/** `root` holds a button with `data-view` for each. */
export function createViewSwitch(root: HTMLElement, onChoose: (view: View) => void) {
  const buttons = [...root.querySelectorAll("button")];
  const headline = root.parentElement;
  const phone = matchMedia("(max-width: 480px)");
  /** Beside the headline; on a phone, where the sentences need its width, among the controls. */
  function place() {
    (phone.matches ? document.querySelector(".controls") : headline)?.append(root);
  }
  phone.addEventListener("change", place);
  place();
  for (const button of buttons) button.addEventListener("click", () => onChoose(button.dataset.view as View));
  return {
    show(view: View) {
      for (const button of buttons)
        button.setAttribute("aria-pressed", String((button.dataset.view === "step") === (view === "step")));
    },
  };
}
