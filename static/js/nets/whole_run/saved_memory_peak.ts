/** What keeps how much for backward at the moment of a run at which most is kept. */

import { savedMemoryByNode, type SavedMemory } from "../../findings/account/saved_memory.ts";
import type { OpenTrace } from "../../trace/state.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

/** By node, the bytes that are booked to it then. */
export const savedBytesAtPeakOf = weakMemoize((opened: OpenTrace) => bytesAtPeak(savedMemoryByNode(opened)));

function bytesAtPeak(kept: Map<string, SavedMemory[]>): Map<string, number> {
  const changes = new Map<number, number>();
  const add = (step: number, bytes: number) => changes.set(step, (changes.get(step) ?? 0) + bytes);
  for (const spans of kept.values())
    for (const { bytes, birth, released } of spans) {
      add(birth, bytes);
      if (released !== null) add(released, -bytes);
    }
  let [now, most, at] = [0, 0, -1];
  for (const [step, bytes] of [...changes].sort(([a], [b]) => a - b)) {
    now += bytes;
    if (now > most) [most, at] = [now, step];
  }
  const byNode = new Map<string, number>();
  for (const [node, spans] of kept) {
    const there = spans.filter(({ birth, released }) => birth <= at && (released === null || released > at));
    const bytes = there.reduce((sum, span) => sum + span.bytes, 0);
    if (bytes) byNode.set(node, bytes);
  }
  return byNode;
}
