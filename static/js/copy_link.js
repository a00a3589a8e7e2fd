/** The button that copies the page's address. */

import { MAX_FRAGMENT } from "./url.js";

const DONE_MS = 1500;

/**
 * @param {HTMLElement} button
 * @param {() => Promise<string>} fragment of the page as it is now
 * @param {import("./locale.js").Locale["say"]} say
 * @param {(problem: import("./page_state.js").Problem) => void} failed
 */
export function startCopyLink(button, fragment, say, failed) {
  button.addEventListener("click", async () => {
    const text = await fragment();
    if (text.length > MAX_FRAGMENT)
      return failed({ key: "link_long", args: { n: text.length, most: MAX_FRAGMENT }, offersSave: true });
    try {
      await navigator.clipboard.writeText(location.origin + location.pathname + text);
    } catch {
      return failed({ key: "not_copied" });
    }
    button.dataset.done = "true";
    button.setAttribute("aria-label", say("copied"));
    setTimeout(() => {
      delete button.dataset.done;
      button.setAttribute("aria-label", say("copy_link"));
    }, DONE_MS);
  });
}
