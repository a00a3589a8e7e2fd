/** What a saved slot's chip says: the slot's name, whose value it keeps, the version it expects, and what is wrong with it. */

import { find } from "../entities.js";
import { textWidth } from "./metrics.js";

export const SLOT_FONT = 9.5;

/**
 * @param {import("./graph_step.js").GraphStep} step @param {string} slot @param {import("../entities.js").Slot} saved
 * @param {string} state @returns {{head: string, now: number | null, width: number}} head: all but the version that its
 *   storage has by now, which is given where backward will refuse it
 */
export function slotText(step, slot, saved, state) {
  if (state === "freed") return { head: slot, now: null, width: chipWidth(slot) };
  const own = saved.tensor ? step.nameOf(saved.tensor) : null;
  const where = own ?? step.keepers.get(saved.storage ?? "") ?? saved.storage ?? saved.tensor ?? "";
  const version = typeof saved.expected === "number" ? `@v${saved.expected}` : "";
  const value = find(step.entities, saved.counter, "counter")?.value;
  const now = state === "stale" && typeof value === "number" ? value : null;
  const suffix = state === "changed" ? " ≠" : state === "ok" || state === "stale" ? "" : ` ${state}`;
  const head = `${slot} ${where}${version}${suffix}`.replace(" @", "@").trimEnd();
  return { head, now, width: chipWidth(now === null ? head : `${head}, now v${now} `) };
}

/** @param {string} text */
function chipWidth(text) {
  return Math.ceil(textWidth(text, SLOT_FONT)) + 12;
}
