/** A link across the divider, from the graph to the memory; an end that is out of sight is labelled at the edge. */

import { truncateText } from "../trace/format.ts";
import { FONT_SIZES, textWidth } from "../layout/text/metrics.ts";
import { classNames, h } from "../browser/svg.ts";
import { circleMark, pathMark, titleMark } from "../browser/shapes.ts";
import type { PaneLink } from "../layout/links.ts";

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
const HALF_LINK_CHANNEL_WIDTH = 8;
const LINK_CORNER_RADIUS = 7;
/** How far below a slot a link passes: clear of the node's border. */
const LINK_OFFSET_BELOW_SLOT = 7;
/** How far below a leaf that stands behind something else. */
const LINK_OFFSET_BELOW_LEAF = 3;
const LINK_LABEL_HEIGHT = 18;

export function paneLinkMark(link: PaneLink, frame: Frame) {
  const { graph, memory } = link;
  const below = link.slot ? LINK_OFFSET_BELOW_SLOT : link.behind ? LINK_OFFSET_BELOW_LEAF : 0;
  const graphEnd = visibleLinkEnd((below ? graph.y + graph.h + below : graph.y + graph.h / 2) + frame.graph, frame);
  const memoryEnd = visibleLinkEnd(
    (link.above ? memory.y - link.above : memory.y + memory.h / 2) + frame.memory,
    frame,
  );
  if (graphEnd.out && memoryEnd.out) return null;
  const startX = frame.divider + graph.x + (below ? 10 : -1);
  const endX = link.above ? memory.x + memory.w / 2 : memory.x + memory.w + 1;
  const arrow = link.kind === "gradient" && !memoryEnd.out;
  const startPath =
    below && !graphEnd.out ? `M${startX} ${graphEnd.y - below}V${graphEnd.y}` : `M${startX} ${graphEnd.y}`;
  const endPath = link.above && !memoryEnd.out ? `v${link.above}` : "";
  const pathTo = (x: number) => `${startPath}${linkPath(startX, graphEnd.y, x, memoryEnd.y, frame.divider)}${endPath}`;
  return h("g", { key: `link ${link.key}`, class: classNames("stage-link", link.kind), "data-link": link.key }, [
    pathMark("link-back", pathTo(endX), "back"),
    pathMark("link-line", pathTo(endX + (arrow ? 7 : 0)), "line"),
    arrow && pathMark("link-arrow", `M${endX} ${memoryEnd.y}l9 -5v10z`, "arrow"),
    link.sum && !memoryEnd.out && gradientSumMark(Math.min(endX + 20, frame.divider - 1), memoryEnd.y),
    memoryEnd.out &&
      offscreenEndLabelMark("to", memoryEnd, `→ ${link.memoryName}`, endX, frame.divider, "memory", memory.y),
    graphEnd.out &&
      offscreenEndLabelMark("from", graphEnd, `${link.graphName} →`, frame.divider + 10, frame.right, "graph", graph.y),
  ]);
}

/** Where two gradients meet. */
function gradientSumMark(x: number, y: number) {
  return [circleMark("link-sum", x, y, 7.5, "sum"), pathMark("link-plus", `M${x - 4} ${y}h8m-4 -4v8`, "plus")];
}

/** A height of the stage, or the edge behind which it lies. */
function visibleLinkEnd(y: number, { top, bottom }: Frame) {
  if (y < top) return { y: top + 2 + LINK_LABEL_HEIGHT / 2, out: "above" };
  if (y > bottom) return { y: bottom - 2 - LINK_LABEL_HEIGHT / 2, out: "below" };
  return { y, out: null };
}

/** From where a link left the graph leftwards to the channel, along it, and leftwards into the memory. */
function linkPath(x0: number, y0: number, x1: number, y1: number, divider: number) {
  const height = y1 - y0;
  if (Math.abs(height) < 2 * LINK_CORNER_RADIUS) {
    const curveStart = divider + HALF_LINK_CHANNEL_WIDTH;
    return Math.abs(height) < 0.5
      ? `H${x1}`
      : `H${curveStart}C${divider} ${y0} ${divider} ${y1} ${divider - HALF_LINK_CHANNEL_WIDTH} ${y1}H${x1}`;
  }
  const turnY = Math.sign(height) * LINK_CORNER_RADIUS;
  const channel = Math.max(x1, Math.min(divider, x0));
  return `H${channel + LINK_CORNER_RADIUS}Q${channel} ${y0} ${channel} ${y0 + turnY}V${y1 - turnY}Q${channel} ${y1} ${channel - LINK_CORNER_RADIUS} ${y1}H${x1}`;
}

/** A name at the edge behind which a link ends; a click brings the end, at `height` of its pane, into sight. */
function offscreenEndLabelMark(
  key: string,
  visibleAt: { y: number; out: string | null },
  name: string,
  left: number,
  right: number,
  pane: "memory" | "graph",
  height: number,
) {
  const maxCharacters = Math.max(4, Math.floor((right - left - 16) / textWidth("0", FONT_SIZES.small)));
  const text = truncateText(name, Math.min(28, maxCharacters));
  const w = textWidth(text, FONT_SIZES.small) + 12;
  const x = pane === "memory" ? Math.max(8, right - w - 14) : left + 6;
  return h(
    "g",
    {
      key: `edge ${key}`,
      class: "edge-label",
      target: { kind: "out of sight", pane, y: height },
      role: "button",
      tabindex: "0",
      "aria-label": name,
    },
    h("rect", { key: "box", x, y: visibleAt.y - LINK_LABEL_HEIGHT / 2, width: w, height: LINK_LABEL_HEIGHT, rx: 4 }),
    h("text", { key: "text", x: x + 6, y: visibleAt.y + 4, "font-size": FONT_SIZES.small }, text),
    titleMark(name),
  );
}

/**
 * What of a step lies above or below what is in sight of a pane. `x` is its right end, `y` the edge, `height` what is
 * to be brought into sight.
 */
export function offscreenContentMark(
  pane: "memory" | "graph",
  where: "above" | "below",
  text: string,
  x: number,
  y: number,
  height: number,
) {
  const w = textWidth(text, FONT_SIZES.small) + 14;
  const top = where === "above" ? y + 3 : y - LINK_LABEL_HEIGHT - 3;
  return h(
    "g",
    {
      key: `beyond ${pane} ${where}`,
      class: "edge-label beyond",
      target: { kind: "out of sight", pane, y: height },
      role: "button",
      tabindex: "0",
      "aria-label": text,
    },
    h("rect", { key: "box", x: x - w - 8, y: top, width: w, height: LINK_LABEL_HEIGHT, rx: 9 }),
    h("text", { key: "text", x: x - w - 1, y: top + 13, "font-size": FONT_SIZES.small }, text),
  );
}
