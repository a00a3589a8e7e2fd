/** What a node saved, as chips: whose value it keeps, under the program's name for it, and what is wrong with it. */

import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { savedSlotTexts, type SavedSlotText } from "./saved_slot_texts.ts";
import { GRAPH_WORD_FONT_SIZE } from "./graph_sizes.ts";
import { textWidth } from "../text/metrics.ts";
import type { GraphStep } from "./graph_step.ts";
import type { LineRoom } from "../line_room.ts";
import type { NodePlace } from "./graph_places.ts";

/** The room of a slot without words. */
const SLOT_DOT_WIDTH = 10;
/** The least room of a slot in words. */
const MIN_SLOT_WIDTH = 20;
/** The room of how many slots have none. */
export const HIDDEN_SLOT_COUNT_WIDTH = 28;
/** What is said before a name, and instead of one that is broken, in characters: as long as it is in most languages. */
const LEADING_WORD_LENGTH = 6;
const BROKEN_WORDS_LENGTH = { stale: 24, changed: 10 };
/** The least room of a broken one beside others. */
const MIN_BROKEN_SLOT_WIDTH = 64;

function slotChipWidth({ said, now, state }: SavedSlotText) {
  const leading = state === "ok" ? LEADING_WORD_LENGTH : 0;
  const broken =
    now === null && !BROKEN_SLOT_STATES.has(state as "stale")
      ? 0
      : state === "changed"
        ? BROKEN_WORDS_LENGTH.changed
        : BROKEN_WORDS_LENGTH.stale;
  return Math.ceil(textWidth("0", GRAPH_WORD_FONT_SIZE) * (said.length + leading + broken)) + 12;
}

/** Chips of what a node saved: in words where there is room, else as dots; what is broken or news is always in
 * words. */
export function addSavedSlots(graphStep: GraphStep, row: NodePlace, line: LineRoom, height: number) {
  const lineRight = line.right;
  const entries = savedSlotTexts(graphStep, row.uid).map((kept) => {
    const key = `${row.uid}:${kept.slot}`;
    const isNews = graphStep.slotsInEvents.has(key) && kept.state !== "freed";
    return { ...kept, key, words: BROKEN_SLOT_STATES.has(kept.state as "stale") || isNews, width: slotChipWidth(kept) };
  });
  let spareWidth =
    line.widthLeft - entries.reduce((sum, { words, width }) => sum + (words ? width + 4 : SLOT_DOT_WIDTH), 0);
  for (const entry of entries) {
    const extraWidth = entry.width + 4 - SLOT_DOT_WIDTH;
    if (entry.words || !entry.known || extraWidth > spareWidth) continue;
    entry.words = true;
    spareWidth -= extraWidth;
  }
  const isShort = spareWidth < 0;
  if (isShort) [spareWidth, line.right] = [spareWidth - HIDDEN_SLOT_COUNT_WIDTH, line.right - HIDDEN_SLOT_COUNT_WIDTH];
  const hidden: string[] = [];
  let brokenLeft = entries.filter(({ state }) => BROKEN_SLOT_STATES.has(state as "stale")).length;
  for (const { slot, saved, state, key, words, text, now, width } of entries) {
    if (BROKEN_SLOT_STATES.has(state as "stale")) brokenLeft -= 1;
    const room = line.widthLeft - brokenLeft * MIN_BROKEN_SLOT_WIDTH;
    if ((!words && spareWidth < 0) || line.widthLeft < 8) {
      if (!words) spareWidth += SLOT_DOT_WIDTH;
      hidden.push(key);
      continue;
    }
    const isDot = !words || line.widthLeft < MIN_SLOT_WIDTH;
    const { x, y, w, h } = isDot
      ? line.takeRectFromLeft(7, 7, 3)
      : line.takeRectFromLeft(Math.min(width, Math.max(MIN_SLOT_WIDTH, room)), height);
    row.slots.push({ x, y, w, h, slot, saved, state, key, head: text, now, dot: isDot });
  }
  line.right = lineRight;
  if (!hidden.length) return;
  const overlap = line.x - (lineRight - HIDDEN_SLOT_COUNT_WIDTH + 4);
  if (overlap > 0) {
    line.x -= overlap;
    if (!row.slots.length && row.w > 2 * overlap) {
      // a long name gives up some letters, so that the count has room beside it
      row.w -= overlap;
      if (row.tag) row.tag.x -= overlap;
    }
  }
  row.moreSlots = { ...line.takeRectFromLeft(HIDDEN_SLOT_COUNT_WIDTH - 4, 18), keys: hidden };
}
