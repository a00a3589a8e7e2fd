/** A program to be read: its lines, with marks for the step that is shown, for a finding and for a comparison. */

import { createElement } from "../browser/elements.ts";
import { lineRoleElement } from "../explain/finding_icons.ts";
import { mostSevereMarkByLine, type ChainMark } from "../findings/chain_marks.ts";
import type { HighlightedText } from "./highlight_python.ts";
import type { ProgramFile } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** What shows a program: this list, or the editor. line: from 1; null for none. tone: "raised", "visit" or "" */
export interface CodePane {
  setStepLine: (line: number | null, tone?: string) => void;
  showChanged: (lines: Set<number>) => void;
}

interface CodeListingOptions {
  source: string;
  /** of the source, where it has several; each has a heading, and numbers of its own */
  files?: ProgramFile[];
  /** called with a line that was chosen */
  onLine: (line: number) => void;
  /** what gives the lines their colours: it comes when they can be read already; absent, they stay without */
  loadHighlighter?: LoadHighlighter;
}

export type LoadHighlighter = () => Promise<(source: string) => HighlightedText[][]>;

/** Each line becomes an `li` of the list. */
export function createCodeListing(
  list: HTMLElement,
  { source, files = [], onLine, loadHighlighter }: CodeListingOptions,
) {
  const texts: HTMLElement[] = [];
  const rows = source
    .trimEnd()
    .split("\n")
    .map((text, k) => {
      const row = document.createElement("li");
      texts.push(createElement("span", "listing-text", text));
      row.append(texts[k]);
      row.addEventListener("click", () => onLine(k + 1));
      return row;
    });
  list.replaceChildren(...rows);
  for (const { name, path, first_line: first } of files) {
    const heading = document.createElement("li");
    heading.className = "file-name";
    heading.textContent = name;
    if (path) heading.title = path;
    rows[first - 1]?.before(heading);
  }
  if (loadHighlighter) void colour(loadHighlighter);

  async function colour(load: LoadHighlighter) {
    await new Promise((resolve) => setTimeout(resolve, 0)); // the picture comes first
    const paint = await load().catch(() => null); // offline, or the server has a newer page
    for (const [k, parts] of paint?.(source).entries() ?? [])
      texts[k]?.replaceChildren(...parts.map(({ text, style }) => (style ? createElement("span", style, text) : text)));
  }

  return {
    /** Highlight the line of the step and scroll it into sight. */
    setStepLine(line: number | null, tone = "") {
      rows.forEach((row, k) => {
        const isStepLine = k + 1 === line;
        row.classList.toggle("cm-now", isStepLine);
        for (const name of ["raised", "visit"]) row.classList.toggle(name, isStepLine && name === tone);
        if (isStepLine) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
      });
      const row = line === null ? undefined : rows[line - 1];
      if (row) scrollRowIntoSight(list, row);
    },
    /** Mark the line that comes next, where the steps after it are hidden, and scroll it into sight. */
    setNextLine(line: number | null) {
      rows.forEach((row, k) => row.classList.toggle("cm-next", k + 1 === line));
      const row = line === null ? undefined : rows[line - 1];
      if (row) scrollRowIntoSight(list, row);
    },
    /** Mark the lines that the other program does not have. */
    showChanged(lines: Set<number>) {
      rows.forEach((row, k) => row.classList.toggle("cm-changed", lines.has(k + 1)));
    },
    /** Highlight lines that have errors. */
    showErrors(lines: number[]) {
      for (const line of lines) rows[line - 1]?.classList.add("cm-now", "raised");
    },
    /** Mark the lines of the open finding's chain. */
    showChain(marks: ChainMark[], say: Locale["say"]) {
      for (const mark of list.querySelectorAll(".line-role")) mark.remove();
      for (const row of rows) row.classList.remove("cm-cause");
      for (const { line, role, isCause } of mostSevereMarkByLine(marks)) {
        const row = rows[line - 1];
        if (!row) continue;
        row.classList.toggle("cm-cause", isCause);
        row.prepend(lineRoleElement(role, say(`role_${role}`)));
      }
    },
    /** Scroll the step's line into sight: needed where the list got another height. */
    scrollToStep() {
      const row = rows.find(({ ariaCurrent }) => ariaCurrent);
      if (row) scrollRowIntoSight(list, row);
    },
  };
}

/** Scroll a row into the middle of the list, or of what scrolls the list within its section, unless it is in sight:
 * a page around a frame isn't ours to scroll. */
function scrollRowIntoSight(list: HTMLElement, row: HTMLElement) {
  const section = list.closest("section");
  let scroller: HTMLElement | null = list;
  while (scroller && scroller !== section && scroller.scrollHeight <= scroller.clientHeight + 1)
    scroller = scroller.parentElement;
  if (!scroller) return;
  const view = scroller.getBoundingClientRect();
  const { top, bottom } = row.getBoundingClientRect();
  if (top < view.top || bottom > view.bottom) scroller.scrollTop += (top + bottom - view.top - view.bottom) / 2;
}
