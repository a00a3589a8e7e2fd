/** A pane of the stage in the document: a heading that stays, and a body that scrolls by itself to what a step touched. */

import { WHOLE_BAND, MAX_WHOLE_HEIGHT, visibleBand } from "./layout/view.js";
import { HEADING } from "./layout/stage_plan.js";
import { patch, SVG, translation } from "./svg.js";

/** @typedef {import("./svg.js").VNode} VNode */
/** @typedef {import("./layout/pane.js").Pane} Pane */
/** @typedef {ReturnType<typeof createStagePane>} StagePane */

/** How long rows take to their new places, in milliseconds. */
export const MOVE_MS = 180;
/** Room kept around what is scrolled to, in units. */
const MARGIN = 6;

/** @param {Document} document @param {import("./layout/stage_plan.js").Side} side */
export function createStagePane(document, side) {
  const root = document.createElement("section");
  root.className = `stage-pane ${side}-pane`;
  const heading = svgElement(document, "pane-heading");
  const scroller = document.createElement("div");
  scroller.className = "pane-scroll";
  const body = svgElement(document, "pane-body");
  const marks = group(document);
  body.append(hatchPattern(document, side), marks);
  const headingMarks = group(document);
  heading.append(headingMarks);
  scroller.append(body);
  root.append(heading, scroller);
  let k = 1;
  /** The height in sight, in units. */
  let room = 0;
  /** @type {Pane | null} */
  let pane = null;
  /** The rows that are drawn. @type {VNode[]} */
  let rows = [];
  /** Rows on their way. @type {Animation[]} */
  let moves = [];

  /** Whether all of it is in sight: known without asking the browser, which would have to lay out the page. */
  function fits() {
    const { paddingTop, paddingBottom } = scroller.style;
    return !pane || (pane.height <= room && !paddingTop && !paddingBottom);
  }

  /** The heights that are drawn: all of a low pane, of a tall one what is in sight. */
  function band() {
    if (!pane || pane.height <= MAX_WHOLE_HEIGHT) return WHOLE_BAND;
    return visibleBand(scroller.scrollTop / k, (scroller.scrollTop + scroller.clientHeight) / k);
  }

  /** Whether all of this is in sight. @param {import("./layout/pane.js").Rect} rect @param {number} top @param {number} bottom */
  const isVisible = (rect, top, bottom) => rect.y >= top - 0.5 && rect.y + rect.h <= bottom + 0.5;

  return {
    root,
    scroller,
    band,
    /** How far it is scrolled, in units; less than nothing where room was added above. */
    get scrolled() {
      return fits() ? 0 : (scroller.scrollTop - (Number.parseFloat(scroller.style.paddingTop) || 0)) / k;
    },
    /** @param {Pane | null} next @param {number} width in units @param {number} height of what is in sight, in units @param {number} scale */
    resize(next, width, height, scale) {
      pane = next;
      room = height;
      k = scale;
      root.hidden = next === null;
      if (!next) return;
      root.dataset.still = String(next.still);
      const tall = Math.max(next.height, height);
      setSize(heading, width, HEADING, k);
      setSize(body, width, tall > height ? tall : Math.floor(height * k) / k, k);
    },
    /** @param {VNode[]} headingNodes @param {VNode[]} bodyNodes @param {boolean} animated whether rows are seen on their way */
    draw(headingNodes, bodyNodes, animated) {
      patch(document, headingMarks, headingNodes);
      patch(document, marks, bodyNodes);
      for (const move of moves) move.cancel();
      moves = animated ? animateMoves(marks, rows, bodyNodes) : [];
      rows = bodyNodes;
    },
    /** Scroll as little as brings what the step touched into sight, what matters most first. */
    bringIntoSight() {
      if (!pane || fits() || !scroller.clientHeight) return;
      const room = scroller.clientHeight / k;
      let [top, bottom] = [Infinity, -Infinity];
      for (const { y, h } of pane.focus) {
        const [low, high] = [Math.min(top, y - MARGIN), Math.max(bottom, y + h + MARGIN)];
        if (high - low <= room || top === Infinity) [top, bottom] = [low, high];
      }
      if (top === Infinity) return;
      const now = scroller.scrollTop / k;
      if (top < now || bottom - top > room) scroller.scrollTop = top * k;
      else if (bottom > now + room) scroller.scrollTop = (bottom - room) * k;
    },
    /** Scroll to a height, in units. @param {number} y */
    scrollTo(y) {
      scroller.scrollTop = Math.max(0, y * k - scroller.clientHeight / 3);
    },
    /** What the step touched above and below what is in sight. */
    beyond() {
      if (fits()) return { above: [], below: [] };
      const top = scroller.scrollTop / k;
      const bottom = top + scroller.clientHeight / k;
      const hidden = (pane?.focus ?? []).filter((rect) => !isVisible(rect, top, bottom));
      return {
        above: hidden.filter((rect) => rect.y < top).sort((a, b) => b.y - a.y),
        below: hidden.filter((rect) => rect.y >= top).sort((a, b) => a.y - b.y),
      };
    },
  };
}

/** @param {Document} document @param {string} name */
function svgElement(document, name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `stage-svg ${name}`);
  svg.setAttribute("role", "group");
  return svg;
}

/** @param {Document} document */
function group(document) {
  return document.createElementNS(SVG, "g");
}

/** The pattern of memory that is shown as a stretch. @param {Document} document @param {string} side */
function hatchPattern(document, side) {
  const defs = document.createElementNS(SVG, "defs");
  const pattern = document.createElementNS(SVG, "pattern");
  const attributes = { id: `hatch-${side}`, width: "8", height: "8", patternUnits: "userSpaceOnUse" };
  for (const [name, value] of Object.entries(attributes)) pattern.setAttribute(name, value);
  pattern.setAttribute("patternTransform", "rotate(45)");
  const stripe = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width: "1.6", height: "8", class: "hatch-stripe" }))
    stripe.setAttribute(name, value);
  pattern.append(stripe);
  defs.append(pattern, stripedMask(document, side));
  return defs;
}

/** The mask of what is older than the text: stripes, a third of which can be seen through. @param {Document} document @param {string} side */
function stripedMask(document, side) {
  const everywhere = { x: "-9999", y: "-9999", width: "29999", height: "29999" };
  const make = (/** @type {string} */ tag, /** @type {Record<string, string>} */ attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const stripes = make("pattern", {
    id: `older-stripes-${side}`,
    width: "7",
    height: "7",
    patternUnits: "userSpaceOnUse",
    patternTransform: "rotate(45)",
  });
  stripes.append(
    make("rect", { width: "7", height: "7", fill: "#4d4d4d" }),
    make("rect", { width: "2.6", height: "7", fill: "#c8c8c8" }),
  );
  const mask = make("mask", { id: `older-${side}`, maskUnits: "userSpaceOnUse", ...everywhere });
  mask.append(stripes, make("rect", { ...everywhere, fill: `url(#older-stripes-${side})` }));
  return mask;
}

/** Writes only what differs: whatever is written makes the browser lay out the page.
 * @param {SVGElement} svg @param {number} width @param {number} height @param {number} k */
function setSize(svg, width, height, k) {
  const attributes = {
    viewBox: `0 0 ${round(width)} ${round(height)}`,
    width: String(round(width * k)),
    height: String(round(height * k)),
  };
  for (const [name, value] of Object.entries(attributes))
    if (svg.getAttribute(name) !== value) svg.setAttribute(name, value);
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/** Let rows that have moved be seen on their way. @param {Element} marks @param {VNode[]} before @param {VNode[]} after
 * what was drawn in it, and is now @returns {Animation[]} */
function animateMoves(marks, before, after) {
  const places = new Map(before.map(({ key, attrs }) => [key, attrs.transform]));
  return after.flatMap(({ key, attrs }, at) => {
    const old = places.get(key);
    if (old === undefined || old === attrs.transform) return [];
    const [[x0, y0], [x, y]] = [translation(old), translation(attrs.transform)];
    return marks.children[at].animate(
      [{ transform: `translate(${x0}px, ${y0}px)` }, { transform: `translate(${x}px, ${y}px)` }],
      { duration: MOVE_MS, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" },
    );
  });
}
