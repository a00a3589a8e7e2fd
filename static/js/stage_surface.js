/** An SVG of the stage's, with its layers, and the scale at which it is drawn. */

import { patch, SVG, h } from "./svg.js";

/** @typedef {import("./svg.js").VNode} VNode */

const SMALLEST = 0.74;
const LARGEST = 1.14;
/** The scale of a picture that has to be scrolled anyway. */
const SCROLLED = 0.88;

/** @param {Document} document @param {string} name */
export function createSurface(document, name) {
  const box = document.createElement("div");
  box.className = `stage-pane stage-${name}`;
  const svg = element(document, "svg", { class: "stage-svg", role: "group" });
  const defs = element(document, "defs", {});
  const pattern = element(document, "pattern", {
    id: `hatch-${name}`,
    width: "8",
    height: "8",
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  pattern.append(element(document, "rect", { width: "1.6", height: "8", class: "hatch-stripe" }));
  defs.append(pattern);
  const layers = {
    divider: element(document, "g", {}),
    between: element(document, "g", {}),
    memory: element(document, "g", {}),
    graph: element(document, "g", {}),
  };
  svg.append(defs, ...Object.values(layers));
  box.append(svg);
  let scale = 1;

  return {
    box,
    /** Its scale: pixels per unit of the plan. */
    get scale() {
      return scale;
    },
    /** @param {ReturnType<typeof fitScale>} size */
    resize({ k, width, height }) {
      scale = k;
      const attributes = {
        viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`,
        width: Math.round(width * k),
        height: Math.round(height * k),
      };
      // Whatever is written makes the browser lay out the page, so only what differs is.
      for (const [name, value] of Object.entries(attributes))
        if (svg.getAttribute(name) !== String(value)) svg.setAttribute(name, String(value));
    },
    /**
     * @param {{memory?: VNode[], between?: VNode[], graph?: VNode[]}} picture
     * @param {{x: number, h: number, label: string}} [divider] between memory and graph
     */
    draw({ memory = [], between = [], graph = [] }, divider) {
      const line = divider
        ? [
            h("path", { key: "fence", class: "fence", d: `M${divider.x} 0V${divider.h}` }),
            h("text", { key: "head", class: "lane-head", x: divider.x + 30, y: 22 }, divider.label),
          ]
        : [];
      patch(document, layers.divider, line);
      patch(document, layers.memory, memory);
      patch(document, layers.graph, graph);
      patch(document, layers.between, between);
    },
  };
}

/** @param {Document} document @param {string} tag @param {Record<string, string>} attributes */
function element(document, tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/**
 * The scale that shows most of a plan without making it too small to read, or the one that the reader chose.
 * @param {{width: number, height: number}} plan
 * @param {{w: number, h: number}} room in pixels; h is 0 where the height is not bounded
 * @param {{smallest?: number, chosen?: number | null}} [options]
 * @returns {{k: number, width: number, height: number}} k: pixels per unit; the surface's size in units
 */
export function fitScale(plan, room, { smallest = SMALLEST, chosen = null } = {}) {
  const fitW = room.w > 0 ? (room.w - 2) / plan.width : 1;
  const fitH = room.h > 0 ? (room.h - 2) / plan.height : LARGEST;
  const k = chosen ?? (fitW < smallest ? SCROLLED : Math.min(LARGEST, fitW, Math.max(fitH, SCROLLED)));
  return { k, width: Math.max(plan.width, room.w / k - 2), height: Math.max(plan.height, room.h / k - 2) };
}

/** The scale that shows a whole plan. @param {{width: number, height: number}} plan @param {{w: number, h: number}} room */
export function wholeScale(plan, room) {
  return Math.min(LARGEST, (room.w - 2) / plan.width, (room.h - 2) / plan.height);
}

/** How many units of width are in sight at the smallest scale. @param {number} width in pixels */
export function widestPlan(width) {
  return width / SMALLEST;
}
