/** Moving a card by its number: a line shows the place where it would stand. */

import { element } from "../elements.js";

const LEAST = 5;
/** Pixels beside the list from which on a card that is let go stays where it was. */
const OUTSIDE = 48;

/**
 * @param {HTMLElement} list
 * @param {{refusal: (row: Element, target: Element, isBelow: boolean) => string | null, drop: (row: Element, target: Element, isBelow: boolean) => void}} on
 *   refusal: why a row can not stand above or below another; null where it can
 */
export function startDragging(list, { refusal, drop }) {
  const mark = element("div", "card-drop");
  const why = element("span", "");
  mark.append(why);
  /** @type {{row: HTMLElement, y: number, moved: boolean, target: Element | null, isBelow: boolean} | null} */
  let drag = null;

  list.addEventListener("pointerdown", (event) => {
    const grip = event.target instanceof Element ? event.target.closest(".card-number") : null;
    const row = grip?.closest("li");
    if (!grip || !row || row.classList.contains("blank") || event.button !== 0) return;
    drag = { row, y: event.clientY, moved: false, target: null, isBelow: false };
    grip.setPointerCapture(event.pointerId);
  });

  list.addEventListener("pointermove", (event) => {
    if (!drag) return;
    if (!drag.moved && Math.abs(event.clientY - drag.y) < LEAST) return;
    drag.moved = true;
    drag.row.classList.add("dragged");
    const box = list.getBoundingClientRect();
    if (isOutside(box, event)) {
      drag.target = null;
      mark.remove();
      return;
    }
    const rows = [...list.querySelectorAll("li[data-line]:not(.last)")];
    const under = rows.findLast((row) => row.getBoundingClientRect().top <= event.clientY) ?? rows[0];
    const { top, bottom, height } = under.getBoundingClientRect();
    drag.target = under;
    drag.isBelow = event.clientY > top + height / 2;
    const refused = under === drag.row ? null : refusal(drag.row, under, drag.isBelow);
    mark.classList.toggle("refused", refused !== null);
    why.textContent = refused ?? "";
    mark.style.top = `${(drag.isBelow ? bottom : top) - box.top}px`;
    list.append(mark);
  });

  function end(/** @type {boolean} */ isDrop) {
    if (!drag) return;
    const { row, moved, target, isBelow } = drag;
    drag = null;
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

/** @param {DOMRect} box @param {{clientX: number, clientY: number}} at */
function isOutside({ left, right, top, bottom }, { clientX, clientY }) {
  return clientX < left - OUTSIDE || clientX > right + OUTSIDE || clientY < top - OUTSIDE || clientY > bottom + OUTSIDE;
}
