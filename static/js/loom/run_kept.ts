/** What each column keeps for backward in a round, and until when: a bar from what ran to what let go. */

import { addToList } from "../trace/multimap.ts";
import type { ModuleColumn } from "./run_columns.ts";
import type { KeptBar, RunLayout } from "./run_plan.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { NetPlace } from "../nets/net_places.ts";

interface KeptBytes {
  place: NetPlace;
  bytes: number;
  birth: number;
  released: number | null;
}

const keepingsOfRun = new WeakMap<NetFacts, Map<number, KeptBytes[]>>();

/** By stretch, what each place keeps, that of the same steps together. */
function keepingsOf(facts: NetFacts): Map<number, KeptBytes[]> {
  let keepings = keepingsOfRun.get(facts);
  if (keepings) return keepings;
  keepings = new Map<number, KeptBytes[]>();
  const known = new Map<NetPlace, Map<string, KeptBytes>>();
  for (const [node, list] of facts.keptByNode) {
    let unit = facts.net.unitOfNode.get(node) ?? null;
    while (unit && !facts.net.placeOfUnit.has(unit)) unit = unit.parent;
    const place = unit && facts.net.placeOfUnit.get(unit);
    if (!place) continue;
    const ofPlace = known.get(place) ?? new Map<string, KeptBytes>();
    known.set(place, ofPlace);
    for (const { bytes, birth, released } of list) {
      if (!bytes) continue;
      const key = `${birth} ${released}`;
      const same = ofPlace.get(key);
      if (same) same.bytes += bytes;
      else {
        const keeping = { place, bytes, birth, released };
        ofPlace.set(key, keeping);
        addToList(keepings, facts.net.stretchOfStep[birth], keeping);
      }
    }
  }
  keepingsOfRun.set(facts, keepings);
  return keepings;
}

/** The bars of a stretch of the run; their heights are not known yet. */
export function keptBars(facts: NetFacts, { columnOf }: Pick<RunLayout, "columnOf">, stretch: number): KeptBar[] {
  const bars = new Map<ModuleColumn, KeptBar>();
  for (const { place, bytes, birth, released } of keepingsOf(facts).get(stretch) ?? []) {
    const column = columnOf.get(place);
    if (!column) continue;
    const bar = bars.get(column) ?? { key: `${stretch} ${column.key}`, column, pieces: [] };
    bars.set(column, bar);
    bar.pieces.push({ bytes, birth, released, from: 0, to: 0 });
  }
  return [...bars.values()];
}

/** Bytes that are kept after a step, and all until then. */
export function keptBytesAt({ pieces }: KeptBar, i: number): { kept: number; holds: number } {
  let [kept, holds] = [0, 0];
  for (const { bytes, birth, released } of pieces) {
    if (birth > i) continue;
    kept += bytes;
    if (released === null || released > i) holds += bytes;
  }
  return { kept, holds };
}
