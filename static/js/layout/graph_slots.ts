/** What a node saved, as chips: the slot's name, whose value it keeps, the version it expects, and what is wrong with it. */

import { findEntity } from "../trace/entities.ts";
import { BROKEN_SLOT_STATES } from "../trace/trace_index.ts";
import { HIDDEN_LEAF_COUNT_WIDTH } from "./graph_docks.ts";
import { shortValueText } from "./format.ts";
import { textWidth } from "./metrics.ts";
import { lastPathParts } from "./node_labels.ts";
import type { Node, Slot } from "../trace/wire.ts";
import type { GraphStep } from "./graph_step.ts";
import type { LineRoom } from "./line_room.ts";
import type { GraphRow } from "./graph_places.ts";

export const SLOT_FONT_SIZE = 9.5;
/** The room of a slot without words. */
const SLOT_DOT_WIDTH = 10;
/** The least room of a slot in words. */
const MIN_SLOT_WIDTH = 20;
/** The room of how many slots have none. */
export const HIDDEN_SLOT_COUNT_WIDTH = 24;
/** Longer names are told by their ends. */
const MAX_SLOT_NAME_LENGTH = 12;

/** @returns head: all but the version that its storage has by now, which is given where backward will refuse it */
function savedSlotText(
  graphStep: GraphStep,
  slot: string,
  saved: Slot,
  state: string,
): { head: string; now: number | null; width: number } {
  if (state === "freed") return { head: slot, now: null, width: slotChipWidth(slot) };
  if (saved.value != null) {
    const numberText = `${slot} = ${shortValueText(saved.value, MAX_SLOT_NAME_LENGTH)}`;
    return { head: numberText, now: null, width: slotChipWidth(numberText) };
  }
  const tensorName = saved.tensor ? graphStep.tensorName(saved.tensor) : null;
  const valueName =
    tensorName ?? graphStep.firstNameByStorage.get(saved.storage ?? "") ?? saved.storage ?? saved.tensor ?? "";
  const version = typeof saved.expected === "number" ? `@v${saved.expected}` : "";
  const value = findEntity(graphStep.entities, saved.counter, "counter")?.value;
  const currentVersion = state === "stale" && typeof value === "number" ? value : null;
  const suffix = state === "changed" ? " ≠" : state === "ok" || state === "stale" ? "" : ` ${state}`;
  const shortName = valueName.length > MAX_SLOT_NAME_LENGTH ? lastPathParts(valueName) : valueName;
  const headText = `${slot} ${shortName}${version}${suffix}`.replace(" @", "@").trimEnd();
  return {
    head: headText,
    now: currentVersion,
    width: slotChipWidth(currentVersion === null ? headText : `${headText}, now v${currentVersion} `),
  };
}

function slotChipWidth(text: string) {
  return Math.ceil(textWidth(text, SLOT_FONT_SIZE)) + 12;
}

/** Chips of what a node saved: in words where there is room, else as dots; what is broken or news is always in
 * words. */
export function addSavedSlots(graphStep: GraphStep, row: GraphRow, node: Node, line: LineRoom) {
  const isSlim = row.level === "slim";
  const lineRight = line.right;
  if (row.block.docks.length && isSlim) line.right -= HIDDEN_LEAF_COUNT_WIDTH;
  const entries = Object.entries(node.saved ?? {}).map(([slot, saved]) => {
    const key = `${row.uid}:${slot}`;
    const state = saved.state === "freed" || node.released ? "freed" : saved.state;
    const isAlwaysInWords = BROKEN_SLOT_STATES.has(state) || (graphStep.slotsInEvents.has(key) && state !== "freed");
    return { slot, saved, state, key, words: isAlwaysInWords, text: savedSlotText(graphStep, slot, saved, state) };
  });
  let spareWidth =
    line.widthLeft - entries.reduce((sum, { words, text }) => sum + (words ? text.width + 4 : SLOT_DOT_WIDTH), 0);
  for (const entry of entries) {
    const extraWidth = entry.text.width + 4 - SLOT_DOT_WIDTH;
    if (isSlim || entry.words || extraWidth > spareWidth) continue;
    entry.words = true;
    spareWidth -= extraWidth;
  }
  const isShort = spareWidth < 0;
  if (isShort) [spareWidth, line.right] = [spareWidth - HIDDEN_SLOT_COUNT_WIDTH, line.right - HIDDEN_SLOT_COUNT_WIDTH];
  const hidden: string[] = [];
  for (const { slot, saved, state, key, words, text } of entries) {
    if ((!words && spareWidth < 0) || line.widthLeft < 8) {
      if (!words) spareWidth += SLOT_DOT_WIDTH;
      hidden.push(key);
      continue;
    }
    const isDot = !words || line.widthLeft < MIN_SLOT_WIDTH;
    const { x, y, w, h } = isDot
      ? line.takeRectFromLeft(7, 7, 3)
      : line.takeRectFromLeft(Math.min(text.width, line.widthLeft), 16);
    row.slots.push({ x, y, w, h, slot, saved, state, key, head: text.head, now: text.now, dot: isDot });
  }
  line.right = lineRight;
  if (!hidden.length) return;
  line.x = Math.min(line.x, lineRight - HIDDEN_SLOT_COUNT_WIDTH + 4);
  row.moreSlots = { ...line.takeRectFromLeft(HIDDEN_SLOT_COUNT_WIDTH - 4, 14), keys: hidden };
}
