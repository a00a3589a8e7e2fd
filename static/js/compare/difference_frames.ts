/**
 * Dashed frames with numbers over a stage: where what is different is drawn. The numbers are those of the list of
 * differences.
 */

import { attributesThatDrawProperties } from "./property_attributes.ts";
import type { OpenTrace } from "../trace/state.ts";

/** a name's differences at a step */
export interface NumberedDifference {
  number: number;
  /** of what it names on this side */
  uid: string | null;
  properties: string[];
}

/** Pixels around what is framed, and the least distance between two numbers. */
const DIFFERENCE_FRAME_MARGIN = 3;
const MIN_NUMBER_SPACING = 18;

export function createDifferenceFrames(host: HTMLElement): {
  show: (opened: OpenTrace, step: number, marked: NumberedDifference[]) => void;
  clear: () => void;
} {
  const layer = document.createElement("div");
  layer.className = "difference-marks";
  layer.setAttribute("aria-hidden", "true");
  host.append(layer);
  let shownMarks: { number: number; selectors: string[] }[] = [];
  let pendingFrame = 0;

  function drawFrames() {
    pendingFrame = 0;
    const frame = host.getBoundingClientRect();
    const elements: HTMLElement[] = [];
    const numberCorners: { x: number; y: number }[] = [];
    for (const { number, selectors } of shownMarks)
      for (const element of host.querySelectorAll(selectors.join(","))) {
        const box = element.getBoundingClientRect();
        const pane = element.closest(".pane-scroll")?.getBoundingClientRect() ?? frame;
        const [top, bottom] = [Math.max(box.top, pane.top), Math.min(box.bottom, pane.bottom)];
        const [left, right] = [Math.max(box.left, pane.left), Math.min(box.right, pane.right)];
        if (bottom - top < 6 || right - left < 6) continue;
        const corner = { x: left - frame.left - DIFFERENCE_FRAME_MARGIN, y: top - frame.top - DIFFERENCE_FRAME_MARGIN };
        elements.push(
          differenceFrameElement(
            corner,
            right - left + 2 * DIFFERENCE_FRAME_MARGIN,
            bottom - top + 2 * DIFFERENCE_FRAME_MARGIN,
          ),
        );
        while (
          numberCorners.some(
            ({ x, y }) => Math.abs(x - corner.x) < MIN_NUMBER_SPACING && Math.abs(y - corner.y) < MIN_NUMBER_SPACING,
          )
        )
          corner.x += MIN_NUMBER_SPACING;
        numberCorners.push({ ...corner });
        elements.push(differenceNumberElement(corner, number));
      }
    layer.replaceChildren(...elements);
  }

  function scheduleDraw() {
    if (!pendingFrame) pendingFrame = requestAnimationFrame(drawFrames);
  }
  host.addEventListener("scroll", scheduleDraw, { capture: true, passive: true });
  new ResizeObserver(scheduleDraw).observe(host);

  return {
    show(opened, step, marked) {
      shownMarks = marked
        .map(({ number, uid, properties }) => ({
          number,
          selectors: attributesThatDrawProperties(opened, step, uid, properties).map(
            ({ name, value }) => `[${name}="${CSS.escape(value)}"]`,
          ),
        }))
        .filter(({ selectors }) => selectors.length);
      scheduleDraw();
    },
    clear() {
      shownMarks = [];
      layer.replaceChildren();
    },
  };
}

function differenceFrameElement({ x, y }: { x: number; y: number }, width: number, height: number) {
  const frame = document.createElement("i");
  for (const [name, value] of Object.entries({ left: x, top: y, width, height }))
    frame.style.setProperty(name, `${Math.round(value)}px`);
  return frame;
}

function differenceNumberElement({ x, y }: { x: number; y: number }, number: number) {
  const badge = document.createElement("b");
  badge.textContent = String(number);
  badge.style.setProperty("left", `${Math.round(x)}px`);
  badge.style.setProperty("top", `${Math.round(y)}px`);
  return badge;
}
