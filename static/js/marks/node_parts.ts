/** Parts of a node's picture that leaves have too: when backward runs it, where gradients add. */

import { h } from "../browser/svg.ts";
import type { VisitOrder } from "../layout/graph_step.ts";
import type { StepFacts } from "./step_facts.ts";

/** Where gradients meet and add. @param count of them */
export function gradientSumCountMark(labels: StepFacts["labels"], count: number, cx: number, cy: number) {
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
  const w = k > 99 ? 21 : 15;
  return h(
    "g",
    { key: "turn" },
    h("rect", { key: "disc", class: "order", x: cx - w / 2, y: cy - 7.5, width: w, height: 15, rx: 7.5 }),
    h("text", { key: "text", class: "order-text", x: cx, y: cy + 3.3, "font-size": k > 99 ? 8.5 : 9.5 }, String(k)),
  );
}
