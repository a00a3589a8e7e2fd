/**
 * The menu "More": what a first visitor doesn't need. What its reader has used stays in sight; pages that he opens
 * often stand beside it.
 */

import { startMenu } from "../../browser/menu.ts";
import { hasChangedField } from "../../browser/store.ts";
import { ROOT } from "../../requests/root.ts";
import { countPageVisit, forgetVisits, rememberFeatureUse, oftenOpenedPages, featuresUsedBefore } from "./kept.ts";
import { pictureOfProgram } from "../../page_state/selectors.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";

/** What may stand in sight, and whether it matters in a state even where it was never used. */
const MATTERS: Record<string, (state: PageState) => boolean> = {
  live: () => false,
  seed: ({ settings }) => settings.seed !== 0,
  predict: ({ predict }) => predict !== null,
};

export function startMoreMenu({ element, state: currentState, dispatch }: PageHost) {
  const menu = element<HTMLDetailsElement>("more");
  const { close } = startMenu(menu);
  showPagesOftenOpened(element("beside-more"), menu);
  for (const link of menu.querySelectorAll<HTMLElement>("a[data-page]"))
    link.addEventListener("click", () => countPageVisit(link.dataset.page ?? ""));
  document.getElementById("live")?.addEventListener("change", () => rememberFeatureUse("live"));
  element("by-storage").addEventListener("click", () => dispatch({ type: "viewChosen", view: "storage" }));
  element("forget").addEventListener("click", () => {
    forgetVisits();
    location.assign(`${ROOT}/?lang=${document.documentElement.lang}`);
  });
  // the browser can't lead to a field that it does not show
  element("seed").addEventListener("invalid", () => {
    if (menu.contains(element("seed"))) menu.open = true;
  });
  // Escape leaves the inner menu alone; what was chosen in it leaves both
  let isChosen = false;
  element("takeaway-menu").addEventListener("click", () => {
    isChosen = true;
  });
  element("takeaway-menu").addEventListener("toggle", () => {
    if (isChosen) close();
    isChosen = false;
  });
  menu.addEventListener("toggle", () => {
    if (!menu.open) place(currentState());
  });

  /**
   * Puts each control where it belongs. Nothing leaves the menu while it is open: it would go from under the pointer.
   */
  function place(state: PageState) {
    if (menu.open) return;
    const used = featuresUsedBefore();
    for (const [name, matters] of Object.entries(MATTERS)) {
      const home = menu.querySelector(`[data-home="${name}"]`);
      const spot = document.querySelector(`[data-place="${name}"]`);
      if (!spot || spot.firstElementChild || !(used.has(name) || matters(state))) continue;
      const control = home?.firstElementChild;
      if (control) spot.append(control);
    }
  }

  return {
    render(state: PageState, before: PageState | null) {
      if (!hasChangedField(state, before, "view", "opened", "predict", "settings")) return;
      if (state.predict !== null) rememberFeatureUse("predict");
      element("by-storage").hidden = !state.opened?.count || pictureOfProgram(state) !== "list";
      place(state);
    },
  };
}

/** Links of the menu, once more beside it. */
function showPagesOftenOpened(host: HTMLElement, menu: HTMLElement) {
  for (const page of oftenOpenedPages()) {
    const link = menu.querySelector(`a[data-page="${CSS.escape(page)}"]`);
    if (link) host.append(link.cloneNode(true));
  }
}
