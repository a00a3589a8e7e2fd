/**
 * What a step did to the graph, in full, beside the map: the node that backward visits with its gradients, or the nodes
 * that the step made or changed, what the reader chose and what is broken.
 */

import { findEntity } from "../../trace/entities.ts";
import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { fittedGradientChip } from "../text/grad_chip.ts";
import { keptSlotTexts } from "./graph_kept.ts";
import { incomingGradients, sumText, type IncomingGradient } from "./graph_sums.ts";
import { textWidth } from "../text/metrics.ts";
import { shortenNodeLabel, shortenPath } from "../text/node_labels.ts";
import type { EdgePlace } from "./graph_edges.ts";
import type { FocusLabel, GradientPlace, SlotPlace } from "./graph_places.ts";
import type { GraphStep, VisitOrder } from "./graph_step.ts";
import type { Grad } from "../../trace/wire.ts";
import type { Rect } from "../pane.ts";

/** words of the page, by their label, or texts of the program; its rectangle is the room that it has */
export type FocusText = Rect & {
  key: string;
  label: FocusLabel | null;
  /** what stands in the label's place, or all of the text */
  text: string;
};

/** its rectangle is the node's box */
export type FocusNode = Rect & {
  uid: string;
  kind: "node" | "leaf";
  label: string;
  /** torch's of a node, the program's of a leaf */
  name: string;
  font: number;
  turn: VisitOrder | null;
  /** the room before its label */
  lead: number;
  /** of the tensor that it made, beside it */
  tag: (Rect & { text: string }) | null;
  slots: SlotPlace[];
  /** saved slots that have no place */
  moreSlots: (Rect & { keys: string[] }) | null;
  /** whether a line leads from it to its dot */
  join: boolean;
};

export interface GraphFocus {
  nodes: FocusNode[];
  texts: FocusText[];
  edges: EdgePlace[];
  grads: GradientPlace[];
}

/** Type of names and numbers, and of second words. */
const FOCUS_FONT_SIZE = 14;
/** A gradient of which there is room for one number. */
const MIN_CHIP_WIDTH = 44;
const WORD_FONT_SIZE = 12;
const BOX_HEIGHT = 30;
const SMALL_BOX_HEIGHT = 24;
const CHIP_HEIGHT = 24;
const SLOT_HEIGHT = 20;
/** A line of second words. */
const WORDS_HEIGHT = 20;
/** From a box's left to its first edge, from one edge beside another, and to the next box. */
const EDGE_OFFSET = 14;
const EDGE_SPACING = 26;
const GAP = 10;
const LEAD = 12;
/** The room of a turn in a backward, before a label. */
const TURN_WIDTH = 19;
const WIDE_TURN_WIDTH = 27;
const MORE_SLOTS_WIDTH = 26;
/** What is said of a broken value after its name. */
const BROKEN_WORDS_WIDTH = 190;
/** The least room in which anything is said. */
const MIN_FOCUS_WIDTH = 110;

/** an end of edges from a node */
interface InputOfNode {
  uid: string;
  edges: { k: number; grad: Grad | null }[];
}

/** Nodes that a step has to do with and that have their own place in the focus, what matters most first. */
function focusedNodes(graphStep: GraphStep) {
  const { touched, visitedNode, selected } = graphStep;
  const order = graphStep.components.flatMap(({ key }) => graphStep.livingBlocks.get(key) ?? []);
  const made = order.map(({ uid }) => uid).filter((uid) => touched.uids.has(uid) && uid !== visitedNode);
  const docked = [...touched.uids].filter((uid) => uid[0] === "n" && graphStep.node(uid) && !made.includes(uid));
  const broken = order.map(({ uid }) => uid).filter((uid) => graphStep.hasBrokenSlot(uid) && !made.includes(uid));
  const chosen = selected && graphStep.node(selected) && !touched.uids.has(selected) ? [selected] : [];
  return { made, docked: visitedNode ? [] : docked, broken, chosen };
}

/** Whether a step has anything to show beside the map. */
export function hasGraphFocus(graphStep: GraphStep) {
  if (graphStep.visitedNode) return true;
  const { made, docked, broken, chosen } = focusedNodes(graphStep);
  return made.length + docked.length + broken.length + chosen.length > 0;
}

/** Empty where there is no room for anything. */
export function layoutGraphFocus(graphStep: GraphStep, area: Rect): GraphFocus {
  const builder = new FocusBuilder(graphStep, area);
  if (area.w < MIN_FOCUS_WIDTH) return builder.focus;
  const { visitedNode } = graphStep;
  const { made, docked, broken, chosen } = focusedNodes(graphStep);
  if (visitedNode && graphStep.node(visitedNode)) builder.addVisit(visitedNode);
  else if (made.length || docked.length) builder.addMadeNodes(made.length ? made : docked);
  builder.addFurther("chosenNode", chosen);
  builder.addFurther(
    "keptThenChanged",
    broken.filter((uid) => uid !== visitedNode && !chosen.includes(uid)),
  );
  return builder.focus;
}

/** Puts one thing below another. */
class FocusBuilder {
  graphStep: GraphStep;
  area: Rect;
  y: number;
  focus: GraphFocus = { nodes: [], texts: [], edges: [], grads: [] };
  placed = new Map<string, FocusNode>();

  constructor(graphStep: GraphStep, area: Rect) {
    this.graphStep = graphStep;
    this.area = area;
    this.y = area.y;
  }

  get right() {
    return this.area.x + this.area.w;
  }

  get bottom() {
    return this.area.y + this.area.h;
  }

  addText(label: FocusLabel | null, text: string, x = this.area.x, y = this.y, key = "") {
    if (this.right - x < 24) return;
    const rect = { x, y, w: this.right - x, h: WORDS_HEIGHT };
    this.focus.texts.push({ key: `${label ?? "text"} ${key || text} ${Math.round(y)}`, label, text, ...rect });
  }

  addHeading(label: FocusLabel, text = "") {
    this.addText(label, text);
    this.y += WORDS_HEIGHT + 2;
  }

  /** A node's box, with the name of its tensor beside it. Its room ends at `end`. */
  addNode(uid: string, x: number, y: number, h = BOX_HEIGHT, minWidth = 0, end = this.right): FocusNode {
    const { graphStep } = this;
    const node = graphStep.node(uid);
    const isLeaf = Boolean(node?.variable) || /AccumulateGrad$/.test(node?.name ?? "");
    const component = graphStep.model.blocks.get(graphStep.model.hosts.get(uid) ?? uid)?.component ?? null;
    const reader = isLeaf ? graphStep.model.blocks.get(graphStep.mainReaderOf(uid) ?? "")?.component : null;
    const owner = component ?? reader ?? null;
    const turn = owner ? graphStep.visitOrder(uid, owner) : null;
    const font = FOCUS_FONT_SIZE;
    const right = end - (!isLeaf && Object.keys(node?.saved ?? {}).length ? MORE_SLOTS_WIDTH + 8 : 0);
    const lead = LEAD + (turn ? (turn.k > 99 ? WIDE_TURN_WIDTH : TURN_WIDTH) : 0);
    const characters = Math.max(2, Math.floor((right - x - lead - LEAD) / textWidth("0", font)));
    const label = isLeaf
      ? `${shortenPath(graphStep.accumulatorLeafName(uid), characters - 5)}.grad`
      : shortenNodeLabel(graphStep.model.labels.get(uid) ?? uid, characters);
    const w = Math.max(minWidth, Math.ceil(textWidth(label, font)) + lead + LEAD);
    const place: FocusNode = {
      ...{
        uid,
        kind: isLeaf ? "leaf" : "node",
        label,
        name: isLeaf ? graphStep.accumulatorLeafName(uid) : (node?.name ?? uid),
        font,
        turn,
      },
      ...{ lead, tag: null, slots: [], moreSlots: null, join: false, x, y, w: Math.min(w, right - x), h },
    };
    const names = isLeaf ? [] : (graphStep.outputs.get(uid)?.texts ?? []);
    const tagWidth = names.length ? Math.ceil(textWidth(names[0], font)) + 18 : 0;
    const tagX = place.x + place.w + 8;
    if (names.length && right - tagX >= Math.min(tagWidth, 44))
      place.tag = { text: names[0], x: tagX, y: y + h / 2 - 11, w: Math.min(tagWidth, right - tagX), h: 22 };
    this.focus.nodes.push(place);
    this.placed.set(uid, place);
    return place;
  }

  addEdge(from: FocusNode, k: number, to: FocusNode, x: number, flow: EdgePlace["flow"]) {
    const [top, bottom] = [to.y + to.h, from.y];
    const arrow = flow ? { x, y: top + 1, up: true } : null;
    const d = `M${x} ${top}V${bottom}`;
    this.focus.edges.push({
      key: `${from.uid}:${k}`,
      from: from.uid,
      to: to.uid,
      d,
      top,
      bottom,
      flow,
      arrow,
      past: false,
      lane: 0,
    });
  }

  addChip(key: string, grad: Grad, now: boolean, x: number, y: number, maxWidth: number) {
    const chip = fittedGradientChip(grad, Math.max(40, maxWidth), FOCUS_FONT_SIZE);
    const place = {
      ...{ key, grad, chip, now, to: null, y, w: chip.width, h: CHIP_HEIGHT },
      x: Math.max(this.area.x, Math.min(x, this.right - chip.width)),
    };
    this.focus.grads.push(place);
    return place;
  }

  /** What a node leads to, each above it with its edges. `x` is how far to the right the last edge goes down. */
  addInputs(
    inputs: InputOfNode[],
    heightLeft: number,
  ): { x: number; edges: { k: number; x: number; to: FocusNode; flow: EdgePlace["flow"] }[] } {
    const { area } = this;
    const withGrads = inputs.some(({ edges }) => edges.some(({ grad }) => grad));
    const chipLines = inputs.reduce((sum, { edges }) => sum + edges.length, 0);
    const full = inputs.length * (BOX_HEIGHT + GAP) + (withGrads ? chipLines * (CHIP_HEIGHT + 6) : 0);
    const tight = full > heightLeft;
    const lineHeight = tight ? SMALL_BOX_HEIGHT + 4 : BOX_HEIGHT + GAP;
    const shown = tight ? inputs.slice(0, Math.max(1, Math.floor(heightLeft / lineHeight))) : inputs;
    const spacing = Math.min(
      EDGE_SPACING,
      (area.w * 0.34) /
        Math.max(
          1,
          shown.reduce((n, { edges }) => n + edges.length, 0),
        ),
    );
    const out = {
      x: area.x + EDGE_OFFSET,
      edges: [] as { k: number; x: number; to: FocusNode; flow: EdgePlace["flow"] }[],
    };
    let left = area.x;
    for (const { uid, edges } of shown) {
      const chipWidth = tight && edges.some(({ grad }) => grad) ? MIN_CHIP_WIDTH : 0;
      const box = this.addNode(
        uid,
        left,
        this.y,
        tight ? SMALL_BOX_HEIGHT : BOX_HEIGHT,
        EDGE_OFFSET * 2 + spacing * (edges.length - 1),
        this.right - chipWidth,
      );
      const slotsEnd = this.addSlotDots(box);
      const last = left + EDGE_OFFSET + spacing * (edges.length - 1);
      const besideBox = slotsEnd + 4;
      const leadsTo = this.leafBehind(uid);
      if (leadsTo && !tight) this.addText("leadsTo", leadsTo, besideBox, this.y + 5, uid);
      let chipY = tight ? this.y : this.y + box.h + 5;
      edges.forEach(({ k, grad }, n) => {
        const x = left + EDGE_OFFSET + spacing * n;
        out.edges.push({ k, x, to: box, flow: grad ? "flow" : "" });
        out.x = Math.max(out.x, x);
        if (!grad) return;
        const chipX = tight ? Math.min(besideBox, this.right - MIN_CHIP_WIDTH) : last + 12;
        const hasSides = edges.length > 1 && !tight;
        const chip = this.addChip(
          `${this.graphStep.visitedNode}:${k}`,
          grad,
          true,
          chipX,
          chipY,
          this.right - chipX - (hasSides ? 128 : 0),
        );
        const side: FocusLabel = edges.length > 2 ? "edgeNumber" : n ? "rightEdge" : "leftEdge";
        if (hasSides)
          this.addText(side, edges.length > 2 ? String(n + 1) : "", chip.x + chip.w + 8, chipY + 2, `${uid} ${k}`);
        if (!tight) chipY += CHIP_HEIGHT + 6;
      });
      this.y = tight
        ? this.y + lineHeight
        : Math.max(this.y + box.h + GAP, edges.some(({ grad }) => grad) ? chipY + 4 : 0);
      left = last + spacing - EDGE_OFFSET + 6;
      left = Math.max(left, last + 8);
    }
    if (shown.length < inputs.length) {
      this.addText("moreInMap", String(inputs.length - shown.length), left);
      this.y += WORDS_HEIGHT;
    }
    return out;
  }

  /** The leaf that a node only brings into shape. */
  leafBehind(uid: string) {
    const host = this.graphStep.model.blocks.get(this.graphStep.model.hosts.get(uid) ?? "");
    const dock = host?.docks.find(({ vias }) => vias.includes(uid));
    return dock ? this.graphStep.accumulatorLeafName(dock.leaf) : "";
  }

  addVisit(uid: string) {
    const { graphStep } = this;
    const node = graphStep.node(uid);
    const visit = graphStep.step?.visit;
    if (!node || !visit) return;
    const incoming = incomingGradients(graphStep, uid);
    if (visit.accumulates || node.variable) return this.addLanding(uid, incoming);
    const inputs = groupInputs(node.next ?? [], visit.grad_inputs).filter(({ edges }) =>
      edges.some(({ grad }) => grad),
    );
    for (const input of inputs) input.edges = input.edges.filter(({ grad }) => grad);
    const slots = Object.keys(node.saved ?? {}).length;
    const below =
      BOX_HEIGHT + 16 + (slots ? WORDS_HEIGHT + SLOT_HEIGHT + 8 : 0) + (incoming.length + 1) * (CHIP_HEIGHT + 10) + 14;
    const living = inputs.filter((input) => graphStep.node(input.uid));
    const above = this.addInputs(living, Math.max(60, this.bottom - this.y - below));
    this.y += living.length ? 6 : 0;
    const box = this.addNode(uid, this.area.x, this.y, BOX_HEIGHT + 4, above.x - this.area.x + EDGE_OFFSET);
    box.join = true;
    for (const { k, x, to, flow } of above.edges) this.addEdge(box, k, to, x, flow);
    this.y += box.h;
    this.addIncoming(uid, incoming);
    this.addSlots(box);
  }

  /** A leaf that a gradient reaches, and where it comes from. */
  addLanding(uid: string, incoming: IncomingGradient[]) {
    const { graphStep } = this;
    this.addHeading("landsIn");
    const box = this.addNode(uid, this.area.x, this.y, BOX_HEIGHT + 4);
    box.join = true;
    this.y += box.h;
    const [only] = incoming;
    if (incoming.length === 1 && graphStep.node(only.from)) {
      const chip = this.addChip(
        `${only.from}:${only.k}`,
        only.grad,
        false,
        this.area.x + EDGE_OFFSET + 12,
        this.y + 8,
        this.area.w - EDGE_OFFSET - 14,
      );
      this.y = chip.y + chip.h + 8;
      const reader = this.addNode(only.from, this.area.x, this.y);
      this.addSlotDots(reader);
      this.addEdge(reader, only.k, box, this.area.x + EDGE_OFFSET, "flowed");
      this.y += reader.h;
    } else this.addIncoming(uid, incoming);
    const before = gradBefore(graphStep, uid);
    const arrived = graphStep.step?.visit?.grad_outputs.find(Boolean);
    if (!before || !arrived) return;
    this.y += 8;
    this.addHeading("addedToGrad");
    const text = sumText([before.cells, arrived.cells ?? []], before.after);
    if (text) this.addText(null, text);
    if (text) this.y += WORDS_HEIGHT;
  }

  /** What reaches a node, below it: each gradient by where it comes from, and their sum. */
  addIncoming(uid: string, incoming: IncomingGradient[]) {
    const { graphStep } = this;
    const grads = graphStep.step?.visit?.grad_outputs ?? [];
    const sums = grads.filter((grad) => grad !== null);
    if (!sums.length) return;
    const x = this.area.x + EDGE_OFFSET + 12;
    const top = this.y;
    this.y += 8;
    const isSum = incoming.length > 1;
    const half = this.area.w * 0.56;
    if (isSum)
      for (const { from, k, grad } of incoming) {
        if (this.y + CHIP_HEIGHT * 2 > this.bottom) break;
        const chip = this.addChip(`${from}:${k}`, grad, false, x, this.y, half);
        this.addText(
          "gradientFrom",
          graphStep.model.labels.get(from) ?? from,
          chip.x + chip.w + 8,
          this.y + 2,
          `${from}:${k}`,
        );
        this.y += CHIP_HEIGHT + 6;
      }
    const parts =
      isSum && sums.length === 1
        ? sumText(
            incoming.map(({ grad }) => grad.cells ?? []),
            sums[0].cells ?? [],
          )
        : null;
    if (parts) {
      this.addText(null, parts, x, this.y + 1);
      this.y += WORDS_HEIGHT;
    }
    for (const grad of sums.slice(0, 4)) {
      const chip = this.addChip(uid, grad, true, x, this.y, half);
      const label = isSum ? "gradientsTogether" : incoming.length ? "gradientFrom" : "backwardStarts";
      const from = incoming[0]?.from ?? "";
      const said = isSum ? this.nodeName(uid) : (graphStep.model.labels.get(from) ?? from);
      if (grad === sums[0]) this.addText(label, said, chip.x + chip.w + 8, this.y + 2, uid);
      this.y += CHIP_HEIGHT + 6;
      if (sums.length > 1) break; // one key, one chip: the others are in the tooltips of their edges
    }
    this.focus.edges.push({
      ...{
        key: "",
        from: uid,
        to: uid,
        d: `M${this.area.x + EDGE_OFFSET} ${this.y - 4}V${top + 1}`,
        top,
        bottom: this.y,
      },
      ...{
        flow: "flowed" as const,
        arrow: { x: this.area.x + EDGE_OFFSET, y: top + 1, up: true },
        past: false,
        lane: 0,
      },
    });
  }

  nodeName(uid: string) {
    const node = this.graphStep.node(uid);
    return node?.variable
      ? `${this.graphStep.accumulatorLeafName(uid)}.grad`
      : (this.graphStep.model.labels.get(uid) ?? uid);
  }

  /** What a node keeps for backward, or let go of: a chip for each value, under the reader's name for it. */
  addSlots(box: FocusNode) {
    const { graphStep } = this;
    const node = graphStep.node(box.uid);
    const kept = keptSlotTexts(graphStep, box.uid);
    if (!node || !kept.length) return;
    const isFreed = kept.every(({ state }) => state === "freed");
    this.y += 6;
    this.addText(isFreed ? "letGo" : "keepsForBackward", "", this.area.x, this.y, box.uid);
    this.y += WORDS_HEIGHT + 2;
    let x = this.area.x;
    for (const { slot, saved, state, text, now, said, known } of kept) {
      const isBroken = BROKEN_SLOT_STATES.has(state as "stale");
      const wanted = Math.ceil(textWidth(said, WORD_FONT_SIZE)) + 16;
      const w = known ? Math.min(this.area.w, isBroken ? this.area.w : wanted) : 8;
      if (x > this.area.x && x + w > this.right) {
        x = this.area.x;
        this.y += SLOT_HEIGHT + 4;
      }
      box.slots.push({
        x,
        y: known ? this.y : this.y + (SLOT_HEIGHT - w) / 2,
        w,
        h: known ? SLOT_HEIGHT : w,
        key: `${box.uid}:${slot}`,
        slot,
        saved,
        state,
        dot: !known,
        head: text,
        now,
      });
      x += w + 6;
    }
    this.y += SLOT_HEIGHT + 4;
  }

  /** Nodes that a step made or changed: all of a few in full, of many a line each. */
  addMadeNodes(uids: string[]) {
    this.addHeading("madeNodes", String(uids.length));
    const heights = uids.map((uid) => this.fullHeight(uid));
    const room = this.bottom - this.y;
    if (heights.reduce((sum, h) => sum + h, 0) <= room) for (const uid of uids) this.addInFull(uid, uids.length <= 3);
    else this.addLines(uids, room);
  }

  fullHeight(uid: string) {
    const node = this.graphStep.node(uid);
    const inputs = groupInputs(node?.next ?? [], []).filter((input) => !this.placed.has(input.uid));
    const slots = Object.keys(node?.saved ?? {}).length;
    return (
      inputs.length * (BOX_HEIGHT + GAP) +
      BOX_HEIGHT +
      (slots ? 6 + WORDS_HEIGHT + 2 + (SLOT_HEIGHT + 4) * Math.ceil(slots / 2) : 0) +
      20
    );
  }

  /** A node with what it reads above it and what it keeps below it. */
  addInFull(uid: string, join: boolean) {
    const { graphStep } = this;
    const node = graphStep.node(uid);
    if (!node) return;
    const inputs = groupInputs(node.next ?? [], []).filter(
      (input) => graphStep.node(input.uid) && !this.placed.has(input.uid),
    );
    const above = this.addInputs(inputs, this.bottom - this.y - BOX_HEIGHT);
    this.y += inputs.length ? 6 : 0;
    const box = this.addNode(uid, this.area.x, this.y, BOX_HEIGHT + 4, above.x - this.area.x + EDGE_OFFSET);
    box.join = join;
    for (const { k, x, to, flow } of above.edges) this.addEdge(box, k, to, x, flow);
    this.y += box.h;
    this.addSlots(box);
    this.y += 14;
  }

  /** A line each; where an edge leads to the line above, it is drawn. */
  addLines(uids: string[], room: number) {
    const pitch = SMALL_BOX_HEIGHT + 8;
    const count = Math.max(1, Math.floor((room - WORDS_HEIGHT) / pitch));
    let before: FocusNode | null = null;
    for (const uid of uids.slice(0, count)) {
      const box = this.addNode(uid, this.area.x, this.y, SMALL_BOX_HEIGHT);
      const k = (this.graphStep.node(uid)?.next ?? []).findIndex((edge) => edge?.[0] === before?.uid);
      if (before && k >= 0) this.addEdge(box, k, before, this.area.x + EDGE_OFFSET, "");
      this.addSlotDots(box);
      before = box;
      this.y += pitch;
    }
    if (uids.length > count) this.addText("moreInMap", String(uids.length - count));
  }

  /** What a node keeps, as dots with their names in tooltips. Returns where they end. */
  addSlotDots(box: FocusNode) {
    let x = (box.tag ? box.tag.x + box.tag.w : box.x + box.w) + 8;
    if (box.kind === "leaf") return x;
    const kept = keptSlotTexts(this.graphStep, box.uid);
    const shown = kept.slice(0, Math.max(0, Math.floor((this.right - x - MORE_SLOTS_WIDTH) / 12)));
    for (const { slot, saved, state, text, now } of shown) {
      const broken = BROKEN_SLOT_STATES.has(state as "stale");
      const w = broken ? Math.min(this.right - x, textWidth(text, WORD_FONT_SIZE) + BROKEN_WORDS_WIDTH) : 8;
      const h = broken ? SLOT_HEIGHT : 8;
      box.slots.push({
        x,
        y: box.y + box.h / 2 - h / 2,
        w,
        h,
        key: `${box.uid}:${slot}`,
        slot,
        saved,
        state,
        dot: !broken,
        head: text,
        now,
      });
      x += w + 4;
    }
    const hidden = kept.slice(shown.length).map(({ slot }) => `${box.uid}:${slot}`);
    if (hidden.length) box.moreSlots = { x: Math.min(x, this.right - 24), y: box.y + 4, w: 24, h: 16, keys: hidden };
    return hidden.length ? this.right : x;
  }

  /** What isn't of the step, below what is, as long as there is room. */
  addFurther(label: FocusLabel, uids: string[]) {
    const missing = uids.filter((uid) => !this.placed.has(uid));
    if (!missing.length || this.y + WORDS_HEIGHT + BOX_HEIGHT > this.bottom) return;
    if (this.y > this.area.y) this.y += 14;
    this.addHeading(label);
    for (const uid of missing) {
      if (
        this.y + this.fullHeight(uid) > this.bottom &&
        this.y + BOX_HEIGHT + WORDS_HEIGHT + SLOT_HEIGHT * 2 > this.bottom
      )
        break;
      const box = this.addNode(uid, this.area.x, this.y, BOX_HEIGHT + 4);
      box.join = true;
      this.y += box.h;
      this.addSlots(box);
      this.y += 12;
    }
  }
}

/** A node's edges by where they lead. `grads` go along them. */
function groupInputs(
  next: (readonly [string, number] | null)[] | [string, number][],
  grads: (Grad | null)[],
): InputOfNode[] {
  const inputs = new Map<string, InputOfNode>();
  next.forEach((edge, k) => {
    if (!edge) return;
    const input = inputs.get(edge[0]) ?? { uid: edge[0], edges: [] };
    inputs.set(edge[0], input);
    input.edges.push({ k, grad: grads[k] ?? null });
  });
  return [...inputs.values()];
}

/** The one number of a leaf's gradient before this step, and after it; null where it had none. */
function gradBefore(graphStep: GraphStep, leafNode: string) {
  const variable = graphStep.node(leafNode)?.variable ?? null;
  const cellsAt = (entities: GraphStep["entities"]) => {
    const grad = findEntity(entities, findEntity(entities, variable, "tensor")?.grad, "tensor");
    const storage = findEntity(entities, grad?.storage, "storage");
    return grad ? ((grad.shape ?? []).length ? [] : (storage?.cells?.[grad.dtype ?? ""] ?? [])) : null;
  };
  const before = cellsAt(graphStep.model.opened.state(graphStep.i - 1));
  return before && { cells: before, after: cellsAt(graphStep.entities) ?? [] };
}
