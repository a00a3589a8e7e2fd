/** A program to be read: its lines with the one that the step is at, and those that the other side does not have. */

/** @typedef {{setStepLine: (line: number | null, tone?: string) => void, showChanged: (lines: Set<number>) => void}} CodePane */

/**
 * @param {HTMLElement} host
 * @param {{source: string, label: string, onLine: (line: number) => void}} options onLine: called with a line that was chosen
 * @returns {CodePane}
 */
export function createListing(host, { source, label, onLine }) {
  const list = document.createElement("ol");
  list.className = "listing";
  list.tabIndex = 0;
  list.setAttribute("aria-label", label);
  const rows = source
    .trimEnd()
    .split("\n")
    .map((text, k) => {
      const row = document.createElement("li");
      row.textContent = text;
      row.addEventListener("click", () => onLine(k + 1));
      return row;
    });
  list.replaceChildren(...rows);
  host.replaceChildren(list);
  return {
    setStepLine(line, tone = "") {
      rows.forEach((row, k) => {
        const here = k + 1 === line;
        row.classList.toggle("cm-now", here);
        for (const name of ["raised", "visit"]) row.classList.toggle(name, here && name === tone);
        if (here) row.setAttribute("aria-current", "step");
        else row.removeAttribute("aria-current");
      });
      const row = line === null ? undefined : rows[line - 1];
      if (row) scrollIntoList(list, row);
    },
    showChanged(lines) {
      rows.forEach((row, k) => row.classList.toggle("cm-changed", lines.has(k + 1)));
    },
  };
}

/** Scrolls a row into the middle of its list, unless it is in sight. @param {HTMLElement} list @param {HTMLElement} row */
function scrollIntoList(list, row) {
  const view = list.getBoundingClientRect();
  const { top, bottom } = row.getBoundingClientRect();
  if (top < view.top || bottom > view.bottom) list.scrollTop += (top + bottom - view.top - view.bottom) / 2;
}
