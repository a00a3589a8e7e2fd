/**
 * What a step did to the graph as SVG: nodes in full, their edges and gradients, words beside them, lines to the map.
 */

import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { gradientChipMark } from "./graph_grad.ts";
import { hiddenSlotCountMark } from "./graph_node.ts";
import { textThatFits, proseThatFits } from "./graph_texts.ts";
import { nodeTooltip, keptSlotTitle, keptSlotWords } from "./node_words.ts";
import { visitOrderMark } from "./node_parts.ts";
import type { EdgePlace } from "../../layout/graph/graph_edges.ts";
import type { FocusNode, FocusText, GraphFocus } from "../../layout/graph/graph_focus.ts";
import type { GraphMap } from "../../layout/graph/graph_map.ts";
import type { SlotPlace } from "../../layout/graph/graph_places.ts";
import type { Node } from "../../trace/wire.ts";
import type { StepFacts } from "../step_facts.ts";

const WORD_FONT_SIZE = 12;
/** From the map's edge to where a line to a dot turns. */
const JOIN_OFFSET = 9;

export function graphFocusMarks(stepFacts: StepFacts, focus: GraphFocus, map: GraphMap): VNode[] {
  const { labels } = stepFacts;
  return [
    ...joinMarks(focus, map),
    ...focus.edges.map((edge) => focusEdgeMark(stepFacts, edge)),
    ...focus.nodes.map((node) => focusNodeMark(stepFacts, node)),
    ...focus.grads.map((place) => gradientChipMark(labels, place, 0)),
    ...focus.texts.map((text) => focusTextMark(stepFacts, text)),
  ];
}

/** Thin lines from nodes to their dots. */
function joinMarks({ nodes }: GraphFocus, { dots, left }: GraphMap) {
  return nodes.flatMap((node) => {
    const dot = node.join ? dots.find(({ uid, again }) => uid === node.uid && !again) : undefined;
    if (!dot) return [];
    const y0 = Math.round(node.y + node.h / 2) + 0.5;
    const y1 = Math.round(dot.y + dot.h / 2) + 0.5;
    const x0 = node.tag ? node.tag.x + node.tag.w + 2 : node.x + node.w + 2;
    const d = `M${x0} ${y0}H${left - JOIN_OFFSET}V${y1}H${dot.x}`;
    return [h("path", { key: `join ${node.uid}`, class: "map-join", "data-join": node.uid, d })];
  });
}

function focusEdgeMark({ snap }: StepFacts, edge: EdgePlace) {
  const { x, y } = edge.arrow ?? { x: 0, y: 0 };
  const parts = [
    h("path", { key: "line", class: "edge-line", d: edge.d }),
    edge.arrow && h("path", { key: "arrow", class: "arrow", d: `M${x} ${y}l-5 9h10z` }),
  ];
  const isOfNode = edge.key !== "";
  return h(
    "g",
    {
      key: `focus edge ${edge.key || edge.from} ${edge.to}`,
      class: classNames("edge focus-edge", edge.flow, isOfNode && snap.fresh.has(edge.from) && "fresh"),
      ...(isOfNode && {
        "data-edge": edge.key,
        "data-from": edge.from,
        "data-to": edge.to,
        target: { kind: "edge" as const, key: edge.key, from: edge.from, to: edge.to },
      }),
    },
    parts,
  );
}

function focusNodeMark(stepFacts: StepFacts, place: FocusNode) {
  const { uid, x, y, w, h: height, turn, tag, font, lead } = place;
  const { snap } = stepFacts;
  const node = snap.entities.get(uid) as Node;
  const isNew = snap.fresh.has(uid);
  const isLeaf = place.kind === "leaf";
  const variable = node?.variable ?? null;
  return h(
    "g",
    {
      key: `focus ${uid}`,
      class: classNames(
        "node focus-node",
        isLeaf && "accumulate",
        turn?.state,
        node?.released && "released",
        isNew && "fresh",
        node?.custom && "custom",
      ),
      "data-node": uid,
      "data-variable": variable,
      target: { kind: "node", uid, variable },
      tabindex: "0",
      role: "group",
      "aria-label": isLeaf ? `AccumulateGrad ${place.name}` : `${place.name}${tag ? ` ${tag.text}` : ""}`,
    },
    h("rect", { key: "box", class: "node-box", x, y, width: w, height, rx: isLeaf ? height / 2 : 7 }),
    h(
      "text",
      { key: "name", class: "node-name", x: x + lead, y: y + height / 2 + font * 0.36, "font-size": font },
      textThatFits(place.label, w - lead - 4, font),
    ),
    turn && visitOrderMark(turn, x + (turn.k > 99 ? 20 : 15), y + height / 2),
    tag && [
      h("rect", { key: "tag", class: "node-tag", x: tag.x, y: tag.y, width: tag.w, height: tag.h, rx: 4 }),
      h(
        "text",
        { key: "tag text", class: "node-tag-text", x: tag.x + tag.w / 2, y: tag.y + 16, "font-size": font },
        textThatFits(tag.text, tag.w - 8, font),
      ),
    ],
    place.slots.map((slot) => focusSlotMark(stepFacts, uid, slot)),
    place.moreSlots && hiddenSlotCountMark(place.moreSlots, 0),
    h("title", { key: "title" }, nodeTooltip(node?.name ?? place.name, uid, tag ? [tag.text] : [], node)),
  );
}

function focusSlotMark(stepFacts: StepFacts, node: string, slot: SlotPlace) {
  const { labels, events, snap } = stepFacts;
  const { x, y, w, h: height } = slot;
  return h(
    "g",
    {
      key: `slot ${slot.slot}`,
      class: classNames("slot", slot.state, slot.dot && "dot", !snap.fresh.has(node) && events.has(slot.key) && "news"),
      "data-slot": slot.key,
      "data-saved-state": slot.saved.state,
      "data-saved-in": slot.saved.storage ?? null,
      target: { kind: "slot", node, slot: slot.slot, broken: BROKEN_SLOT_STATES.has(slot.state as "stale") },
      tabindex: slot.dot ? null : "0",
    },
    h("rect", { key: "box", x, y, width: w, height, rx: slot.dot ? height / 2 : 5 }),
    !slot.dot &&
      h(
        "text",
        { key: "text", x: x + 8, y: y + height / 2 + 4.3, "font-size": WORD_FONT_SIZE },
        textThatFits(keptSlotWords(labels, slot), w - 10, WORD_FONT_SIZE),
      ),
    h("title", { key: "title" }, keptSlotTitle(labels, slot)),
  );
}

function focusTextMark({ labels }: StepFacts, { key, label, text, x, y, w }: FocusText) {
  const said = label ? labels[label].replace("{n}", text).replace("{name}", text) : text;
  const size = label ? WORD_FONT_SIZE : 14;
  const plural = label === "madeNodes" && text === "1" ? labels.madeNode : said;
  return h(
    "text",
    { key: `words ${key}`, class: label ? "focus-words" : "focus-sum", x, y: y + 14, "font-size": size },
    label ? proseThatFits(plural, w, size) : textThatFits(plural, w, size),
  );
}
