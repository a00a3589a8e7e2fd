/** Keeps the row under the pointer where it is while one steps by keys, and tells real moves of the pointer from a
 * picture that changed beneath it. */

/** @param {HTMLElement} root of the panes */
export function createRowAnchor(root) {
  /** @type {{x: number, y: number} | null} where the pointer last was over the picture */
  let pointer = null;
  let hasPointerMoved = false;
  /** The row that is held, and where it stood when the pointer came to rest: scrolling rounds to whole pixels.
   * @type {{row: Element, top: number} | null} */
  let heldRow = null;
  root.addEventListener(
    "pointermove",
    (event) => {
      if (event.pointerType === "touch") return;
      hasPointerMoved = pointer === null || event.clientX !== pointer.x || event.clientY !== pointer.y;
      pointer = { x: event.clientX, y: event.clientY };
      if (hasPointerMoved) heldRow = null;
    },
    { capture: true },
  );
  root.addEventListener("pointerleave", () => {
    pointer = null;
    for (const pane of root.querySelectorAll(".pane-scroll")) clearPadding(/** @type {HTMLElement} */ (pane));
  });

  return {
    /** Whether the pointer came to an element by itself, not the element to the pointer. @param {PointerEvent} event */
    isRealMove(event) {
      if (event.pointerType === "touch") return true;
      return pointer === null || hasPointerMoved || event.clientX !== pointer.x || event.clientY !== pointer.y;
    },
    /** Remember the row under the pointer before a step is drawn. @param {boolean} sameRun
     * @returns {() => boolean} to call afterwards: puts the row back under the pointer; false where there is none */
    hold(sameRun) {
      hasPointerMoved = false;
      const row = pointer && sameRun ? document.elementFromPoint(pointer.x, pointer.y)?.closest(".moves") : null;
      const pane = row?.closest(".pane-scroll");
      if (!row || !(pane instanceof HTMLElement)) return () => false;
      const topBefore = heldRow?.row === row ? heldRow.top : row.getBoundingClientRect().top;
      heldRow = { row, top: topBefore };
      return () => {
        if (!row.isConnected) return false;
        scrollPane(pane, targetTop(row) - topBefore);
        return true;
      };
    },
  };
}

/** Where a row stands once its animation is over. @param {Element} row */
function targetTop(row) {
  for (const animation of row.getAnimations()) animation.finish();
  return row.getBoundingClientRect().top;
}

/** Scroll a pane by so much, with room added above or below where it is at its end. @param {HTMLElement} pane @param {number} distance pixels */
function scrollPane(pane, distance) {
  if (Math.abs(distance) < 0.5) return;
  const paddingTop = Number.parseFloat(pane.style.paddingTop) || 0;
  const top = pane.scrollTop + distance;
  if (top < 0) {
    pane.style.paddingTop = `${paddingTop - top}px`;
    pane.scrollTop = 0;
    return;
  }
  const maxScroll = pane.scrollHeight - pane.clientHeight;
  if (top > maxScroll)
    pane.style.paddingBottom = `${(Number.parseFloat(pane.style.paddingBottom) || 0) + top - maxScroll}px`;
  pane.scrollTop = top;
}

/** @param {HTMLElement} pane */
function clearPadding(pane) {
  pane.style.paddingTop = "";
  pane.style.paddingBottom = "";
}
