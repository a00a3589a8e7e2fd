/** The divider between the stage's panes: dragged, moved by arrow keys, remembered; a double click puts it back. */

import { readPreference, writePreference } from "../browser/preferences.ts";
import type { StageLabels } from "../marks/labels.ts";

const SHARE_KEY = "gradbox-memory-share";
const KEY_STEP = 0.02;
const MIN_SHARE = 0.2;
const MAX_SHARE = 0.8;

/** `onMoved` is called with the memory's part of the width, null for the usual one. */
export function createDivider(document: Document, labels: StageLabels, onMoved: (share: number | null) => void) {
  const element = document.createElement("div");
  element.className = "stage-divider";
  element.tabIndex = 0;
  const attributes = { role: "separator", "aria-orientation": "vertical", "aria-label": labels.divider };
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.setAttribute("aria-valuemin", String(100 * MIN_SHARE));
  element.setAttribute("aria-valuemax", String(100 * MAX_SHARE));
  const saved = Number(readPreference(SHARE_KEY));
  let share = saved >= MIN_SHARE && saved <= MAX_SHARE ? saved : null;

  function setShare(next: number | null) {
    share = next === null ? null : Math.max(MIN_SHARE, Math.min(MAX_SHARE, next));
    writePreference(SHARE_KEY, share === null ? null : share.toFixed(3));
    onMoved(share);
  }

  /** The part of the width that is left of a point of the window. */
  function shareAt(x: number) {
    const box = (element.parentElement as HTMLElement).getBoundingClientRect();
    return (x - box.left) / Math.max(1, box.width);
  }

  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    const drag = (moveEvent: PointerEvent) => setShare(shareAt(moveEvent.clientX));
    element.addEventListener("pointermove", drag);
    element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", drag), {
      once: true,
    });
  });
  element.addEventListener("dblclick", () => setShare(null));
  element.addEventListener("keydown", (event) => {
    const { left } = element.getBoundingClientRect();
    const now = share ?? shareAt(left);
    const next = { ArrowLeft: now - KEY_STEP, ArrowRight: now + KEY_STEP, Home: MIN_SHARE, End: MAX_SHARE }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setShare(next);
  });

  return {
    element,
    /** The memory's part of the width that the reader chose before, if one. */
    share,
    /** `x` is in pixels from the stage's left. */
    place(x: number, width: number, hidden: boolean) {
      element.hidden = hidden;
      element.style.left = `${Math.round(x)}px`;
      element.setAttribute("aria-valuenow", String(width ? Math.round((100 * x) / width) : 50));
    },
  };
}
