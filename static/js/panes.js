/** The border between two panes: dragged, moved by arrow keys, remembered; a double click puts it back. */

import { recall, remember } from "./remembered.js";

const KEY = "gradbox-pane";
const BY = 24;

/**
 * @param {HTMLElement} border a separator between two columns of its parent
 * @param {{least: number, most: () => number}} how widths of the first pane, in pixels
 */
export function startBorder(border, { least, most }) {
  const home = /** @type {HTMLElement} */ (border.parentElement);
  const first = /** @type {HTMLElement} */ (border.previousElementSibling);

  /** @param {number | null} width null: as the page would have it */
  function put(width) {
    if (width === null) {
      home.style.removeProperty("--first");
      remember(KEY, null);
    } else {
      const kept = Math.round(Math.max(least, Math.min(width, most())));
      home.style.setProperty("--first", `${kept}px`);
      remember(KEY, String(kept));
    }
    tell();
  }

  function tell() {
    border.setAttribute("aria-valuemin", String(least));
    border.setAttribute("aria-valuemax", String(Math.round(most())));
    border.setAttribute("aria-valuenow", String(Math.round(first.getBoundingClientRect().width)));
  }

  border.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    border.setPointerCapture(event.pointerId);
    const from = first.getBoundingClientRect().left;
    const move = (/** @type {PointerEvent} */ now) => put(now.clientX - from);
    border.addEventListener("pointermove", move);
    border.addEventListener("lostpointercapture", () => border.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  border.addEventListener("dblclick", () => put(null));
  border.addEventListener("keydown", (event) => {
    const now = first.getBoundingClientRect().width;
    const next = { ArrowLeft: now - BY, ArrowRight: now + BY, Home: least, End: most() }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    put(next);
  });

  const kept = Number(recall(KEY));
  if (kept) put(kept);
  else tell();
}
