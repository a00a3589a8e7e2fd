/** Leaves of the graph pane, docked above the node that reads them, or waiting below for one. */

import { leafLabelCapacity } from "../layout/graph_docks.js";
import { cls, h } from "../browser/svg.js";
import { gradMark } from "./graph_grad.js";
import { haloMark, sumCountMark, turnMark } from "./graph_node.js";
import { textThatFits, leafLabelThatFits } from "./graph_texts.js";

/** @typedef {import("./step_facts.js").StepFacts} StepFacts */
/** @typedef {import("../layout/graph_row.js").DockPlace} DockPlace */
/** @typedef {import("../layout/graph_row.js").Turn} Turn */
/** @typedef {import("../layout/pane.js").Rect} Rect */

/** A leaf at a reader, with the nodes between them. @param {StepFacts} stepFacts @param {import("../layout/graph_row.js").Row} row
 * @param {DockPlace} dock */
export function dockMark(stepFacts, row, dock) {
  const isSmall = row.level === "slim";
  const showsSum = dock.met > 1 && !isSmall && !dock.again;
  const hasSeveralEdges = dock.dock.ks.length > 1;
  return h(
    "g",
    { key: `dock ${dock.leaf} ${dock.dock.ks.join()}` },
    dock.shapings.map((shaping) => shapingMark(stepFacts, shaping, row.y, isSmall)),
    leafMark(stepFacts, dock, row.y, isSmall),
    showsSum &&
      sumCountMark(stepFacts.labels, dock.met, hasSeveralEdges ? dock.x - 12 : dock.x + dock.w + 10, dock.cy - row.y),
  );
}

/** A node that brings a parameter into shape. @param {StepFacts} facts @param {import("../layout/graph_row.js").Shaping} shaping
 * @param {number} top @param {boolean} isSmall */
function shapingMark({ snap }, shaping, top, isSmall) {
  const { uid, x, w, h: height, turn } = shaping;
  const turnWidth = turn ? shaping.lead : 0;
  const y = shaping.y - top;
  const node = /** @type {import("../trace/entities.js").Node} */ (snap.entities.get(uid));
  const fontSize = isSmall ? 9 : 10;
  const isNew = snap.fresh.has(uid);
  return h(
    "g",
    {
      key: `node ${uid}`,
      class: cls("node shaping", turn?.state, node?.released && "released", isNew && "fresh"),
      "data-node": uid,
      tabindex: "0",
      role: "group",
      "aria-label": node?.name ?? uid,
    },
    isNew && !isSmall && haloMark(x, y, w, height, 6),
    h("rect", { key: "box", class: "node-box", x, y, width: w, height: height, rx: 5 }),
    h(
      "text",
      {
        key: "name",
        class: "node-name mid",
        x: x + (w + turnWidth) / 2,
        y: y + height / 2 + fontSize * 0.36,
        "font-size": fontSize,
      },
      textThatFits(shaping.label, w - turnWidth - 4, fontSize),
    ),
    turn && turnWidth ? turnMark(turn, x + 9, y + height / 2) : null,
    h("title", { key: "title" }, `${node?.name ?? ""} ${uid}`),
  );
}

/** The node that accumulates into a leaf. @param {StepFacts} facts
 * @param {Rect & {leaf: string, label: string, turn: Turn | null, lead: number, again?: boolean, most?: number}} place @param {number} top
 * @param {boolean} isSmall */
function leafMark({ snap }, place, top, isSmall) {
  const { leaf, x, w, h: height, turn, again = false } = place;
  const turnWidth = turn ? place.lead : 0;
  const y = place.y - top;
  const node = /** @type {import("../trace/entities.js").Node} */ (snap.entities.get(leaf));
  const fontSize = isSmall ? 9 : 10;
  const isNew = snap.fresh.has(leaf) && !again;
  return h(
    "g",
    {
      key: `leaf ${leaf}`,
      class: cls("node accumulate", turn?.state, again && "again", isNew && "fresh"),
      "data-node": again ? null : leaf,
      "data-again": again ? leaf : null,
      "data-variable": node?.variable ?? null,
      tabindex: again ? null : "0",
      role: "group",
      "aria-label": `AccumulateGrad ${place.label.replace(/^\S+ /, "")}`,
    },
    isNew && !isSmall && haloMark(x, y, w, height, 12),
    h("rect", { key: "box", class: "node-box", x, y, width: w, height: height, rx: height / 2 }),
    turn && turnWidth && !again ? turnMark(turn, x + 9, y + height / 2) : null,
    h(
      "text",
      {
        key: "name",
        class: "node-name",
        x: x + (again ? 4 : turnWidth ? turnWidth + 5 : isSmall ? 7 : 9),
        y: y + height / 2 + fontSize * 0.36,
        "font-size": fontSize,
      },
      leafLabelThatFits(place.label, leafLabelCapacity(place, isSmall), place.most ?? Infinity),
    ),
    h("title", { key: "title" }, `${node?.name ?? ""} ${leaf}\n${place.label}`),
  );
}

/** A leaf that no living node reads. @param {StepFacts} stepFacts @param {import("../layout/graph_idle.js").IdleLeaf} place */
export function idleLeafMark(stepFacts, place) {
  return h(
    "g",
    { key: `row ${place.leaf}`, class: "graph-row moves", transform: `translate(0 ${place.y})` },
    leafMark(stepFacts, place, place.y, false),
    place.grad && gradMark(stepFacts.labels, place.grad, place.y),
    place.grad &&
      h("path", { key: "arrow", class: "arrow", d: `M${place.x + place.w + 2} ${place.cy - place.y}l9 -4.5v9z` }),
  );
}
