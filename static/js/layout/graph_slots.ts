/** What a node saved, as chips: the slot's name, whose value it keeps, the version it expects, and what is wrong with it. */

import { find } from "../trace/entities.ts";
import { BROKEN_STATES } from "../trace/trace_index.ts";
import { HIDDEN_COUNT_WIDTH } from "./graph_docks.ts";
import { valueText } from "./format.ts";
import { textWidth } from "./metrics.ts";
import { pathEnd } from "./node_labels.ts";
import type { Node, Slot } from "../trace/wire.ts";
import type { GraphStep } from "./graph_step.ts";
import type { LineRoom } from "./line_room.ts";
import type { Row } from "./graph_places.ts";

export const SLOT_FONT = 9.5;
/** The room of a slot without words. */
const DOT_WIDTH = 10;
/** The least room of a slot in words. */
const MIN_SLOT_WIDTH = 20;
/** The room of how many slots have none. */
export const HIDDEN_SLOTS_WIDTH = 24;
/** Longer names are told by their ends. */
const MAX_NAME_LENGTH = 12;

/** @returns head: all but the version that its storage has by now, which is given where backward will refuse it */
function slotText(
  graphStep: GraphStep,
  slot: string,
  saved: Slot,
  state: string,
): { head: string; now: number | null; width: number } {
  if (state === "freed") return { head: slot, now: null, width: chipWidth(slot) };
  if (saved.value != null) {
    const numberText = `${slot} = ${valueText(saved.value, MAX_NAME_LENGTH)}`;
    return { head: numberText, now: null, width: chipWidth(numberText) };
  }
  const tensorName = saved.tensor ? graphStep.nameOf(saved.tensor) : null;
  const valueName = tensorName ?? graphStep.keepers.get(saved.storage ?? "") ?? saved.storage ?? saved.tensor ?? "";
  const version = typeof saved.expected === "number" ? `@v${saved.expected}` : "";
  const value = find(graphStep.entities, saved.counter, "counter")?.value;
  const currentVersion = state === "stale" && typeof value === "number" ? value : null;
  const suffix = state === "changed" ? " ≠" : state === "ok" || state === "stale" ? "" : ` ${state}`;
  const shortName = valueName.length > MAX_NAME_LENGTH ? pathEnd(valueName) : valueName;
  const headText = `${slot} ${shortName}${version}${suffix}`.replace(" @", "@").trimEnd();
  return {
    head: headText,
    now: currentVersion,
    width: chipWidth(currentVersion === null ? headText : `${headText}, now v${currentVersion} `),
  };
}

function chipWidth(text: string) {
  return Math.ceil(textWidth(text, SLOT_FONT)) + 12;
}

/** Chips of what a node saved: in words where there is room, else as dots; what is broken or news is always in
 * words. */
export function addSlots(graphStep: GraphStep, row: Row, node: Node, line: LineRoom) {
  const isSlim = row.level === "slim";
  const lineRight = line.right;
  if (row.block.docks.length && isSlim) line.right -= HIDDEN_COUNT_WIDTH;
  const entries = Object.entries(node.saved ?? {}).map(([slot, saved]) => {
    const key = `${row.uid}:${slot}`;
    const state = saved.state === "freed" || node.released ? "freed" : saved.state;
    const isAlwaysInWords = BROKEN_STATES.has(state) || (graphStep.news.has(key) && state !== "freed");
    return { slot, saved, state, key, words: isAlwaysInWords, text: slotText(graphStep, slot, saved, state) };
  });
  let spareWidth = line.left - entries.reduce((sum, { words, text }) => sum + (words ? text.width + 4 : DOT_WIDTH), 0);
  for (const entry of entries) {
    const extraWidth = entry.text.width + 4 - DOT_WIDTH;
    if (isSlim || entry.words || extraWidth > spareWidth) continue;
    entry.words = true;
    spareWidth -= extraWidth;
  }
  const isShort = spareWidth < 0;
  if (isShort) [spareWidth, line.right] = [spareWidth - HIDDEN_SLOTS_WIDTH, line.right - HIDDEN_SLOTS_WIDTH];
  const hidden: string[] = [];
  for (const { slot, saved, state, key, words, text } of entries) {
    if ((!words && spareWidth < 0) || line.left < 8) {
      if (!words) spareWidth += DOT_WIDTH;
      hidden.push(key);
      continue;
    }
    const isDot = !words || line.left < MIN_SLOT_WIDTH;
    const { x, y, w, h } = isDot ? line.takeRect(7, 7, 3) : line.takeRect(Math.min(text.width, line.left), 16);
    row.slots.push({ x, y, w, h, slot, saved, state, key, head: text.head, now: text.now, dot: isDot });
  }
  line.right = lineRight;
  if (!hidden.length) return;
  line.x = Math.min(line.x, lineRight - HIDDEN_SLOTS_WIDTH + 4);
  row.moreSlots = { ...line.takeRect(HIDDEN_SLOTS_WIDTH - 4, 14), keys: hidden };
}
