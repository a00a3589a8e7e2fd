/** What a saved slot keeps, by the names that the reader has for it. */

import type { SavedSlot } from "../trace/trace_index.ts";
import type { RunFacts } from "./run_facts.ts";

/** The handle that a slot keeps: the tensor that was saved, else the node's own output, else whatever reads that
 * memory under a name, else what lived only in that step. */
export function savedHandle(facts: RunFacts, slot: SavedSlot): string | null {
  const { node, birth, storage, tensor } = slot;
  if (tensor && facts.nameText(tensor, birth)) return tensor;
  const readers = facts.index.handlesOfStorage(storage, birth);
  const outputs = facts.index.outputsOfNode(node, birth);
  const candidates = [...outputs.filter((uid) => readers.includes(uid)), ...readers];
  const results = facts.opsAt(birth).flatMap(({ outputs }) => outputs);
  const temporary = results.find((uid) => facts.scan.initialFields(uid)?.storage === storage);
  return candidates.find((uid) => facts.nameText(uid, birth)) ?? tensor ?? candidates[0] ?? temporary ?? null;
}

/** Whether a node saved its own result. */
export function isSlotOfOwnResult({ slot }: SavedSlot) {
  return slot === "result" || /^result\d*$|^output$|^grid$/.test(slot);
}
