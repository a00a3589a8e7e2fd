/** Keeps the row under the pointer where it is while one steps by keys, and tells real moves of the pointer from a
 * picture that changed beneath it. */

/** `root` holds the panes. */
export function createRowAnchor(root: HTMLElement) {
  /** where the pointer last was over the picture */
  let pointer: { x: number; y: number } | null = null;
  let hasPointerMoved = false;
  /** The row that is held, and where it stood when the pointer came to rest: scrolling rounds to whole pixels. */
  let heldRow: { row: Element; top: number } | null = null;
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
    for (const pane of root.querySelectorAll(".pane-scroll")) clearPadding(pane as HTMLElement);
  });

  return {
    /** Whether the pointer came to an element by itself, not the element to the pointer. */
    isRealMove(event: PointerEvent) {
      if (event.pointerType === "touch") return true;
      return pointer === null || hasPointerMoved || event.clientX !== pointer.x || event.clientY !== pointer.y;
    },
    /**
     * Remembers the row under the pointer before a step is drawn. Call the result afterwards: it puts the row back
     * under the pointer, and returns false where there is none.
     */
    hold(sameRun: boolean): () => boolean {
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

/** Where a row stands once its animation is over. */
function targetTop(row: Element) {
  for (const animation of row.getAnimations()) animation.finish();
  return row.getBoundingClientRect().top;
}

/** Scrolls a pane by so many pixels, with room added above or below where it is at its end. */
function scrollPane(pane: HTMLElement, distance: number) {
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

function clearPadding(pane: HTMLElement) {
  pane.style.paddingTop = "";
  pane.style.paddingBottom = "";
}
