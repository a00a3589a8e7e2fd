/** A link across the divider, from the graph to the memory; an end that is out of sight is labelled at the edge. */

import { textWidth, truncateText } from "../layout/metrics.ts";
import { cls, h } from "../browser/svg.ts";
import type { Link } from "../layout/links.ts";

/** of the stage, in units: divider: where memory ends */
interface Frame {
  divider: number;
  /** top, bottom: of what is in sight of both panes */
  top: number;
  bottom: number;
  /** where the graph ends */
  right: number;
  /** memory, graph: what is added to a height of a pane for one of the stage */
  memory: number;
  graph: number;
}

/** Half the width of the channel beside the divider that links turn in. */
const HALF_CHANNEL = 8;
const RADIUS = 7;
/** How far below a slot a link passes: clear of the node's border. */
const BELOW_SLOT = 7;
/** How far below a leaf that stands behind something else. */
const BELOW_LEAF = 3;
const FONT = 11;
const LABEL_H = 18;

export function linkMark(link: Link, frame: Frame) {
  const { graph, memory } = link;
  const below = link.slot ? BELOW_SLOT : link.behind ? BELOW_LEAF : 0;
  const graphEnd = visibleEnd((below ? graph.y + graph.h + below : graph.y + graph.h / 2) + frame.graph, frame);
  const memoryEnd = visibleEnd((link.above ? memory.y - link.above : memory.y + memory.h / 2) + frame.memory, frame);
  if (graphEnd.out && memoryEnd.out) return null;
  const startX = frame.divider + graph.x + (below ? 10 : -1);
  const endX = link.above ? memory.x + memory.w / 2 : memory.x + memory.w + 1;
  const arrow = link.kind === "gradient" && !memoryEnd.out;
  const startPath =
    below && !graphEnd.out ? `M${startX} ${graphEnd.y - below}V${graphEnd.y}` : `M${startX} ${graphEnd.y}`;
  const endPath = link.above && !memoryEnd.out ? `v${link.above}` : "";
  const pathTo = (x: number) => `${startPath}${linkPath(startX, graphEnd.y, x, memoryEnd.y, frame.divider)}${endPath}`;
  return h(
    "g",
    { key: `link ${link.key}`, class: cls("stage-link", link.kind), "data-link": link.key },
    h("path", { key: "back", class: "link-back", d: pathTo(endX) }),
    h("path", { key: "line", class: "link-line", d: pathTo(endX + (arrow ? 7 : 0)) }),
    arrow && h("path", { key: "arrow", class: "link-arrow", d: `M${endX} ${memoryEnd.y}l9 -5v10z` }),
    link.sum && !memoryEnd.out && sumMark(Math.min(endX + 20, frame.divider - 1), memoryEnd.y),
    memoryEnd.out && edgeLabel("to", memoryEnd, `→ ${link.memoryName}`, endX, frame.divider, "memory", memory.y),
    graphEnd.out &&
      edgeLabel("from", graphEnd, `${link.graphName} →`, frame.divider + 10, frame.right, "graph", graph.y),
  );
}

/** Where two gradients meet. */
function sumMark(x: number, y: number) {
  return [
    h("circle", { key: "sum", class: "link-sum", cx: x, cy: y, r: 7.5 }),
    h("path", { key: "plus", class: "link-plus", d: `M${x - 4} ${y}h8m-4 -4v8` }),
  ];
}

/** A height of the stage, or the edge behind which it lies. */
function visibleEnd(y: number, { top, bottom }: Frame) {
  if (y < top) return { y: top + 2 + LABEL_H / 2, out: "above" };
  if (y > bottom) return { y: bottom - 2 - LABEL_H / 2, out: "below" };
  return { y, out: null };
}

/** From where a link left the graph leftwards to the channel, along it, and leftwards into the memory. */
function linkPath(x0: number, y0: number, x1: number, y1: number, divider: number) {
  const height = y1 - y0;
  if (Math.abs(height) < 2 * RADIUS) {
    const curveStart = divider + HALF_CHANNEL;
    return Math.abs(height) < 0.5
      ? `H${x1}`
      : `H${curveStart}C${divider} ${y0} ${divider} ${y1} ${divider - HALF_CHANNEL} ${y1}H${x1}`;
  }
  const turnY = Math.sign(height) * RADIUS;
  const channel = Math.max(x1, Math.min(divider, x0));
  return `H${channel + RADIUS}Q${channel} ${y0} ${channel} ${y0 + turnY}V${y1 - turnY}Q${channel} ${y1} ${channel - RADIUS} ${y1}H${x1}`;
}

/**
 * A name at the edge behind which a link ends; a click brings the end into sight.
 * @param height of the end in its pane
 */
function edgeLabel(
  key: string,
  visibleAt: { y: number; out: string | null },
  name: string,
  left: number,
  right: number,
  pane: "memory" | "graph",
  height: number,
) {
  const maxCharacters = Math.max(4, Math.floor((right - left - 16) / textWidth("0", FONT)));
  const text = truncateText(name, Math.min(28, maxCharacters));
  const w = textWidth(text, FONT) + 12;
  const x = pane === "memory" ? Math.max(8, right - w - 14) : left + 6;
  return h(
    "g",
    {
      key: `edge ${key}`,
      class: "edge-label",
      "data-bring": `${pane} ${Math.round(height)}`,
      role: "button",
      tabindex: "0",
      "aria-label": name,
    },
    h("rect", { key: "box", x, y: visibleAt.y - LABEL_H / 2, width: w, height: LABEL_H, rx: 4 }),
    h("text", { key: "text", x: x + 6, y: visibleAt.y + 4, "font-size": FONT }, text),
    h("title", { key: "title" }, name),
  );
}

/**
 * What of a step lies above or below what is in sight of a pane.
 * @param x its right end
 * @param y the edge
 * @param height to bring into sight
 */
export function beyondMark(
  pane: "memory" | "graph",
  where: "above" | "below",
  text: string,
  x: number,
  y: number,
  height: number,
) {
  const w = textWidth(text, FONT) + 14;
  const top = where === "above" ? y + 3 : y - LABEL_H - 3;
  return h(
    "g",
    {
      key: `beyond ${pane} ${where}`,
      class: "edge-label beyond",
      "data-bring": `${pane} ${Math.round(height)}`,
      role: "button",
      tabindex: "0",
      "aria-label": text,
    },
    h("rect", { key: "box", x: x - w - 8, y: top, width: w, height: LABEL_H, rx: 9 }),
    h("text", { key: "text", x: x - w - 1, y: top + 13, "font-size": FONT }, text),
  );
}
