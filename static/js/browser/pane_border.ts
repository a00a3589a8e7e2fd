/** The border between two panes: dragged, moved by arrow keys, remembered; a double click puts it back. */

import { readPreference, writePreference } from "./preferences.ts";

const PANE_WIDTH_STORAGE_KEY = "gradbox-pane";
const PANE_WIDTH_KEY_STEP = 24;

/**
 * Makes a separator between two columns of its parent draggable. `min` and `max` are widths of the first pane, in
 * pixels.
 */
export function makePaneBorderDraggable(border: HTMLElement, { min, max }: { min: number; max: () => number }) {
  const container = border.parentElement as HTMLElement;
  const firstPane = border.previousElementSibling as HTMLElement;

  /** Null: the width that the page would have. */
  function setWidth(width: number | null) {
    if (width === null) {
      container.style.removeProperty("--first");
      writePreference(PANE_WIDTH_STORAGE_KEY, null);
    } else {
      const clamped = Math.round(Math.max(min, Math.min(width, max())));
      container.style.setProperty("--first", `${clamped}px`);
      writePreference(PANE_WIDTH_STORAGE_KEY, String(clamped));
    }
    updateAria();
  }

  function updateAria() {
    border.setAttribute("aria-valuemin", String(min));
    border.setAttribute("aria-valuemax", String(Math.round(max())));
    border.setAttribute("aria-valuenow", String(Math.round(firstPane.getBoundingClientRect().width)));
  }

  border.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    border.setPointerCapture(event.pointerId);
    const from = firstPane.getBoundingClientRect().left;
    const move = (moveEvent: PointerEvent) => setWidth(moveEvent.clientX - from);
    border.addEventListener("pointermove", move);
    border.addEventListener("lostpointercapture", () => border.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  border.addEventListener("dblclick", () => setWidth(null));
  border.addEventListener("keydown", (event) => {
    const now = firstPane.getBoundingClientRect().width;
    const nextWidth = {
      ArrowLeft: now - PANE_WIDTH_KEY_STEP,
      ArrowRight: now + PANE_WIDTH_KEY_STEP,
      Home: min,
      End: max(),
    }[event.key];
    if (nextWidth === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setWidth(nextWidth);
  });

  const saved = Number(readPreference(PANE_WIDTH_STORAGE_KEY));
  if (saved) setWidth(saved);
  else updateAria();
}
