/** Places for storages without a name, among the lines below the named ones: each keeps its own while steps touch it. */

import { addToList } from "../trace/multimap.js";
import { Slots } from "./packing.js";

/** @typedef {import("./memory_step.js").MemoryModel} MemoryModel */
/** @typedef {{from: number, to: number, place: number}} PlaceStay   steps, both included */

/** @param {Pick<MemoryModel, "opened" | "homes" | "history">} model @returns {Map<string, PlaceStay[]>} by storage */
export function namelessPlaces({ opened, homes, history }) {
  const { index } = opened;
  const relatedUids = /** @type {Map<string, string[]>} */ (new Map());
  for (const { uid, storage, counter } of index.placements.values()) {
    const key = storage ?? `none ${uid}`;
    addToList(relatedUids, key, uid);
    if (counter) addToList(relatedUids, key, counter);
  }
  const stays = /** @type {(PlaceStay & {storage: string})[]} */ ([]);
  for (const [uid, { kind }] of index.lives) if (kind === "storage" && !relatedUids.has(uid)) relatedUids.set(uid, []);
  for (const [storage, uids] of relatedUids) {
    if (homes.handlesOfStorage.has(storage)) continue;
    const steps = new Set([storage, ...uids].flatMap((uid) => history.steps.get(uid) ?? []));
    const death = index.lives.get(storage)?.death ?? index.end;
    for (const stretch of stretchesOf([...steps].filter((step) => step <= death)))
      stays.push({ ...stretch, storage, place: 0 });
  }
  const slots = new Slots();
  const out = /** @type {Map<string, PlaceStay[]>} */ (new Map());
  for (const { from, to, storage } of stays.sort((a, b) => a.from - b.from))
    addToList(out, storage, { from, to, place: slots.allocate(from, to) });
  return out;
}

/** Steps one after the other as stretches. @param {number[]} steps @returns {{from: number, to: number}[]} */
function stretchesOf(steps) {
  const out = /** @type {{from: number, to: number}[]} */ ([]);
  for (const step of steps.sort((a, b) => a - b)) {
    const last = out[out.length - 1];
    if (last && last.to === step - 1) last.to = step;
    else out.push({ from: step, to: step });
  }
  return out;
}
