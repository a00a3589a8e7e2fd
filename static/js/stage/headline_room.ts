/** Where the headline stands: over the panes, or between their overviews, in the same height of the stage. */

import { PANE_HEADING_HEIGHT, type StagePlan } from "../layout/stage_plan.ts";

/** Beside names of so many times their size it would be read after them. */
const MIN_LARGE_SCALE = 1.3;

/** `headline` is in the flow above the stage, unless its parent has the class `headline-over`. */
export function createHeadlineRoom(headline: HTMLElement) {
  let height: number | null = null;
  let isOver = false;
  new ResizeObserver(() => {
    height = null;
  }).observe(headline);

  function measuredHeight() {
    height ??= headline.offsetHeight;
    return height;
  }

  return {
    height: measuredHeight,
    /** What it takes of the height beside the stage's own. */
    heightOutside: () => (isOver ? 0 : measuredHeight()),
    /** `scale` is the picture's: where that is large the headline is, too, in the same room. */
    place(room: StagePlan["headline"], scale: number) {
      isOver = room !== null;
      headline.classList.toggle("large", !isOver && scale >= MIN_LARGE_SCALE);
      headline.parentElement?.classList.toggle("headline-over", isOver);
      const { style } = headline;
      style.left = room ? `${room.x * scale}px` : "";
      style.width = room ? `${room.w * scale}px` : "";
      style.top = room ? `${PANE_HEADING_HEIGHT * scale}px` : "";
    },
  };
}
