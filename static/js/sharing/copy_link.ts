/** The button that copies the page's address. */

import { MAX_FRAGMENT_CHARACTERS } from "../page_state/url.ts";
import type { Locale } from "../words/sentences.ts";
import type { RequestProblem } from "../requests/trace_source.ts";

const DONE_SHOWN_MS = 1500;

/** `makeFragment` makes that of the page as it is now. */
export function startCopyLinkButton(
  button: HTMLElement,
  makeFragment: () => Promise<string>,
  say: Locale["say"],
  onProblem: (problem: RequestProblem) => void,
) {
  button.addEventListener("click", async () => {
    const addressFragment = await makeFragment();
    if (addressFragment.length > MAX_FRAGMENT_CHARACTERS)
      return onProblem({
        key: "link_long",
        args: { n: addressFragment.length, most: MAX_FRAGMENT_CHARACTERS },
        offersSave: true,
      });
    try {
      await navigator.clipboard.writeText(location.origin + location.pathname + addressFragment);
    } catch {
      return onProblem({ key: "not_copied" });
    }
    button.dataset.done = "true";
    button.textContent = say("copied");
    setTimeout(() => {
      delete button.dataset.done;
      button.textContent = say("copy_link");
    }, DONE_SHOWN_MS);
  });
}
