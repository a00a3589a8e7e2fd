/** Moving a card by its number: a line shows the place where it would stand. */

import { createElement } from "../browser/elements.ts";

const MIN_DRAG_DISTANCE = 5;
/** Milliseconds at a place before it is asked whether a card can stand there: the program is read anew for that. */
const REFUSAL_DELAY_MS = 60;
/** Pixels beside the list from which on a card that is let go stays where it was. */
const OUTSIDE_MARGIN = 48;

interface DraggingEvents {
  /** why a row can not stand above or below another; null where it can */
  refusal: (row: Element, target: Element, isBelow: boolean) => string | null;
  drop: (row: Element, target: Element, isBelow: boolean) => void;
}

export function startCardDragging(list: HTMLElement, { refusal, drop }: DraggingEvents) {
  const dropMark = createElement("div", "card-drop");
  const reasonElement = createElement("span", "");
  dropMark.append(reasonElement);
  let drag: {
    row: HTMLElement;
    rows: Element[];
    y: number;
    moved: boolean;
    target: Element | null;
    isBelow: boolean;
  } | null = null;
  let refusalTimer: ReturnType<typeof setTimeout> | undefined;

  function showRefusal(refused: string | null) {
    dropMark.classList.toggle("refused", refused !== null);
    reasonElement.textContent = refused ?? "";
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
    if (!drag.moved && Math.abs(event.clientY - drag.y) < MIN_DRAG_DISTANCE) return;
    drag.moved = true;
    drag.row.classList.add("dragged");
    const listBox = list.getBoundingClientRect();
    if (isPointerOutside(listBox, event)) {
      drag.target = null;
      dropMark.remove();
      return;
    }
    const targetRow = rowAtHeight(drag.rows, event.clientY);
    const { top, bottom, height } = targetRow.getBoundingClientRect();
    const isBelow = event.clientY > top + height / 2;
    if (drag.target === targetRow && drag.isBelow === isBelow) return;
    drag.target = targetRow;
    drag.isBelow = isBelow;
    const { row } = drag;
    clearTimeout(refusalTimer);
    showRefusal(null);
    refusalTimer = setTimeout(
      () => targetRow !== row && showRefusal(refusal(row, targetRow, isBelow)),
      REFUSAL_DELAY_MS,
    );
    dropMark.style.top = `${(isBelow ? bottom : top) - listBox.top + list.scrollTop}px`;
    if (!dropMark.isConnected) list.append(dropMark);
  });

  function endDrag(isDrop: boolean) {
    if (!drag) return;
    const { row, moved, target, isBelow } = drag;
    drag = null;
    clearTimeout(refusalTimer);
    row.classList.remove("dragged");
    dropMark.remove();
    if (isDrop && moved && target && target !== row) drop(row, target, isBelow);
  }
  list.addEventListener("pointerup", () => endDrag(true));
  list.addEventListener("pointercancel", () => endDrag(false));
  document.addEventListener("keydown", (event) => {
    if (!drag || event.key !== "Escape") return;
    event.stopPropagation();
    endDrag(false);
  });
}

/**
 * The last row that begins above a height, found by halving: a long program has thousands. The rows come from the top.
 */
export function rowAtHeight(rows: Element[], y: number) {
  let low = 0;
  for (let high = rows.length - 1; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if (rows[middle].getBoundingClientRect().top <= y) low = middle;
    else high = middle - 1;
  }
  return rows[low];
}

function isPointerOutside(
  { left, right, top, bottom }: DOMRect,
  { clientX, clientY }: { clientX: number; clientY: number },
) {
  return (
    clientX < left - OUTSIDE_MARGIN ||
    clientX > right + OUTSIDE_MARGIN ||
    clientY < top - OUTSIDE_MARGIN ||
    clientY > bottom + OUTSIDE_MARGIN
  );
}
