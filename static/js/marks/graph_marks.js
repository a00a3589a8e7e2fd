/** The graph pane as SVG: a heading that stays, and the body that scrolls under it. */

import { columnOf } from "../layout/graph_sizes.js";
import { inBand } from "../layout/view.js";
import { cls, h } from "../browser/svg.js";
import { idleLeafMark } from "./graph_dock.js";
import { foldLineMark, idleLineMark, titleMark } from "./graph_fold.js";
import { rowMark } from "./graph_node.js";
import { graphRowInputs } from "./graph_row_inputs.js";
import { cachedMark } from "./mark_cache.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */
/** @typedef {import("./step_facts.js").StepFacts} StepFacts */
/** @typedef {import("../layout/graph_pane.js").GraphPane} GraphPane */

/**
 * @param {StepFacts} stepFacts @param {GraphPane} pane @param {import("../layout/view.js").Band} band what of the body is drawn
 * @param {import("./mark_cache.js").MarkCache | null} [markCache] of the step before
 * @returns {{heading: VNode[], body: VNode[]}} the heading is 24 high
 */
export function graphMarks(stepFacts, pane, band, markCache = null) {
  const { labels } = stepFacts;
  /** @type {VNode[]} */
  const body = [];
  if (pane.empty) body.push(h("text", { key: "empty", class: "graph-empty", x: 14, y: 20 }, labels.noGraph));
  const edges = pane.edges.filter(({ top, bottom }) => inBand(band, top, bottom));
  const addEdge = (/** @type {import("../layout/graph_edges.js").EdgePlace} */ edge) => {
    const inputsOf = () => edgeInputs(stepFacts, edge);
    body.push(cachedMark(markCache, `edge ${edge.key} ${edge.to}`, inputsOf, null, () => edgeMark(stepFacts, edge)));
  };
  for (const edge of edges) if (!edge.lane) addEdge(edge);
  for (const row of pane.rows) if (row.block.lane && row.dot && inBand(band, row.y, row.y)) body.push(bridgeMark(row));
  for (const edge of edges) if (edge.lane) addEdge(edge);
  for (const title of pane.titles) if (inBand(band, title.y, title.y + 20)) body.push(titleMark(labels, title, pane.w));
  for (const fold of pane.foldLines)
    if (inBand(band, fold.y, fold.y + fold.h)) body.push(foldLineMark(stepFacts, fold));
  for (const row of pane.rows) {
    if (!inBand(band, row.top, row.bottom)) continue;
    const { railed } = columnOf(row.block.component, pane.w);
    const inputsOf = () => graphRowInputs(stepFacts, row, railed);
    body.push(cachedMark(markCache, `graph ${row.uid}`, inputsOf, row.y, () => rowMark(stepFacts, row, railed)));
  }
  for (const leaf of pane.idle.leaves) body.push(idleLeafMark(stepFacts, leaf));
  if (pane.idle.line) body.push(idleLineMark(labels, pane.idle.line));
  return { heading: headingMarks(stepFacts, pane), body };
}

/** @param {StepFacts} facts @param {GraphPane} pane */
function headingMarks({ labels }, pane) {
  const showsDirections = pane.w > 240 && !pane.empty;
  return [
    h("text", { key: "graph", class: "lane-head", x: 14, y: 16 }, labels.graph),
    showsDirections &&
      h(
        "text",
        { key: "directions", class: "graph-directions end", x: pane.w - 10, y: 16 },
        `${labels.programDown}   ${labels.gradientsUp}`,
      ),
  ].filter((mark) => mark !== false);
}

/** Gaps in the rails that the line from a node to its own rail crosses. @param {import("../layout/graph_row.js").Row} row */
function bridgeMark({ uid, rail, x, cy }) {
  return h("path", { key: `bridge ${uid}`, class: "rail-bridge", d: `M${rail + 6} ${cy}H${x - 3}` });
}

/** What an edge's description is made from. @param {StepFacts} facts @param {import("../layout/graph_edges.js").EdgePlace} edge */
function edgeInputs({ snap }, { d, flow, past, from, arrow }) {
  return [d, flow, past, snap.fresh.has(from), arrow?.x, arrow?.y, arrow?.up];
}

/** @param {StepFacts} facts @param {import("../layout/graph_edges.js").EdgePlace} edge */
function edgeMark({ snap }, edge) {
  const { x, y, up } = edge.arrow ?? { x: 0, y: 0, up: true };
  return h(
    "g",
    {
      key: `edge ${edge.key} ${edge.to}`,
      class: cls("edge", edge.flow, edge.past && "past", snap.fresh.has(edge.from) && "fresh"),
      "data-edge": edge.key,
      "data-from": edge.from,
      "data-to": edge.to,
    },
    h("path", { key: "line", class: "edge-line", d: edge.d }),
    edge.arrow && h("path", { key: "arrow", class: "arrow", d: up ? `M${x} ${y}l-4.5 8h9z` : `M${x} ${y}l-8 -4.5v9z` }),
  );
}
