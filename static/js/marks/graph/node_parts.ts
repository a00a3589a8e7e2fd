/** Parts of a node's picture that leaves have too: when backward runs it, where gradients add. */

import { h } from "../../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { VisitOrder } from "../../layout/graph/graph_step.ts";
import type { RenderContext } from "../render_context.ts";

/** Where so many gradients meet and add. */
export function gradientSumCountMark(labels: RenderContext["labels"], count: number, cx: number, cy: number) {
  return h("g", { key: "meet" }, [
    circleMark("meet", cx, cy, 6.5, "disc"),
    pathMark("plus", `M${cx - 3.2} ${cy}h6.4m-3.2 -3.2v6.4`, "plus"),
    titleMark(labels.gradientsAdd.replace("{n}", String(count))),
  ]);
}

/** When backward runs a node. */
export function visitOrderMark({ k }: VisitOrder, cx: number, cy: number) {
  const w = k > 99 ? 28 : 20;
  return h("g", { key: "turn" }, [
    rectMark("order", cx - w / 2, cy - 9, w, 18, { key: "disc", rx: 9 }),
    textMark("order-text", cx, cy + 4.3, String(k), { key: "text", size: 12 }),
  ]);
}
