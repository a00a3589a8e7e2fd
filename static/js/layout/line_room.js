/** Places side by side in a line, from the left, as long as there is room. */

/** @typedef {import("./pane.js").Rect} Rect */

/** The room that is left in a line. */
export class LineRoom {
  /** @param {number} x @param {number} right @param {number} cy */
  constructor(x, right, cy) {
    this.x = x;
    this.right = right;
    this.cy = cy;
  }

  get left() {
    return this.right - this.x;
  }

  /** @param {number} w @param {number} h @param {number} [gap] after it @returns {Rect} */
  takeRect(w, h, gap = 4) {
    const rect = { x: this.x, y: this.cy - h / 2, w, h };
    this.x += w + gap;
    return rect;
  }
}
