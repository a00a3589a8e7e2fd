/** Places for storages without a name, among the lines below the named ones: each keeps its own while steps touch it. */

import { addToList } from "../trace/multimap.ts";
import { IntervalSlots } from "./packing.ts";
import type { MemoryModel } from "./memory_step.ts";
import type { PlaceInterval } from "./memory_parts.ts";

/** @returns by storage */
export function namelessPlaces({
  opened,
  homes,
  history,
}: Pick<MemoryModel, "opened" | "homes" | "history">): Map<string, PlaceInterval[]> {
  const { index } = opened;
  const relatedUids = new Map<string, string[]>();
  for (const { uid, storage, counter } of index.placements.values()) {
    const key = storage ?? `none ${uid}`;
    addToList(relatedUids, key, uid);
    if (counter) addToList(relatedUids, key, counter);
  }
  const stays = [] as (PlaceInterval & { storage: string })[];
  for (const [uid, { kind }] of index.lifetimes)
    if (kind === "storage" && !relatedUids.has(uid)) relatedUids.set(uid, []);
  for (const [storage, uids] of relatedUids) {
    if (homes.handlesOfStorage.has(storage)) continue;
    const steps = new Set([storage, ...uids].flatMap((uid) => history.stepsByUid.get(uid) ?? []));
    const death = index.lifetimes.get(storage)?.death ?? index.lastStep;
    for (const stretch of consecutiveStretches([...steps].filter((step) => step <= death)))
      stays.push({ ...stretch, storage, place: 0 });
  }
  const slots = new IntervalSlots();
  const out = new Map<string, PlaceInterval[]>();
  for (const { from, to, storage } of stays.sort((a, b) => a.from - b.from))
    addToList(out, storage, { from, to, place: slots.allocate(from, to) });
  return out;
}

/** Steps one after the other as stretches. */
function consecutiveStretches(steps: number[]): { from: number; to: number }[] {
  const out = [] as { from: number; to: number }[];
  for (const step of steps.sort((a, b) => a - b)) {
    const last = out[out.length - 1];
    if (last && last.to === step - 1) last.to = step;
    else out.push({ from: step, to: step });
  }
  return out;
}
