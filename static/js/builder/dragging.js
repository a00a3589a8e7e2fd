/** Moving a card by its number: a line shows the place where it would stand. */

import { element } from "../elements.js";

const MIN_DISTANCE = 5;
/** Milliseconds at a place before it is asked whether a card can stand there: the program is read anew for that. */
const REFUSAL_DELAY_MS = 60;
/** Pixels beside the list from which on a card that is let go stays where it was. */
const OUTSIDE_MARGIN = 48;

/**
 * @param {HTMLElement} list
 * @param {{refusal: (row: Element, target: Element, isBelow: boolean) => string | null, drop: (row: Element, target: Element, isBelow: boolean) => void}} on
 *   refusal: why a row can not stand above or below another; null where it can
 */
export function startDragging(list, { refusal, drop }) {
  const mark = element("div", "card-drop");
  const why = element("span", "");
  mark.append(why);
  /** @type {{row: HTMLElement, rows: Element[], y: number, moved: boolean, target: Element | null, isBelow: boolean} | null} */
  let drag = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asking;

  /** @param {string | null} refused */
  function showRefusal(refused) {
    mark.classList.toggle("refused", refused !== null);
    why.textContent = refused ?? "";
  }

  list.addEventListener("pointerdown", (event) => {
    const grip = event.target instanceof Element ? event.target.closest(".card-number") : null;
    const row = grip?.closest("li");
    if (!grip || !row || row.classList.contains("blank") || event.button !== 0) return;
    const rows = [...list.querySelectorAll("li[data-line]:not(.last)")];
    drag = { row, rows, y: event.clientY, moved: false, target: null, isBelow: false };
    grip.setPointerCapture(event.pointerId);
  });

  list.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.moved && Math.abs(event.clientY - drag.y) < MIN_DISTANCE) return;
    drag.moved = true;
    drag.row.classList.add("dragged");
    const box = list.getBoundingClientRect();
    if (isOutside(box, event)) {
      drag.target = null;
      mark.remove();
      return;
    }
    const under = rowAt(drag.rows, event.clientY);
    const { top, bottom, height } = under.getBoundingClientRect();
    const isBelow = event.clientY > top + height / 2;
    if (drag.target === under && drag.isBelow === isBelow) return;
    drag.target = under;
    drag.isBelow = isBelow;
    const { row } = drag;
    clearTimeout(asking);
    showRefusal(null);
    asking = setTimeout(() => under !== row && showRefusal(refusal(row, under, isBelow)), REFUSAL_DELAY_MS);
    mark.style.top = `${(isBelow ? bottom : top) - box.top + list.scrollTop}px`;
    if (!mark.isConnected) list.append(mark);
  });

  function end(/** @type {boolean} */ isDrop) {
    if (!drag) return;
    const { row, moved, target, isBelow } = drag;
    drag = null;
    clearTimeout(asking);
    row.classList.remove("dragged");
    mark.remove();
    if (isDrop && moved && target && target !== row) drop(row, target, isBelow);
  }
  list.addEventListener("pointerup", () => end(true));
  list.addEventListener("pointercancel", () => end(false));
  document.addEventListener("keydown", (event) => {
    if (!drag || event.key !== "Escape") return;
    event.stopPropagation();
    end(false);
  });
}

/** The last row that begins above a height, found by halving: a long program has thousands. @param {Element[]} rows from the top
 * @param {number} y */
export function rowAt(rows, y) {
  let low = 0;
  for (let high = rows.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if (rows[middle].getBoundingClientRect().top <= y) low = middle;
    else high = middle - 1;
  }
  return rows[low];
}

/** @param {DOMRect} box @param {{clientX: number, clientY: number}} at */
function isOutside({ left, right, top, bottom }, { clientX, clientY }) {
  return (
    clientX < left - OUTSIDE_MARGIN ||
    clientX > right + OUTSIDE_MARGIN ||
    clientY < top - OUTSIDE_MARGIN ||
    clientY > bottom + OUTSIDE_MARGIN
  );
}
