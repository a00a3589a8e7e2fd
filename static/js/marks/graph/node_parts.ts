/** Parts of a node's picture that leaves have too: when backward runs it, where gradients add. */

import { h } from "../../browser/svg.ts";
import type { VisitOrder } from "../../layout/graph/graph_step.ts";
import type { RenderContext } from "../render_context.ts";

/** Where so many gradients meet and add. */
export function gradientSumCountMark(labels: RenderContext["labels"], count: number, cx: number, cy: number) {
  return h(
    "g",
    { key: "meet" },
    h("circle", { key: "disc", class: "meet", cx, cy, r: 6.5 }),
    h("path", { key: "plus", class: "plus", d: `M${cx - 3.2} ${cy}h6.4m-3.2 -3.2v6.4` }),
    h("title", { key: "title" }, labels.gradientsAdd.replace("{n}", String(count))),
  );
}

/** When backward runs a node. */
export function visitOrderMark({ k }: VisitOrder, cx: number, cy: number) {
  const w = k > 99 ? 28 : 20;
  return h(
    "g",
    { key: "turn" },
    h("rect", { key: "disc", class: "order", x: cx - w / 2, y: cy - 9, width: w, height: 18, rx: 9 }),
    h("text", { key: "text", class: "order-text", x: cx, y: cy + 4.3, "font-size": 12 }, String(k)),
  );
}
