/**
 * A pane of the stage in the document: a heading that stays, and a body that scrolls by itself to what a step touched.
 */

import { UNBOUNDED_BAND, MAX_UNCLIPPED_HEIGHT, visibleBand } from "../layout/view.ts";
import { PANE_HEADING_HEIGHT, type PaneSide } from "../layout/stage_plan.ts";
import { h, patchHost, SVG_NAMESPACE, type VNode } from "../browser/svg.ts";
import type { Pane, Rect } from "../layout/pane.ts";

/** Room kept around what is scrolled to, in units. */
const MARGIN = 6;

export function createStagePane(document: Document, side: PaneSide) {
  const root = document.createElement("section");
  root.className = `stage-pane ${side}-pane`;
  const heading = svgElement(document, "pane-heading");
  // its border takes a pixel of its height, and nothing of its width
  heading.setAttribute("preserveAspectRatio", "none");
  const scroller = document.createElement("div");
  scroller.className = "pane-scroll";
  const body = svgElement(document, "pane-body");
  const marks = document.createElementNS(SVG_NAMESPACE, "g");
  const definitions = document.createElementNS(SVG_NAMESPACE, "defs");
  patchHost(document, definitions, patternsAndMask(side));
  body.append(definitions, marks);
  const headingMarks = document.createElementNS(SVG_NAMESPACE, "g");
  heading.append(headingMarks);
  scroller.append(body);
  root.append(heading, scroller);
  let currentScale = 1;
  /** The height in sight, in units. */
  let visibleHeight = 0;
  let pane: Pane | null = null;
  /** What is drawn of the body. */
  let drawnMarks: VNode[] = [];

  /** Whether all of it is in sight: known without asking the browser, which would have to lay out the page. */
  function isAllVisible() {
    const { paddingTop, paddingBottom } = scroller.style;
    return !pane || (pane.height <= visibleHeight && !paddingTop && !paddingBottom);
  }

  /** The heights that are drawn: all of a low pane, of a tall one what is in sight. */
  function drawnBand() {
    if (!pane || pane.height <= MAX_UNCLIPPED_HEIGHT) return UNBOUNDED_BAND;
    return visibleBand(scroller.scrollTop / currentScale, (scroller.scrollTop + scroller.clientHeight) / currentScale);
  }

  /** Whether all of this is in sight. */
  const isVisible = (rect: Rect, top: number, bottom: number) => rect.y >= top - 0.5 && rect.y + rect.h <= bottom + 0.5;

  return {
    root,
    scroller,
    marks,
    band: drawnBand,
    /** What is drawn of the body, null where the pane isn't shown. */
    get drawn() {
      return pane ? drawnMarks : null;
    },
    /** How far it is scrolled, in units; less than nothing where room was added above. */
    get scrolled() {
      return isAllVisible()
        ? 0
        : (scroller.scrollTop - (Number.parseFloat(scroller.style.paddingTop) || 0)) / currentScale;
    },
    /** `width` is in units, and so is `height`, that of what is in sight. */
    resize(newPane: Pane | null, width: number, height: number, scale: number) {
      pane = newPane;
      visibleHeight = height;
      currentScale = scale;
      root.hidden = newPane === null;
      if (!newPane) return;
      root.dataset.still = String(newPane.still);
      const bodyHeight = Math.max(newPane.height, height);
      setSize(heading, width, PANE_HEADING_HEIGHT, currentScale);
      setSize(
        body,
        width,
        bodyHeight > height ? bodyHeight : Math.floor(height * currentScale) / currentScale,
        currentScale,
      );
    },
    draw(headingNodes: VNode[], bodyNodes: VNode[]) {
      patchHost(document, headingMarks, headingNodes);
      patchHost(document, marks, bodyNodes);
      drawnMarks = bodyNodes;
    },
    /** Scroll as little as shows what the step touched, what matters most first; after a jump, around it. */
    bringIntoSight() {
      if (!pane || isAllVisible() || !scroller.clientHeight) return;
      const scrollerHeight = scroller.clientHeight / currentScale;
      let [top, bottom] = [Infinity, -Infinity];
      for (const { y, h } of pane.focus) {
        const [newTop, newBottom] = [Math.min(top, y - MARGIN), Math.max(bottom, y + h + MARGIN)];
        if (newBottom - newTop <= scrollerHeight || top === Infinity) [top, bottom] = [newTop, newBottom];
      }
      if (top === Infinity) return;
      const scrollTop = scroller.scrollTop / currentScale;
      const isJump = Math.abs(top - scrollTop) > 2 * scrollerHeight;
      if (isJump) scroller.scrollTop = (top - Math.max(0, scrollerHeight - (bottom - top)) / 2) * currentScale;
      else if (top < scrollTop || bottom - top > scrollerHeight) scroller.scrollTop = top * currentScale;
      else if (bottom > scrollTop + scrollerHeight) scroller.scrollTop = (bottom - scrollerHeight) * currentScale;
    },
    /** Scroll to a height, in units. */
    scrollTo(y: number) {
      scroller.scrollTop = Math.max(0, y * currentScale - scroller.clientHeight / 3);
    },
    /** What the step touched above and below what is in sight. */
    beyond() {
      if (isAllVisible()) return { above: [], below: [] };
      const top = scroller.scrollTop / currentScale;
      const bottom = top + scroller.clientHeight / currentScale;
      const hidden = (pane?.focus ?? []).filter((rect) => !isVisible(rect, top, bottom));
      return {
        above: hidden.filter((rect) => rect.y < top).sort((a, b) => b.y - a.y),
        below: hidden.filter((rect) => rect.y >= top).sort((a, b) => a.y - b.y),
      };
    },
  };
}

function svgElement(document: Document, name: string) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("class", `stage-svg ${name}`);
  svg.setAttribute("role", "group");
  return svg;
}

/** Tiles of stripes that lean. */
const LEANING = { patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
const EVERYWHERE = { x: -9999, y: -9999, width: 29999, height: 29999 };

/**
 * The pattern of memory that is shown as a stretch, and the mask of what is older than the text: stripes, a third of
 * which can be seen through.
 */
function patternsAndMask(side: string): VNode[] {
  return [
    h("pattern", { id: `hatch-${side}`, width: 8, height: 8, ...LEANING }, [
      h("rect", { width: 1.6, height: 8, class: "hatch-stripe" }),
    ]),
    h("pattern", { id: `older-stripes-${side}`, width: 7, height: 7, ...LEANING }, [
      h("rect", { width: 7, height: 7, fill: "#4d4d4d" }),
      h("rect", { width: 2.6, height: 7, fill: "#c8c8c8" }),
    ]),
    h("mask", { id: `older-${side}`, maskUnits: "userSpaceOnUse", ...EVERYWHERE }, [
      h("rect", { ...EVERYWHERE, fill: `url(#older-stripes-${side})` }),
    ]),
  ];
}

/** Writes only what differs: whatever is written makes the browser lay out the page. */
function setSize(svg: SVGElement, width: number, height: number, currentScale: number) {
  const attributes = {
    viewBox: `0 0 ${round(width)} ${round(height)}`,
    width: String(round(width * currentScale)),
    height: String(round(height * currentScale)),
  };
  for (const [name, value] of Object.entries(attributes))
    if (svg.getAttribute(name) !== value) svg.setAttribute(name, value);
}

function round(value: number) {
  return Math.round(value * 100) / 100;
}
