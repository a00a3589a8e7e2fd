/** A comparison that is only looked at: in a frame of another site's page, and in the offline file. */

import { createCodeListing } from "../editor/code_listing.js";
import { startKeys } from "../browser/keys.js";
import { startTheme } from "../browser/theme.js";
import { createSideView, partOf } from "./side_view.js";
import { createComparisonView } from "./view.js";

/** @typedef {{trace: import("../trace/wire.js").Trace, title: string}} ViewedRun */

/**
 * @param {{left: ViewedRun, right: ViewedRun, row: number | null}} content row: the place to show, null for where the two part
 * @param {import("../words/locale.js").Locale["say"]} say
 */
export function startComparisonViewer({ left, right, row }, say) {
  const language = document.documentElement.lang;
  const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  const permalink = /** @type {HTMLAnchorElement | null} */ (document.querySelector("a[data-away]"));

  /** @param {"left" | "right"} name @param {ViewedRun} run */
  function createView(name, { trace, title }) {
    const root = element(name);
    if (title) partOf(root, "title").textContent = title;
    const list = document.createElement("ol");
    list.className = "listing";
    list.tabIndex = 0;
    list.setAttribute("aria-label", root.getAttribute("aria-label") ?? "");
    partOf(root, "code").replaceChildren(list);
    const onLine = (/** @type {number} */ line) => view.goToLine(name, line);
    return createSideView(root, createCodeListing(list, { source: trace.program.source, onLine }), say);
  }

  const sides = { left: createView("left", left), right: createView("right", right) };
  const view = createComparisonView(element("comparison"), sides, language, (step) => {
    if (permalink) permalink.hash = `i=${step}`;
  });
  startTheme(element("theme"));
  startKeys({ focused: () => false }, view.shortcuts, { run() {}, key: view.key });
  const chosenRow = Number.parseInt(new URLSearchParams(location.hash.slice(1)).get("i") ?? "", 10);
  view.open(left.trace, right.trace, Number.isSafeInteger(chosenRow) && chosenRow >= 0 ? chosenRow : row);
}
