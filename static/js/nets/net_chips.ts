/**
 * What stands in a row of a net: a word for each node that computes, a diamond for those that change a shape, a box for
 * each call.
 */

import { textWidth } from "../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../browser/svg.ts";
import { textMark, titleMark } from "../browser/shapes.ts";
import { changesShapeOnly, normText, operationLabel } from "./net_words.ts";
import type { NetFacts, CallSiteState } from "./net_state.ts";
import type { Translate } from "../words/sentences.ts";
import type { Invocation } from "./net_calls.ts";

interface ChipRoom {
  x: number;
  y: number;
  room: number;
  isBackward: boolean;
}

interface Chip {
  /** null: nodes that change a shape alone */
  word: string | null;
  nodes: string[];
}

const GAP = 3;
const BOX_WIDTH = 24;
/** As many boxes of calls as stand beside each other without one being left out. */
const MAX_BOXES = 8;

/** The nodes of a call in the order of forward; those of the step stay in sight. */
export function operationChipMarks(
  facts: NetFacts,
  invocation: Invocation | undefined,
  { x, y, room, i, isBackward }: ChipRoom & { i: number },
) {
  const chips = invocation ? operationChips(facts, invocation) : [];
  const visit = facts.opened.trace.steps[i]?.visit?.node;
  const now = chips.findIndex(({ nodes }) => nodes.includes(visit ?? ""));
  const end = x + room;
  const marks: VNode[] = [];
  let left = 0;
  const widthFrom = (from: number) =>
    chips
      .slice(from, now + 1)
      .reduce((sum, chip) => sum + chipWidth(chip) + GAP, from ? restWidth(chips.slice(0, from)) : 0) +
    (now + 1 < chips.length ? restWidth(chips.slice(now + 1)) : 0);
  while (now > left && widthFrom(left) > room) left += 1;
  let at = x;
  if (left) {
    marks.push(textMark("net-class", at, y + 4, restText(chips.slice(0, left))));
    at += restWidth(chips.slice(0, left));
  }
  for (const [k, chip] of chips.entries()) {
    if (k < left) continue;
    const width = chipWidth(chip);
    const after = chips.slice(k + 1);
    if (k > now && at + width + (after.length ? restWidth(after) : 0) > end) {
      marks.push(textMark("net-class", at, y + 4, restText(chips.slice(k))));
      at += restWidth(chips.slice(k));
      break;
    }
    marks.push(chipMark(facts, chip, { x: at, y, width, i, isNow: k === now, isBackward }));
    at += width + GAP;
  }
  return { marks, end: at };
}

/** The nodes that there is no room for. */
const restText = (chips: Chip[]) => `+${chips.reduce((sum, { nodes }) => sum + nodes.length, 0)}`;
const restWidth = (chips: Chip[]) => textWidth(restText(chips), 12) + 5;

function operationChips(facts: NetFacts, invocation: Invocation): Chip[] {
  const chips: Chip[] = [];
  for (const uid of facts.nodes(invocation)) {
    const name = facts.opened.index.nodes.get(uid)?.name ?? "";
    const last = chips.at(-1);
    if (!changesShapeOnly(name)) chips.push({ word: operationLabel(name), nodes: [uid] });
    else if (last?.word === null) last.nodes.push(uid);
    else chips.push({ word: null, nodes: [uid] });
  }
  return chips;
}

function chipWidth({ word, nodes }: Chip) {
  if (word === null) return nodes.length > 1 ? 13 + textWidth(String(nodes.length), 12) : 10;
  return textWidth(word, 12) + 14;
}

function chipMark(
  facts: NetFacts,
  { word, nodes }: Chip,
  {
    x,
    y,
    width,
    i,
    isNow,
    isBackward,
  }: { x: number; y: number; width: number; i: number; isNow: boolean; isBackward: boolean },
) {
  const isReturned = nodes.every((node) => facts.lastVisit(node, i) !== null);
  const isMade = nodes.every((node) => (facts.opened.index.lifetimes.get(node)?.birth ?? 0) <= i);
  const state = isNow ? "now" : isReturned ? "returned" : isMade && !isBackward ? "ran" : "";
  const title = titleMark(nodes.map((node) => facts.opened.index.nodes.get(node)?.name ?? "").join("\n"));
  if (word === null)
    return h("g", { class: classNames("net-chip shape", state) }, [
      h("path", { d: `M${x + 5} ${y - 5}l5 5l-5 5l-5 -5z` }),
      nodes.length > 1 ? h("text", { x: x + 13, y: y + 4 }, String(nodes.length)) : null,
      title,
    ]);
  return h("g", { class: classNames("net-chip", state) }, [
    h("rect", { x, y: y - 9, width, height: 18, rx: 9 }),
    h("text", { x: x + 7, y: y + 4 }, word),
    title,
  ]);
}

/** A box for each call, time to the right; of many the first, those around the one that is shown, and the last. */
export function callBoxes(
  facts: NetFacts,
  { calls, shown }: CallSiteState,
  { x, y, room, isBackward, say }: ChipRoom & { say: Translate },
): VNode[] {
  const fitting = Math.max(1, Math.min(MAX_BOXES, Math.floor((room + GAP) / (BOX_WIDTH + GAP))));
  const marks: VNode[] = [];
  let at = x;
  let before = -1;
  for (const k of chosenCalls(calls.length, shown, fitting, room)) {
    if (k > before + 1) {
      const text = `+${k - before - 1}`;
      marks.push(textMark("net-class", at, y + 4, text));
      at += textWidth(text, 12) + GAP;
    }
    before = k;
    const { hasBegun, visited, norm, isNow, invocation } = calls[k];
    const state = isNow ? "now" : visited ? "returned" : hasBegun && !isBackward ? "ran" : hasBegun ? "passed" : "";
    const call = say("net_call_of", { k: k + 1, n: calls.length });
    const title = norm === null ? call : `${call} · ${say("net_norm_is", { norm: normText(norm) })}`;
    const step = visited
      ? (facts.lastVisit(facts.outputNode(invocation) ?? "", facts.opened.count) ?? invocation.ends)
      : invocation.ends;
    marks.push(
      h("g", { class: classNames("net-call", state), target: { kind: "step", step } }, [
        h("rect", { x: at, y: y - 9, width: BOX_WIDTH, height: 18, rx: 4 }),
        h("text", { x: at + BOX_WIDTH / 2, y: y + 4 }, String(k + 1)),
        titleMark(title),
      ]),
    );
    at += BOX_WIDTH + GAP;
  }
  if (before < calls.length - 1) marks.push(textMark("net-class", at, y + 4, `+${calls.length - 1 - before}`));
  return marks;
}

/** `fitting` is the number of boxes that there is room for. */
function chosenCalls(count: number, shown: number, fitting: number, room: number): number[] {
  if (count <= fitting) return [...Array(count).keys()];
  let chosen: number[] = [];
  for (const k of [shown, count - 1, 0, shown - 1, shown + 1, 1, 2, shown - 2]) {
    if (k < 0 || k >= count || chosen.includes(k)) continue;
    const more = [...chosen, k].sort((a, b) => a - b);
    if (chosen.length && widthOfCalls(more, count) > room) break;
    chosen = more;
  }
  return chosen;
}

/** Of the boxes of some calls, with the numbers of those between them. */
function widthOfCalls(chosen: number[], count: number): number {
  let width = 0;
  for (const [j, k] of [...chosen, count].entries()) {
    const between = k - (chosen[j - 1] ?? -1) - 1;
    width += (between ? textWidth(`+${between}`, 12) + GAP : 0) + (k < count ? BOX_WIDTH + GAP : 0);
  }
  return width;
}
