/** Small graphs, rooms to draw them in, and the marks that are drawn. */

import { buildGraphModel, layoutGraphPane } from "../../../layout/graph/graph_pane.ts";
import { DEFAULT_PANE_OPTIONS, type PaneOptions, type PaneRoom } from "../../../layout/pane.ts";
import { UNBOUNDED_BAND } from "../../../layout/view.ts";
import { graphMarks } from "../../../marks/graph/graph_marks.ts";
import { STAGE_LABELS } from "../../../marks/labels.ts";
import { createRenderContext } from "../../../marks/render_context.ts";
import { openTrace, type OpenTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace } from "../../entities.ts";
import type { VNode } from "../../../browser/svg.ts";

export const ROOMS = [
  { w: 410, h: 660 },
  { w: 358, h: 300 },
  { w: 270, h: 220 },
];

export const grad = (cells: number[]) => ({ shape: [cells.length], dtype: "float32", layout: "strided", cells });

export const visit = (uid: string, ins: any[], rest: any = {}) => ({
  kind: "visit",
  visit: { backward: "b1", node: uid, grad_outputs: [grad([1])], grad_inputs: ins, ...rest },
});

/** x -> `length` nodes one after the other, then a backward through all of them. */
export function chain(length: number) {
  const set: Record<string, any> = {
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

export function draw(opened: OpenTrace, i: number, room: PaneRoom, options: PaneOptions = DEFAULT_PANE_OPTIONS) {
  const pane = layoutGraphPane(buildGraphModel(opened), i, room, options);
  return { pane, ...graphMarks(createRenderContext(opened, opened.at(i), STAGE_LABELS), pane, UNBOUNDED_BAND) };
}

export const flat = (list: VNode[]): VNode[] => list.flatMap((mark) => [mark, ...flat(mark.children)]);

export const having = (list: VNode[], name: string) => flat(list).filter((mark) => name in mark.attrs);
