/** The loom's nodes: a dot on its lane, its name, what it saved, and the gradient that reached it. */

import { loomGradientChip } from "../../layout/text/grad_chip.ts";
import { encodedValueJson, truncateText } from "../../trace/format.ts";
import { BOLD_WIDTH_FACTOR } from "../../layout/loom/loom_sizes.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../../layout/text/metrics.ts";
import { largestMagnitude, valueTintMark } from "./loom_head.ts";
import { savedSlotStateAt } from "../../layout/loom/run_rows.ts";
import { addToList } from "../../trace/multimap.ts";
import { classNames, h } from "../../browser/svg.ts";
import { circleMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { LoomScene } from "./loom_scene.ts";
import type { LoomPin } from "../../layout/loom/run_row.ts";
import type { LoomPlan, NodeDot } from "../../layout/loom/loom_plan.ts";

export const NODE_RADIUS = 5;
/** Width of a character of a node's name. */
const NODE_NAME_CHARACTER_WIDTH = 11.5 * CHARACTER_WIDTH_EM * BOLD_WIDTH_FACTOR;

/** The nodes made by a row. */
export function loomNodeMarks(scene: LoomScene, r: number) {
  const { plan, i } = scene;
  const dotsByGroup = new Map<string, NodeDot[]>();
  for (const dot of plan.rowDots[r]) addToList(dotsByGroup, dot.group, dot);
  const dotsByY = new Map<number, NodeDot[]>();
  for (const [dot] of dotsByGroup.values()) addToList(dotsByY, dot.y, dot);
  const out = [];
  for (const groupDots of dotsByGroup.values()) {
    const dot = groupDots[groupDots.length - 1];
    let lastVisit = -1;
    for (const member of groupDots)
      for (const k of plan.run.visits.get(member.uid) ?? []) if (k <= i) lastVisit = Math.max(lastVisit, k);
    const parts = [
      circleMark(
        classNames(
          "loom-node",
          dot.leaf && "leaf",
          dot.fold.length > 0 && "fold",
          lastVisit === i && "running",
          lastVisit >= 0 && lastVisit < i && "ran",
        ),
        dot.x,
        dot.y,
        dot.leaf || dot.fold.length ? NODE_RADIUS + 0.5 : NODE_RADIUS,
        "dot",
      ),
    ];
    const dotsInLine = dotsByY.get(dot.y) ?? [dot];
    if (dotsInLine[0] === groupDots[0]) parts.push(...nodeLabelMarks(scene, groupDots, dotsInLine, lastVisit));
    if (!dot.inline) for (const [slot, y] of dot.slots) parts.push(...slotLineMarks(scene, dot, slot, y));
    const title = dot.fold.length
      ? dot.fold.map((uid) => `${plan.run.nodes.get(uid)?.name} ${uid}`).join("\n")
      : `${dot.name} ${dot.uid}`;
    out.push(h("g", { key: `node ${dot.group}`, class: "loom-knot" }, parts, titleMark(title)));
  }
  return out;
}

/**
 * What stands beside the dots of a line: their name, the slots that have no lines of their own, the last gradient.
 * `groupDots` are nodes that are one dot, and `dotsInLine` has one of each group; `lastVisit` is the step at which one
 * of them last ran, -1 if none has.
 */
function nodeLabelMarks(scene: LoomScene, groupDots: NodeDot[], dotsInLine: NodeDot[], lastVisit: number) {
  const { plan, now } = scene;
  const { names, chars } = plan.graph;
  const [dot] = groupDots;
  const maxChars = Math.min(plan.stacked ? 15 : 30, chars);
  const hasGrad = lastVisit >= 0 && dotsInLine.length === 1 && !plan.stacked;
  const minCharacters = Math.min(7, Array.from(nodeGroupLabel(groupDots, dotsInLine, scene)).length);
  const chipWidth = hasGrad
    ? gradientChipThatFits(scene, lastVisit, plan.width - names - 20 - minCharacters * NODE_NAME_CHARACTER_WIDTH).width
    : 0;
  const slots = groupDots.filter(({ inline }) => inline).flatMap((member) => inlineSlotMarks(scene, member));
  const hasBrokenSlot = slots.some(({ state }) => state === "broken" || state === "silent");
  const labelRoom =
    plan.width - names - 10 - chipWidth - (hasBrokenSlot || groupDots.length > 1 ? 0 : slots.length * 8);
  const text = truncateText(
    nodeGroupLabel(groupDots, dotsInLine, scene),
    Math.max(5, Math.min(maxChars, Math.floor(labelRoom / NODE_NAME_CHARACTER_WIDTH))),
  );
  const out = [textMark("loom-label", names + 2, dot.y + 4, text, "label")];
  let x = names + 8 + nodeNameWidth(text);
  if (hasBrokenSlot) out.push(textMark("loom-saved broken", x, dot.y + 3.5, "✕", "bad"));
  else if (groupDots.length === 1)
    for (const { slot, state, title } of slots) {
      out.push(
        h("g", { key: `slot ${slot}` }, [
          rectMark(classNames("loom-slot", state), x, dot.y - 3, 6, 6, "square"),
          titleMark(title),
        ]),
      );
      x += 8;
    }
  const isNow = plan.run.rowOfStep[lastVisit] === now;
  if (hasGrad)
    out.push(...loomGradientMark(scene, lastVisit, x + (hasBrokenSlot ? 10 : 0), dot.y, isNow, plan.width - 3));
  return out;
}

/** How wide a node's name is in the page's face, where some letters are wide. */
export function nodeNameWidth(text: string) {
  return textWidth(text, 11.5) * BOLD_WIDTH_FACTOR + (text.match(/[MmWw]/g)?.length ?? 0) * 3.5;
}

function nodeGroupLabel(groupDots: NodeDot[], dotsInLine: NodeDot[], { opened, i }: LoomScene) {
  const [dot] = groupDots;
  if (dot.fold.length) {
    const visited = groupDots.find(({ uid }) => uid === opened.trace.steps[i]?.visit?.node);
    if (visited) return visited.label;
    const [first, last] = [groupDots[0], groupDots[groupDots.length - 1]].map(({ label }) => label);
    return `${first} … ${last} × ${groupDots.length}`;
  }
  if (dotsInLine.length === 1) return dot.label;
  if (dotsInLine.length > 2) return `${dotsInLine[0].label.split(" ")[0]} × ${dotsInLine.length}`;
  return dotsInLine.map(({ label }, k) => (k ? label.split(" ").slice(1).join(" ") : label)).join(", ");
}

/** The slots of a node as small squares in its line. */
function inlineSlotMarks({ plan, i }: LoomScene, dot: NodeDot) {
  return [...dot.slots.keys()].map((slot) => {
    const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
    const state = pin ? savedSlotStateAt(pin, i) : null;
    return {
      slot,
      state,
      title: `${slot} = ${pin ? savedTensorName(plan, pin) : ""} @ v${pin?.expected ?? "?"} ${state ?? ""}`,
    };
  });
}

/** By what name the reader knows what a slot keeps. */
function savedTensorName(plan: LoomPlan, pin: LoomPin) {
  return plan.handleRows.get(pin.tensor ?? "")?.name || plan.run.storageNames.get(pin.storage) || pin.storage;
}

function slotLineMarks(scene: LoomScene, dot: NodeDot, slot: string, y: number) {
  const { plan, i } = scene;
  const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
  const x = plan.graph.names;
  const state = pin && savedSlotStateAt(pin, i);
  const brokenSuffix = brokenSlotText(scene, state);
  return [
    rectMark(classNames("loom-slot", state), x - 1, y - 3, 6, 6, `square ${slot}`),
    textMark(
      classNames("loom-saved", state),
      x + 9,
      y + 3.5,
      slotLineText(plan, slot, pin, brokenSuffix),
      `slot ${slot}`,
    ),
  ];
}

/** What has become of a slot, in words where there is room for them. */
function brokenSlotText({ plan, labels }: LoomScene, state: string | undefined) {
  if (state === "broken") return plan.stacked ? " ✕" : ` ✕ ${labels.broken}`;
  if (state === "silent") return plan.stacked ? " ⚠" : ` ⚠ ${labels.bytes}`;
  return state === "released" && !plan.stacked ? `, ${labels.released}` : "";
}

/** `self = x @ v0, released`, as much of it as there is room for: what went wrong always, the name cut before that. */
function slotLineText(plan: LoomPlan, slot: string, pin: LoomPin | undefined, brokenSuffix: string) {
  const maxChars = Math.floor((plan.width - plan.graph.names - 12) / 6);
  if (plan.stacked || !pin) return truncateText(slot, Math.max(3, maxChars - brokenSuffix.length)) + brokenSuffix;
  const name = savedTensorName(plan, pin);
  const version = ` @ v${pin.expected ?? "?"}`;
  const maxNameChars = Math.min(14, maxChars - slot.length - 3 - version.length - brokenSuffix.length);
  if (maxNameChars >= Math.min(4, name.length))
    return `${slot} = ${truncateText(name, maxNameChars)}${version}${brokenSuffix}`;
  return truncateText(slot, Math.max(3, maxChars - version.length - brokenSuffix.length)) + version + brokenSuffix;
}

/** The gradient of the visit at step `k` as a chip, of as many numbers as there is room for. */
function gradientChipThatFits({ opened }: LoomScene, k: number, maxWidth: number) {
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return { texts: [], shown: [], widths: [], width: 0 };
  const { texts, shown, widths, width } = loomGradientChip(grad);
  if (width <= maxWidth || shown.length < 2) return { texts, shown, widths, width };
  const ellipsisWidth = 20;
  let n = 0;
  let fittingWidth = ellipsisWidth;
  while (n < shown.length - 1 && (n === 0 || fittingWidth + widths[n] <= maxWidth)) fittingWidth += widths[n++];
  return {
    texts: [...texts.slice(0, n), "…"],
    shown: shown.slice(0, n),
    widths: [...widths.slice(0, n), ellipsisWidth],
    width: fittingWidth,
  };
}

/** The gradient that reached a node at step `k`, as it was. It has to end at `right`. */
export function loomGradientMark(
  scene: LoomScene,
  k: number,
  x: number,
  y: number,
  isNow: boolean,
  right: number = Infinity,
) {
  const { opened } = scene;
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return [];
  const { texts, shown, widths, width } = gradientChipThatFits(scene, k, right - x);
  const largest = largestMagnitude(shown);
  let partX = x;
  const parts = texts.flatMap((text: string, n: number) => {
    const box = { x: partX, y: y - 9, w: widths[n], h: 18 };
    partX += box.w;
    return [
      valueTintMark(shown[n], largest, box, `wash ${n}`),
      textMark("loom-chip-text mid", box.x + box.w / 2, y + 3.6, text, `text ${n}`),
    ];
  });
  const attributes = {
    key: "grad",
    class: classNames("loom-chip", !isNow && "past"),
    "data-loom-grad": opened.trace.steps[k].visit?.node,
    "data-value": encodedValueJson(grad.cells ?? null),
  };
  return [
    h("g", attributes, [
      rectMark("loom-chip-ground", x, y - 9, width, 18, { key: "ground", rx: 3 }),
      ...parts,
      rectMark("loom-chip-frame", x, y - 9, width, 18, { key: "frame", rx: 3 }),
    ]),
  ];
}
