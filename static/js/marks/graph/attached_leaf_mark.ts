/** Leaves of the graph pane, docked above the node that reads them, or waiting below for one. */

import { maxLeafLabelLength } from "../../layout/graph/attached_leaves.ts";
import { classNames, h } from "../../browser/svg.ts";
import { focusable, pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { gradientChipMark } from "./graph_grad.ts";
import { visitOrderMark, gradientSumCountMark } from "./node_parts.ts";
import { textThatFits, leafLabelThatFits } from "./graph_texts.ts";
import type { UnreadLeafPlace } from "../../layout/graph/unread_leaves.ts";
import type { VisitOrder } from "../../layout/graph/graph_step.ts";
import type { Rect } from "../../layout/pane.ts";
import type { Node } from "../../trace/wire.ts";
import type { RenderContext } from "../render_context.ts";
import type { NodePlace, AttachedLeafPlace, ReshapingNodePlace } from "../../layout/graph/graph_places.ts";

/** A leaf at a reader, with the nodes between them. */
export function attachedLeafMark(renderContext: RenderContext, row: NodePlace, dock: AttachedLeafPlace) {
  const showsSum = dock.met > 1 && !dock.again;
  const hasSeveralEdges = dock.dock.ks.length > 1;
  return h("g", { key: `dock ${dock.leaf} ${dock.dock.ks.join()}` }, [
    dock.shapings.map((shaping) => reshapingNodeMark(renderContext, shaping, row.y)),
    leafNodeMark(renderContext, dock, row.y),
    showsSum &&
      gradientSumCountMark(
        renderContext.labels,
        dock.met,
        hasSeveralEdges ? dock.x - 12 : dock.x + dock.w + 10,
        dock.cy - row.y,
      ),
  ]);
}

/** A node that brings a parameter into shape. */
function reshapingNodeMark({ snap }: RenderContext, shaping: ReshapingNodePlace, top: number) {
  const { uid, x, w, h: height, turn } = shaping;
  const turnWidth = turn ? shaping.lead : 0;
  const y = shaping.y - top;
  const node = snap.entities.get(uid) as Node;
  const fontSize = shaping.font;
  const isNew = snap.fresh.has(uid);
  return h(
    "g",
    {
      key: `node ${uid}`,
      class: classNames("node shaping", turn?.state, node?.released && "released", isNew && "fresh"),
      "data-node": uid,
      ...focusable({ kind: "node", uid, variable: null }, "group", node?.name ?? uid),
    },
    rectMark("node-box", x, y, w, height, { key: "box", rx: 5 }),
    textMark(
      "node-name mid",
      x + (w + turnWidth) / 2,
      y + height / 2 + fontSize * 0.36,
      textThatFits(shaping.label, w - turnWidth - 4, fontSize),
      { key: "name", size: fontSize },
    ),
    turn && turnWidth ? visitOrderMark(turn, x + 11, y + height / 2) : null,
    titleMark(`${node?.name ?? ""} ${uid}`),
  );
}

/** The node that accumulates into a leaf. */
function leafNodeMark(
  { snap }: RenderContext,
  place: Rect & {
    leaf: string;
    label: string;
    turn: VisitOrder | null;
    lead: number;
    font: number;
    again?: boolean;
    most?: number;
  },
  top: number,
) {
  const { leaf, x, w, h: height, turn, again = false } = place;
  const turnWidth = turn ? place.lead : 0;
  const y = place.y - top;
  const node = snap.entities.get(leaf) as Node;
  const fontSize = place.font;
  const isNew = snap.fresh.has(leaf) && !again;
  const variable = node?.variable ?? null;
  return h(
    "g",
    {
      key: `leaf ${leaf}`,
      class: classNames("node accumulate", turn?.state, again && "again", isNew && "fresh"),
      "data-node": again ? null : leaf,
      "data-again": again ? leaf : null,
      "data-variable": variable,
      target: again ? { kind: "node again", variable } : { kind: "node", uid: leaf, variable },
      tabindex: again ? null : "0",
      role: "group",
      "aria-label": `AccumulateGrad ${place.label.replace(/\.grad$/, "")}`,
    },
    rectMark("node-box", x, y, w, height, { key: "box", rx: height / 2 }),
    turn && turnWidth && !again ? visitOrderMark(turn, x + 11, y + height / 2) : null,
    textMark(
      "node-name",
      x + (again ? 4 : turnWidth ? turnWidth + 5 : 9),
      y + height / 2 + fontSize * 0.36,
      leafLabelThatFits(place.label, maxLeafLabelLength(place), place.most ?? Infinity),
      { key: "name", size: fontSize },
    ),
    titleMark(`${node?.name ?? ""} ${leaf}\n${place.label}`),
  );
}

/** A leaf that no living node reads. */
export function unreadLeafMark(renderContext: RenderContext, place: UnreadLeafPlace) {
  return h("g", { key: `row ${place.leaf}`, class: "graph-row moves", transform: `translate(0 ${place.y})` }, [
    leafNodeMark(renderContext, place, place.y),
    place.grad && gradientChipMark(renderContext.labels, place.grad, place.y),
    place.grad && pathMark("arrow", `M${place.x + place.w + 2} ${place.cy - place.y}l9 -4.5v9z`, "arrow"),
  ]);
}
