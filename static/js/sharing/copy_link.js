/** The button that copies the page's address. */

import { MAX_FRAGMENT } from "../page_state/url.js";

const DONE_SHOWN_MS = 1500;

/**
 * @param {HTMLElement} button
 * @param {() => Promise<string>} makeFragment of the page as it is now
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {(problem: import("../page_state/page_state.js").Problem) => void} onProblem
 */
export function startCopyLink(button, makeFragment, say, onProblem) {
  button.addEventListener("click", async () => {
    const addressFragment = await makeFragment();
    if (addressFragment.length > MAX_FRAGMENT)
      return onProblem({ key: "link_long", args: { n: addressFragment.length, most: MAX_FRAGMENT }, offersSave: true });
    try {
      await navigator.clipboard.writeText(location.origin + location.pathname + addressFragment);
    } catch {
      return onProblem({ key: "not_copied" });
    }
    button.dataset.done = "true";
    button.setAttribute("aria-label", say("copied"));
    setTimeout(() => {
      delete button.dataset.done;
      button.setAttribute("aria-label", say("copy_link"));
    }, DONE_SHOWN_MS);
  });
}
