/** A node of the graph pane: its box and turn, the name of its tensor, what it saved, and the gradients around it. */

import { fullNumberText } from "../../trace/format.ts";
import { fittedText } from "../../layout/text/fitted_text.ts";
import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { GRAPH_WORD_FONT_SIZE } from "../../layout/graph/graph_sizes.ts";
import { classNames, h } from "../../browser/svg.ts";
import {
  focusable,
  circleMark,
  pathMark,
  rectMark,
  textMark,
  titleMark,
  transformToHeight,
} from "../../browser/shapes.ts";
import { attachedLeafMark } from "./attached_leaf_mark.ts";
import { gradientChipMark } from "./graph_grad.ts";
import { textThatFits } from "./graph_texts.ts";
import type { Node } from "../../trace/wire.ts";
import type { RenderContext } from "../render_context.ts";
import { gradientSumCountMark, visitOrderMark } from "./node_parts.ts";
import type { StageLabels } from "../labels.ts";
import type { NodePlace, SlotPlace, TextPlace } from "../../layout/graph/graph_places.ts";

/** A node with its leaves and gradients, drawn from its box's height. `railed`: its graph has rails. */
export function nodePlaceMark(renderContext: RenderContext, row: NodePlace, railed: boolean) {
  return h(
    "g",
    {
      key: `row ${row.uid}`,
      class: classNames("graph-row moves", row.past && "past"),
      transform: transformToHeight(row.y),
    },
    row.docks.map((dock) => attachedLeafMark(renderContext, row, dock)),
    graphNodeMark(renderContext, row, railed),
    row.seed && backwardStartMark(row),
    row.grads.map((place) => gradientChipMark(renderContext.labels, place, row.y)),
    row.moreGrads > 0 && hiddenGradientCountMark(row),
  );
}

function graphNodeMark(renderContext: RenderContext, row: NodePlace, railed: boolean) {
  const { uid, x, w, h: height, font, turn } = row;
  const node = renderContext.snap.entities.get(uid) as Node;
  const isNew = renderContext.snap.fresh.has(uid);
  const cy = height / 2;
  return h(
    "g",
    {
      key: "node",
      class: classNames("node", turn?.state, node.released && "released", isNew && "fresh", node.custom && "custom"),
      "data-node": uid,
      ...focusable({ kind: "node", uid, variable: null }, "group", `${row.name}${row.tag ? ` ${row.tag.text}` : ""}`),
    },
    railed && row.dot && railDotMark(renderContext, row, cy),
    rectMark("node-box", x, 0, w, height, { key: "box", rx: 6 }),
    textMark("node-name", x + row.lead, cy + font * 0.36, textThatFits(row.label, w - row.lead - 3, font), {
      key: "name",
      size: font,
    }),
    turn && visitOrderMark(turn, x, cy),
    row.tag && tensorNamesMark(row.tag, row.y),
    row.flags.map((flag, i) => nodeFlagMark(flag, i, row.y)),
    row.slots.map((slot) => savedSlotMark(renderContext, uid, slot, row.y)),
    row.moreSlots && hiddenSlotCountMark(row.moreSlots, row.y),
    titleMark(nodeTooltip(row.name, uid, row.tag ? [row.tag.text, ...row.tag.hidden] : [], node)),
  );
}

/** Where a node's rail has it, and whether gradients meet there. */
function railDotMark(renderContext: RenderContext, row: NodePlace, cy: number) {
  if (row.met > 1) return gradientSumCountMark(renderContext.labels, row.met, row.rail, cy);
  return circleMark("rail-dot", row.rail, cy, 3.5, "dot");
}

/** How many gradients have no room. */
function hiddenGradientCountMark(row: NodePlace) {
  const attrs = {
    key: "more",
    class: "grad-to",
    x: row.x - 4,
    y: row.top - row.y + 18,
    "font-size": GRAPH_WORD_FONT_SIZE,
  };
  return h("text", attrs, `+${row.moreGrads}`);
}

function tensorNamesMark(tag: TextPlace, rowY: number) {
  return h("g", { key: "tag" }, [
    rectMark("node-tag", tag.x, tag.y - rowY, tag.w, tag.h, { key: "box", rx: 4 }),
    textMark(
      "node-tag-text",
      tag.x + tag.w / 2,
      tag.y - rowY + tag.h / 2 + tag.font * 0.36,
      textThatFits(tag.text, tag.w - 8, tag.font),
      { key: "text", size: tag.font },
    ),
  ]);
}

function nodeFlagMark(flag: TextPlace, i: number, rowY: number) {
  return h("g", { key: `flag ${i}`, class: "node-flag" }, [
    h("rect", { key: "box", x: flag.x, y: flag.y - rowY, width: flag.w, height: flag.h, rx: 3 }),
    h("text", { key: "text", x: flag.x + 4, y: flag.y - rowY + 13, "font-size": flag.font }, flag.text),
  ]);
}

/** A saved slot. */
function savedSlotMark({ labels, events, snap }: RenderContext, node: string, slot: SlotPlace, rowY: number) {
  const isNew = snap.fresh.has(node);
  const words = savedSlotWords(labels, slot);
  const { x, w, h: height } = slot;
  const sentence = slot.state === "ok" ? labels.keepsName.replace("{name}", words) : words;
  const { expected } = slot.saved;
  const versions = slot.state === "stale" ? [`${slot.head}: v${expected ?? "?"} → v${slot.now ?? "?"}`] : [];
  // where there is little room, it is for the name
  const { text, size, spacing } = fittedText([sentence, words, ...versions], w - 8, GRAPH_WORD_FONT_SIZE);
  const y = slot.y - rowY;
  const boxAttributes = { x, y, width: w, height };
  return h(
    "g",
    {
      key: `slot ${slot.slot}`,
      class: classNames("slot", slot.state, slot.dot && "dot", !isNew && events.has(slot.key) && "news"),
      "data-slot": slot.key,
      "data-saved-state": slot.saved.state,
      "data-saved-in": slot.saved.storage ?? null,
      target: { kind: "slot", node, slot: slot.slot, broken: BROKEN_SLOT_STATES.has(slot.state) },
    },
    h("rect", { key: "box", ...boxAttributes, rx: slot.dot ? height / 2 : 4 }),
    !slot.dot &&
      h("text", { key: "text", x: x + 6, y: y + height / 2 + 4.3, "font-size": size, "letter-spacing": spacing }, text),
    titleMark(savedSlotTitle(labels, slot)),
  );
}

/** Saved slots that have no room. */
function hiddenSlotCountMark({ x, y, w, h: height, keys }: NonNullable<NodePlace["moreSlots"]>, rowY: number) {
  return h("g", { key: "more slots", class: "slot-more", "data-slots": keys.join(" ") }, [
    h("text", { x: x + w / 2, y: y - rowY + height / 2 + 4.3, "font-size": GRAPH_WORD_FONT_SIZE }, `+${keys.length}`),
    titleMark(keys.map((key) => key.slice(key.indexOf(":") + 1)).join(", ")),
  ]);
}

/** Where a backward begins. */
function backwardStartMark(row: NodePlace) {
  const x = row.x + 12;
  return h("g", { key: "seed", class: "graph-seed" }, [
    pathMark("edge-line", `M${x} ${row.h}v17`, "line"),
    pathMark("arrow", `M${x} ${row.h + 1}l-4.5 8h9z`, "arrow"),
  ]);
}

/** `outputs` are the names of what the node made. */
function nodeTooltip(name: string, uid: string, outputs: string[], node: Node | undefined) {
  const attrs = Object.entries(node?.attrs ?? {}).map(([attr, value]) => `${attr} = ${fullNumberText(value)}`);
  const names = outputs.length ? [`→ ${outputs.join(", ")}`] : [];
  return [`${name} ${uid}`, ...names, ...attrs].join("\n");
}

/** What a slot keeps: a name of the program, and what is wrong with it. */
function savedSlotWords(labels: StageLabels, { state, saved, head, now }: SlotPlace) {
  const name = head || labels.unnamedResult;
  if (now !== null)
    return `${name}: ${labels.keptVersion.replace("{v}", String(saved.expected ?? "?")).replace("{now}", String(now))}`;
  if (state === "changed") return `${name}: ${labels.otherBytes}`;
  return state === "ok" || state === "freed" ? name : `${name} ${state}`;
}

/** Torch's own name of a slot first, then all that there is to say of it. */
function savedSlotTitle(labels: StageLabels, slot: SlotPlace) {
  if (slot.state === "freed") {
    const name = slot.dot ? "" : `: ${savedSlotWords(labels, slot)}`;
    return `${slot.slot}${name} · ${labels.released}`;
  }
  const version =
    typeof slot.saved.expected === "number" && slot.now === null
      ? ` · ${labels.versionKept.replace("{v}", String(slot.saved.expected))}`
      : "";
  return `${slot.slot}: ${savedSlotWords(labels, slot)}${version}`;
}
