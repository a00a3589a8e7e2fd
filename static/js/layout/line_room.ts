/** Places side by side in a line, from the left, as long as there is room. */

import type { Rect } from "./pane.ts";

/** The room that is left in a line. */
export class LineRoom {
  x: number;
  right: number;
  cy: number;

  constructor(x: number, right: number, cy: number) {
    this.x = x;
    this.right = right;
    this.cy = cy;
  }

  get widthLeft() {
    return this.right - this.x;
  }

  /** `gap` is left free after it. */
  takeRectFromLeft(w: number, h: number, gap = 4): Rect {
    const rect = { x: this.x, y: this.cy - h / 2, w, h };
    this.x += w + gap;
    return rect;
  }
}
