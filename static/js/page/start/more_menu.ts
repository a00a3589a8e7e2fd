/**
 * The menu "More": what a first visitor doesn't need. What its reader has used stays in sight; pages that he opens
 * often stand beside it.
 */

import { startMenu } from "../../browser/menu.ts";
import { hasChangedField } from "../../browser/store.ts";
import { SERVER_ROOT } from "../../requests/root.ts";
import {
  countPageVisit,
  forgetVisits,
  rememberFeatureUse,
  oftenOpenedPages,
  readUsedFeatures,
} from "./visit_history.ts";
import { pictureOfProgram } from "../../page_state/selectors.ts";
import type { PageHost } from "../page_host.ts";
import type { PageState } from "../../page_state/state.ts";

/** What may stand in sight, and whether it matters in a state even where it was never used. */
const MATTERS: Record<string, (state: PageState) => boolean> = {
  live: () => false,
  seed: ({ settings }) => settings.seed !== 0,
  predict: ({ predict }) => predict !== null,
};

export function startMoreMenu({ elementById, state: currentState, dispatch }: PageHost) {
  const menu = elementById<HTMLDetailsElement>("more");
  const { close } = startMenu(menu);
  showPagesOftenOpened(elementById("beside-more"), menu);
  for (const link of menu.querySelectorAll<HTMLElement>("a[data-page]"))
    link.addEventListener("click", () => countPageVisit(link.dataset.page ?? ""));
  document.getElementById("live")?.addEventListener("change", () => rememberFeatureUse("live"));
  elementById("by-storage").addEventListener("click", () => dispatch({ type: "viewChosen", view: "storage" }));
  elementById("forget").addEventListener("click", () => {
    forgetVisits();
    location.assign(`${SERVER_ROOT}/?lang=${document.documentElement.lang}`);
  });
  // the browser can't lead to a field that it does not show
  elementById("seed").addEventListener("invalid", () => {
    if (menu.contains(elementById("seed"))) menu.open = true;
  });
  // Escape leaves the inner menu alone; what was chosen in it leaves both
  let isChosen = false;
  elementById("takeaway-menu").addEventListener("click", () => {
    isChosen = true;
  });
  elementById("takeaway-menu").addEventListener("toggle", () => {
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
    const used = readUsedFeatures();
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
      elementById("by-storage").hidden = !state.opened?.count || pictureOfProgram(state) !== "list";
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
