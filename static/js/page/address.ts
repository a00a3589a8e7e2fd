/** Keeps the address of the page and its state the same: writes the one, reads the other. */

import { stepForAddress, isSavedProgram, programTextForAddress, shownFocus } from "../page_state/selectors.ts";
import { settingsFragment } from "../page_state/settings.ts";
import { hasChangedField } from "../browser/store.ts";
import * as url from "../page_state/url.ts";
import type { Address } from "../page_state/url.ts";
import type { PageState } from "../page_state/state.ts";

/** A browser takes some milliseconds to write an address, and refuses it when it is asked too often. */
const WRITE_AFTER_MS = 80;

/** The fragment that brings a state back. */
export async function stateFragment(state: PageState): Promise<string> {
  const step = stepForAddress(state);
  const program = isSavedProgram(state)
    ? url.stepFragment(step)
    : (await url.programFragment(programTextForAddress(state), step)) +
      settingsFragment(state.settings) +
      url.focusFragment(shownFocus(state));
  return (
    program +
    url.selectionFragment(step === null ? null : state.selection) +
    url.viewFragment(state.view) +
    url.predictFragment(state.predict !== null)
  );
}

/** `onLink` is called with each address that the reader goes to, `keep` with the fragment of what is shown. */
export function createAddressSync(
  currentState: () => PageState,
  onLink: (address: Address) => void,
  keep: (fragment: string) => void = () => {},
) {
  let writeCount = 0;
  let readCount = 0;

  window.addEventListener("hashchange", async ({ newURL }) => {
    writeCount += 1; // what was about to be written is of before
    const readId = ++readCount;
    const address = await url.readAddress(new URL(newURL).hash);
    if (readId === readCount) onLink(address);
  });

  function scheduleWrite() {
    const writeId = ++writeCount;
    setTimeout(async () => {
      if (writeId !== writeCount) return;
      const fragment = await stateFragment(currentState());
      if (writeId === writeCount) keep(fragment);
      const query = currentState().predict ? location.search : url.queryWithoutPredict(location.search);
      // a write would end a way back that has begun
      if (writeId !== writeCount || (fragment === location.hash && query === location.search)) return;
      history.replaceState(null, "", location.pathname + query + fragment);
    }, WRITE_AFTER_MS);
  }

  return {
    render(state: PageState, before: PageState | null) {
      if (!before) return; // the address is read first
      if (
        hasChangedField(
          state,
          before,
          "text",
          "settings",
          "opened",
          "step",
          "selection",
          "view",
          "requestedStep",
          "predict",
        )
      )
        scheduleWrite();
    },
  };
}
