/** Small graphs, rooms to draw them in, and the marks that are drawn. */

import { graphModel, graphPane } from "../layout/graph_pane.js";
import { PLAIN } from "../layout/pane.js";
import { WHOLE_BAND } from "../layout/view.js";
import { graphMarks } from "../marks/graph_marks.js";
import { LABELS } from "../marks/labels.js";
import { stepFacts } from "../marks/step_facts.js";
import { openTrace } from "../trace/state.js";
import { counter, frame, node, ref, storage, tensor, trace } from "./entities.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */

export const ROOMS = [
  { w: 410, h: 660 },
  { w: 358, h: 300 },
  { w: 270, h: 220 },
];

/** @param {number[]} cells */
export const grad = (cells) => ({ shape: [cells.length], dtype: "float32", layout: "strided", cells });

/** @param {string} uid @param {any[]} ins @param {any} [rest] */
export const visit = (uid, ins, rest = {}) => ({
  kind: "visit",
  visit: { backward: "b1", node: uid, grad_outputs: [grad([1])], grad_inputs: ins, ...rest },
});

/** x -> `length` nodes one after the other, then a backward through all of them. @param {number} length */
export function chain(length) {
  /** @type {Record<string, any>} */
  const set = {
    f1: frame({ x: ref("t1"), y: ref("t2") }),
    s1: storage([1]),
    c1: counter(),
    t1: tensor({ requires_grad: true }),
    t2: tensor({ requires_grad: true, leaf: false, grad_fn: `n${length + 1}` }),
    n1: node("torch::autograd::AccumulateGrad", [], { variable: "t1" }),
  };
  for (let k = 2; k <= length + 1; k++)
    set[`n${k}`] = node(k % 2 ? "MulBackward0" : "SinBackward0", [[`n${k - 1}`, 0]]);
  const visits = [...Array(length).keys()].map((k) => visit(`n${length + 1 - k}`, [grad([k])]));
  return openTrace(trace("", [{ set }, ...visits, visit("n1", [], { accumulates: "t1" })]));
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {number} i @param {import("../layout/pane.js").Room} room
 * @param {import("../layout/pane.js").PaneOptions} [options] */
export function draw(opened, i, room, options = PLAIN) {
  const pane = graphPane(graphModel(opened), i, room, options);
  return { pane, ...graphMarks(stepFacts(opened, opened.at(i), LABELS), pane, WHOLE_BAND) };
}

/** @param {VNode[]} list @returns {VNode[]} */
export const flat = (list) => list.flatMap((mark) => [mark, ...flat(mark.children)]);

/** @param {VNode[]} list @param {string} name */
export const having = (list, name) => flat(list).filter((mark) => name in mark.attrs);
