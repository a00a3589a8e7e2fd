/** The three ways to begin: a program, an error message, the program that opens the page. On a first visit they stand
 * under the bar, until there is a program of the visitor's own; from then on they are the menu "New". */

import { startRequestFailureMessages } from "../../browser/failed_fragments.ts";
import { startMenu } from "../../browser/menu.ts";
import { rememberFeatureUse } from "./visit_history.ts";
import { isPageProgram, wasEditedByHand } from "../../page_state/selectors.ts";
import type { PageState } from "../../page_state/state.ts";
import type { PageHost } from "../page_host.ts";

interface NewProgramMenuOptions {
  /** nobody has begun in this browser before */
  isFirstVisit: boolean;
  /** shows the editor's text, and puts the cursor in it */
  editEmptied: () => void;
  /** shows the program that opens the page, at its question */
  showOpening: () => void;
}

export function startNewProgramMenu(
  { elementById }: PageHost,
  { isFirstVisit, editEmptied, showOpening }: NewProgramMenuOptions,
) {
  const band = document.getElementById("starts");
  const menu = elementById<HTMLDetailsElement>("new");
  startMenu(menu);
  let isUnfolded = band !== null && isFirstVisit;
  showBand();
  const dialog = elementById<HTMLDialogElement>("error-search");
  startRequestFailureMessages();

  async function openErrorSearch() {
    dialog.showModal();
    elementById("error-message").focus();
    try {
      await import("htmx.org"); // the field says what it asks for
    } catch {
      elementById("error-found").textContent = elementById("error-message").dataset.failed ?? "";
    }
  }

  function showBand() {
    if (band) band.hidden = !isUnfolded;
    menu.hidden = isUnfolded;
    document.body.classList.toggle("newcomer", isUnfolded);
  }

  const showButtons = document.querySelectorAll<HTMLElement>("[data-start='show']");

  const begin: Record<string, () => void> = {
    paste() {
      dialog.close();
      editEmptied();
    },
    error: () => void openErrorSearch(),
    show: showOpening,
  };
  for (const button of document.querySelectorAll<HTMLElement>("[data-start]"))
    button.addEventListener("click", () => {
      rememberFeatureUse("starts");
      begin[button.dataset.start ?? ""]?.();
    });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // on the backdrop
  });
  return {
    render(state: PageState, before: PageState | null) {
      if (isUnfolded && isOwnProgramWritten(state, before)) {
        isUnfolded = false;
        if (!state.waiting) rememberFeatureUse("starts"); // who came with a link has not begun
        showBand();
      }
      for (const button of showButtons) button.setAttribute("aria-current", String(isPageProgram(state)));
    },
  };
}

/** Whether a program of the reader's own has just come into the editor. */
function isOwnProgramWritten(state: PageState, before: PageState | null) {
  return wasEditedByHand(state, before) && state.text.trim() !== "" && !isPageProgram(state);
}
