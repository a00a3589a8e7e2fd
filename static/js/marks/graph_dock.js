/** Leaves of the graph pane, docked above the node that reads them, or waiting below for one. */

import { leafLabelCapacity } from "../layout/graph_docks.js";
import { cls, h } from "../svg.js";
import { gradMark } from "./graph_grad.js";
import { haloMark, sumCountMark, turnMark } from "./graph_node.js";
import { fitEnd, fitLeaf } from "./graph_texts.js";

/** @typedef {import("./step_facts.js").StepFacts} StepFacts */
/** @typedef {import("../layout/graph_row.js").DockPlace} DockPlace */
/** @typedef {import("../layout/graph_row.js").Turn} Turn */
/** @typedef {import("../layout/pane.js").Rect} Rect */

/** A leaf at a reader, with the nodes between them. @param {StepFacts} stepFacts @param {import("../layout/graph_row.js").Row} row
 * @param {DockPlace} dock */
export function dockMark(stepFacts, row, dock) {
  const small = row.level === "slim";
  const meets = dock.met > 1 && !small && !dock.again;
  const left = dock.dock.ks.length > 1;
  return h(
    "g",
    { key: `dock ${dock.leaf} ${dock.dock.ks.join()}` },
    dock.shapings.map((shaping) => shapingMark(stepFacts, shaping, row.y, small)),
    leafMark(stepFacts, dock, row.y, small),
    meets && sumCountMark(stepFacts.labels, dock.met, left ? dock.x - 12 : dock.x + dock.w + 10, dock.cy - row.y),
  );
}

/** A node that brings a parameter into shape. @param {StepFacts} facts @param {import("../layout/graph_row.js").Shaping} shaping
 * @param {number} top @param {boolean} small */
function shapingMark({ snap }, shaping, top, small) {
  const { uid, x, w, h: high, turn } = shaping;
  const lead = turn ? shaping.lead : 0;
  const y = shaping.y - top;
  const node = /** @type {import("../entities.js").Node} */ (snap.entities.get(uid));
  const font = small ? 9 : 10;
  const fresh = snap.fresh.has(uid);
  return h(
    "g",
    {
      key: `node ${uid}`,
      class: cls("node shaping", turn?.state, node?.released && "released", fresh && "fresh"),
      "data-node": uid,
      tabindex: "0",
      role: "group",
      "aria-label": node?.name ?? uid,
    },
    fresh && !small && haloMark(x, y, w, high, 6),
    h("rect", { key: "box", class: "node-box", x, y, width: w, height: high, rx: 5 }),
    h(
      "text",
      { key: "name", class: "node-name mid", x: x + (w + lead) / 2, y: y + high / 2 + font * 0.36, "font-size": font },
      fitEnd(shaping.label, w - lead - 4, font),
    ),
    turn && lead ? turnMark(turn, x + 9, y + high / 2) : null,
    h("title", { key: "title" }, `${node?.name ?? ""} ${uid}`),
  );
}

/** The node that accumulates into a leaf. @param {StepFacts} facts
 * @param {Rect & {leaf: string, label: string, turn: Turn | null, lead: number, again?: boolean, most?: number}} place @param {number} top
 * @param {boolean} small */
function leafMark({ snap }, place, top, small) {
  const { leaf, x, w, h: high, turn, again = false } = place;
  const lead = turn ? place.lead : 0;
  const y = place.y - top;
  const node = /** @type {import("../entities.js").Node} */ (snap.entities.get(leaf));
  const font = small ? 9 : 10;
  const fresh = snap.fresh.has(leaf) && !again;
  return h(
    "g",
    {
      key: `leaf ${leaf}`,
      class: cls("node accumulate", turn?.state, again && "again", fresh && "fresh"),
      "data-node": again ? null : leaf,
      "data-again": again ? leaf : null,
      "data-variable": node?.variable ?? null,
      tabindex: again ? null : "0",
      role: "group",
      "aria-label": `AccumulateGrad ${place.label.replace(/^\S+ /, "")}`,
    },
    fresh && !small && haloMark(x, y, w, high, 12),
    h("rect", { key: "box", class: "node-box", x, y, width: w, height: high, rx: high / 2 }),
    turn && lead && !again ? turnMark(turn, x + 9, y + high / 2) : null,
    h(
      "text",
      {
        key: "name",
        class: "node-name",
        x: x + (again ? 4 : lead ? lead + 5 : small ? 7 : 9),
        y: y + high / 2 + font * 0.36,
        "font-size": font,
      },
      fitLeaf(place.label, leafLabelCapacity(place, small), place.most ?? Infinity),
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
