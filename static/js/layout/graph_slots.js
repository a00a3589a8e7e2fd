/** What a node saved, as chips: the slot's name, whose value it keeps, the version it expects, and what is wrong with it. */

import { find } from "../entities.js";
import { ALARMS } from "../trace_index.js";
import { HIDDEN_COUNT_WIDTH } from "./graph_docks.js";
import { textWidth } from "./metrics.js";
import { pathEnd } from "./node_labels.js";

/** @typedef {import("./graph_step.js").GraphStep} GraphStep */
/** @typedef {import("./graph_row.js").Row} Row */
/** @typedef {import("../entities.js").Slot} Slot */

export const SLOT_FONT = 9.5;
/** The room of a slot without words. */
const DOT_WIDTH = 10;
/** The least room of a slot in words. */
const MIN_SLOT_WIDTH = 20;
/** The room of how many slots have none. */
export const HIDDEN_SLOTS_WIDTH = 24;
/** Longer names are told by their ends. */
const LONG_NAME = 12;

/**
 * @param {GraphStep} graphStep @param {string} slot @param {Slot} saved
 * @param {string} state @returns {{head: string, now: number | null, width: number}} head: all but the version that its
 *   storage has by now, which is given where backward will refuse it
 */
function slotText(graphStep, slot, saved, state) {
  if (state === "freed") return { head: slot, now: null, width: chipWidth(slot) };
  const own = saved.tensor ? graphStep.nameOf(saved.tensor) : null;
  const where = own ?? graphStep.keepers.get(saved.storage ?? "") ?? saved.storage ?? saved.tensor ?? "";
  const version = typeof saved.expected === "number" ? `@v${saved.expected}` : "";
  const value = find(graphStep.entities, saved.counter, "counter")?.value;
  const now = state === "stale" && typeof value === "number" ? value : null;
  const suffix = state === "changed" ? " ≠" : state === "ok" || state === "stale" ? "" : ` ${state}`;
  const short = where.length > LONG_NAME ? pathEnd(where) : where;
  const head = `${slot} ${short}${version}${suffix}`.replace(" @", "@").trimEnd();
  return { head, now, width: chipWidth(now === null ? head : `${head}, now v${now} `) };
}

/** @param {string} text */
function chipWidth(text) {
  return Math.ceil(textWidth(text, SLOT_FONT)) + 12;
}

/** Chips of what a node saved: in words where there is room, else as dots; what is broken or news is always in words.
 * @param {GraphStep} graphStep @param {Row} row @param {import("../entities.js").Node} node
 * @param {import("./line_room.js").LineRoom} line */
export function addSlots(graphStep, row, node, line) {
  const slim = row.level === "slim";
  const right = line.right;
  if (row.block.docks.length && slim) line.right -= HIDDEN_COUNT_WIDTH;
  const entries = Object.entries(node.saved ?? {}).map(([slot, saved]) => {
    const key = `${row.uid}:${slot}`;
    const state = saved.state === "freed" || node.released ? "freed" : saved.state;
    const loud = ALARMS.has(state) || (graphStep.news.has(key) && state !== "freed");
    return { slot, saved, state, key, words: loud, text: slotText(graphStep, slot, saved, state) };
  });
  let spare = line.left - entries.reduce((sum, { words, text }) => sum + (words ? text.width + 4 : DOT_WIDTH), 0);
  for (const entry of entries) {
    const more = entry.text.width + 4 - DOT_WIDTH;
    if (slim || entry.words || more > spare) continue;
    entry.words = true;
    spare -= more;
  }
  const short = spare < 0;
  if (short) [spare, line.right] = [spare - HIDDEN_SLOTS_WIDTH, line.right - HIDDEN_SLOTS_WIDTH];
  /** @type {string[]} */
  const hidden = [];
  for (const { slot, saved, state, key, words, text } of entries) {
    if ((!words && spare < 0) || line.left < 8) {
      if (!words) spare += DOT_WIDTH;
      hidden.push(key);
      continue;
    }
    const dot = !words || line.left < MIN_SLOT_WIDTH;
    const { x, y, w, h } = dot ? line.take(7, 7, 3) : line.take(Math.min(text.width, line.left), 16);
    row.slots.push({ x, y, w, h, slot, saved, state, key, head: text.head, now: text.now, dot });
  }
  line.right = right;
  if (!hidden.length) return;
  line.x = Math.min(line.x, right - HIDDEN_SLOTS_WIDTH + 4);
  row.moreSlots = { ...line.take(HIDDEN_SLOTS_WIDTH - 4, 14), keys: hidden };
}
