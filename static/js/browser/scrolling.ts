/** Scrolling a picture by dragging its ground. */

/** Scroll `root` by dragging, unless what is dragged can be pointed at. */
export function startDragScrolling(root: HTMLElement, canBePointedAt: (target: EventTarget | null) => boolean) {
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || canBePointedAt(event.target)) return;
    if (root.scrollWidth <= root.clientWidth && root.scrollHeight <= root.clientHeight) return;
    const from = { x: event.clientX + root.scrollLeft, y: event.clientY + root.scrollTop };
    root.setPointerCapture(event.pointerId);
    root.classList.add("dragged");
    const move = (moveEvent: PointerEvent) => root.scrollTo(from.x - moveEvent.clientX, from.y - moveEvent.clientY);
    const drop = () => {
      root.classList.remove("dragged");
      root.removeEventListener("pointermove", move);
    };
    root.addEventListener("pointermove", move);
    root.addEventListener("pointerup", drop, { once: true });
    root.addEventListener("pointercancel", drop, { once: true });
  });
}
