/** Scrolling a picture: by dragging its ground, and to what a step touched. */

/** Pixels to the left of what is scrolled to sideways. */
const MARGIN_LEFT = 60;
/** Pixels around a running node that belong to it. */
const MARGIN = 24;
const CHANGED_MARKS = ".card.fresh, .cell.written, .bumped, .pin.news, .tag.moved";

/** Scroll `root` by dragging, unless something that can be pointed at is dragged. @param {HTMLElement} root @param {string} targets their selector */
export function scrollByDragging(root, targets) {
  root.addEventListener("pointerdown", (event) => {
    const element = event.target instanceof Element ? event.target : null;
    if (event.button !== 0 || event.pointerType === "touch" || element?.closest(targets)) return;
    if (root.scrollWidth <= root.clientWidth && root.scrollHeight <= root.clientHeight) return;
    const from = { x: event.clientX + root.scrollLeft, y: event.clientY + root.scrollTop };
    root.setPointerCapture(event.pointerId);
    root.classList.add("dragged");
    const move = (/** @type {PointerEvent} */ now) => root.scrollTo(from.x - now.clientX, from.y - now.clientY);
    const drop = () => {
      root.classList.remove("dragged");
      root.removeEventListener("pointermove", move);
    };
    root.addEventListener("pointermove", move);
    root.addEventListener("pointerup", drop, { once: true });
    root.addEventListener("pointercancel", drop, { once: true });
  });
}

/** Scroll sideways to what begins or ends out of sight. @param {HTMLElement} root the stage @param {Element | null} target */
export function scrollSideways(root, target) {
  const pane = target?.closest(".stage.stacked .stage-pane") ?? root;
  if (!target || !pane.clientWidth) return;
  const view = pane.getBoundingClientRect();
  const box = target.getBoundingClientRect();
  if (box.left < view.left || box.right > view.right) pane.scrollBy({ left: box.left - view.left - MARGIN_LEFT });
}

/** Scroll to the node that runs unless all of it is in view, else to what is new where nothing of that is. @param {Element} root */
export function scrollToNews(root) {
  const running = root.querySelector(".node.running");
  const targets = running ? [running] : [...root.querySelectorAll(CHANGED_MARKS)];
  if (!targets.length || !root.clientHeight) return;
  const view = root.getBoundingClientRect();
  const margin = running ? MARGIN : 0;
  const inView = (/** @type {Element} */ element) => {
    const box = element.getBoundingClientRect();
    if (!running)
      return box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right;
    return (
      box.top >= view.top + margin &&
      box.bottom <= view.bottom - margin &&
      box.left >= view.left + margin &&
      box.right <= view.right - margin
    );
  };
  if (targets.some(inView)) return;
  const box = targets[0].getBoundingClientRect();
  root.scrollBy({
    top: scrollOffset([box.top, box.bottom], [view.top, view.bottom], margin),
    left: scrollOffset([box.left, box.right], [view.left, view.right], margin),
  });
}

/** How far to scroll for a box that is not in view to be in its middle. @param {[number, number]} box @param {[number, number]} view @param {number} margin */
function scrollOffset([from, to], [low, high], margin) {
  return from < low + margin || to > high - margin ? (from + to) / 2 - (low + high) / 2 : 0;
}
