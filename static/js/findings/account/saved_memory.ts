/**
 * What is kept for backward, and by whom: every memory is booked once, to the node that saved it first, until the last
 * node that saved it lets go. The memory of parameters is theirs, and booked to nobody.
 */

import { addToList } from "../../trace/multimap.ts";
import type { OpenTrace } from "../../trace/state.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

/** released: the step after which nothing keeps it any more; null where something does until the end */
export interface SavedMemory {
  storage: string;
  node: string;
  bytes: number;
  birth: number;
  released: number | null;
}

type SavedSpan = Pick<SavedMemory, "bytes" | "birth" | "released">;

/** What each node keeps, booked once for a trace. */
export const savedMemoryByNode = weakMemoize((opened: OpenTrace): Map<string, SavedMemory[]> => {
  const kept = new Map<string, SavedMemory[]>();
  for (const memory of savedMemory(opened)) addToList(kept, memory.node, memory);
  return kept;
});

function savedMemory(opened: OpenTrace): SavedMemory[] {
  const { sizes, outerStorage, ofParameters } = storagesOf(opened);
  const { pins, slots, lastStep } = opened.index;
  const depthOf = depthInGraph(opened);
  const savings = new Map<string, Pick<SavedMemory, "node" | "birth" | "released">[]>();
  for (const { node, slot, storage: inner, birth, death } of pins.values()) {
    const storage = outerStorage(inner);
    const released = death < lastStep ? death + 1 : (slots.get(`${node}:${slot}`)?.released ?? null);
    if (!ofParameters.has(storage)) addToList(savings, storage, { node, birth, released });
  }
  return [...savings].flatMap(([storage, ofStorage]) => {
    const booked: SavedMemory[] = [];
    for (const { node, birth, released } of ofStorage.sort(
      (a, b) => a.birth - b.birth || depthOf(a.node) - depthOf(b.node),
    )) {
      if (released !== null && released <= birth) continue;
      const last = booked.at(-1);
      if (!last || (last.released !== null && last.released < birth))
        booked.push({ storage, node, bytes: sizes.get(storage) ?? 0, birth, released });
      else if (last.released !== null) last.released = released === null ? null : Math.max(last.released, released);
    }
    return booked;
  });
}

/** How far a node is from the leaves: of two on one way, the one that ran first is nearer. */
function depthInGraph({ index }: OpenTrace): (node: string) => number {
  const depths = new Map<string, number>();
  const opened = new Set<string>();
  return (node) => {
    const pending = depths.has(node) ? [] : [node];
    while (pending.length) {
      const uid = pending[pending.length - 1];
      const next = (index.nodes.get(uid)?.next ?? []).flatMap((edge) => (edge ? [edge[0]] : []));
      const missing = next.filter((other) => !depths.has(other) && other !== uid);
      if (missing.length && !opened.has(uid)) {
        opened.add(uid);
        pending.push(...missing);
      } else depths.set(pending.pop() as string, 1 + Math.max(0, ...next.map((other) => depths.get(other) ?? 0)));
    }
    return depths.get(node) ?? 0;
  };
}

function storagesOf({ trace }: OpenTrace) {
  const sizes = new Map<string, number>();
  const within = new Map<string, string>();
  const parameters = new Set<string>();
  for (const { set } of trace.steps)
    for (const [uid, fields] of Object.entries(set ?? {})) {
      if (typeof fields.nbytes === "number" && !sizes.has(uid)) sizes.set(uid, fields.nbytes);
      if (fields.within && typeof fields.within === "object") within.set(uid, fields.within.storage);
      if (fields.type?.endsWith("Parameter") && fields.storage) parameters.add(fields.storage);
    }
  const outerStorage = (uid: string): string => {
    const outer = within.get(uid);
    return outer && outer !== uid ? outerStorage(outer) : uid;
  };
  return { sizes, outerStorage, ofParameters: new Set([...parameters].map(outerStorage)) };
}

/** Bytes that were kept until a step, those of them that are kept after it, and whether it let go of any. */
export function savedBytesAt(
  spans: Iterable<SavedSpan>,
  step: number,
): { kept: number; holds: number; letGoNow: boolean } {
  let [kept, holds, letGoNow] = [0, 0, false];
  for (const { bytes, birth, released } of spans) {
    if (birth > step) continue;
    kept += bytes;
    if (released === null || released > step) holds += bytes;
    if (released === step && bytes) letGoNow = true;
  }
  return { kept, holds, letGoNow };
}

/** Bytes that are kept at the same time, at most. */
export function peakSavedBytes(spans: SavedSpan[]): number {
  const changes = spans.flatMap(({ bytes, birth, released }) => [
    { step: birth, bytes },
    { step: released ?? Infinity, bytes: -bytes },
  ]);
  let [now, most] = [0, 0];
  for (const { bytes } of changes.sort((a, b) => a.step - b.step || a.bytes - b.bytes)) {
    now += bytes;
    most = Math.max(most, now);
  }
  return most;
}
