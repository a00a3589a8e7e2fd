/** A comparison that is only looked at: in a frame of another site's page, and in the offline file. */

import { createCodeListing, type LoadHighlighter } from "../editor/code_listing.ts";
import { startKeyboardShortcuts } from "../browser/keys.ts";
import { startThemeButton } from "../browser/theme.ts";
import { createSideView, elementOfSide } from "./side_view.ts";
import { createComparisonView } from "./comparison_view.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

export interface ViewedRun {
  trace: Trace;
  title: string;
}

interface ComparisonViewerContent {
  left: ViewedRun;
  right: ViewedRun;
  /** the place to show, null for where the two part */
  row: number | null;
}

export function startComparisonViewer(
  { left, right, row }: ComparisonViewerContent,
  say: Locale["say"],
  loadHighlighter: LoadHighlighter,
) {
  const language = document.documentElement.lang;
  const element = (id: string) => document.getElementById(id) as HTMLElement;
  const permalink = document.querySelector("a[data-away]") as HTMLAnchorElement | null;

  function createView(name: "left" | "right", { trace, title }: ViewedRun) {
    const root = element(name);
    if (title) elementOfSide(root, "title").textContent = title;
    const list = document.createElement("ol");
    list.className = "listing";
    list.tabIndex = 0;
    list.setAttribute("aria-label", root.getAttribute("aria-label") ?? "");
    elementOfSide(root, "code").replaceChildren(list);
    const onLine = (line: number) => view.goToLine(name, line);
    return createSideView(
      root,
      createCodeListing(list, { source: trace.program.source, onLine, loadHighlighter }),
      say,
    );
  }

  const sides = { left: createView("left", left), right: createView("right", right) };
  const view = createComparisonView(element("comparison"), sides, language, (step) => {
    if (permalink) permalink.hash = `i=${step}`;
  });
  startThemeButton(element("theme"));
  startKeyboardShortcuts({ focused: () => false }, view.shortcuts, { run() {}, key: view.key });
  const chosenRow = Number.parseInt(new URLSearchParams(location.hash.slice(1)).get("i") ?? "", 10);
  view.open(left.trace, right.trace, Number.isSafeInteger(chosenRow) && chosenRow >= 0 ? chosenRow : row);
}
