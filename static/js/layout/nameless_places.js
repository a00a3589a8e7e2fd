/** Places for storages without a name, among the lines below the named ones: each keeps its own while steps touch it. */

import { addToList } from "../multimap.js";
import { Slots } from "./packing.js";

/** @typedef {import("./memory_step.js").MemoryModel} MemoryModel */
/** @typedef {{from: number, to: number, place: number}} Stay   steps, both included */

/** @param {Pick<MemoryModel, "opened" | "homes" | "history">} model @returns {Map<string, Stay[]>} by storage */
export function namelessPlaces({ opened, homes, history }) {
  const { index } = opened;
  const related = /** @type {Map<string, string[]>} */ (new Map());
  for (const { uid, storage, counter } of index.placements.values()) {
    const key = storage ?? `none ${uid}`;
    addToList(related, key, uid);
    if (counter) addToList(related, key, counter);
  }
  const runs = /** @type {(Stay & {storage: string})[]} */ ([]);
  for (const [uid, { kind }] of index.lives) if (kind === "storage" && !related.has(uid)) related.set(uid, []);
  for (const [storage, uids] of related) {
    if (homes.named.has(storage)) continue;
    const steps = new Set([storage, ...uids].flatMap((uid) => history.steps.get(uid) ?? []));
    const death = index.lives.get(storage)?.death ?? index.end;
    for (const run of stretchesOf([...steps].filter((step) => step <= death))) runs.push({ ...run, storage, place: 0 });
  }
  const places = new Slots();
  const out = /** @type {Map<string, Stay[]>} */ (new Map());
  for (const { from, to, storage } of runs.sort((a, b) => a.from - b.from))
    addToList(out, storage, { from, to, place: places.allocate(from, to) });
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
