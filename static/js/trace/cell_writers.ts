/** Who wrote a cell: the step at which an element last became what it is. */

import { isSameValue, type Cell, type Entity } from "./entities.ts";
import type { OpenTrace } from "./state.ts";

/**
 * The last step up to `from` that changed an element of a storage, its allocation included; -1 where none did. The
 * element is counted under `dtype`.
 */
export function lastWriteStep(opened: OpenTrace, storageUid: string, index: number, dtype: string, from: number) {
  const writes = opened.index.writeStepsByStorage.get(storageUid) ?? [];
  for (let k = writes.findLastIndex((step) => step <= from); k >= 0; k--) {
    const i = writes[k];
    const before = opened.state(i - 1).get(storageUid);
    if (!before) return i;
    const patch = opened.trace.steps[i].set[storageUid]?.cells_at?.[dtype];
    if (patch) {
      if (String(index) in patch) return i;
      continue;
    }
    if (
      !isSameValue(
        listedCellValue(before, dtype, index),
        listedCellValue(opened.state(i).get(storageUid), dtype, index),
      )
    )
      return i;
  }
  return -1;
}

/** Where a click on a cell leads: to the step that made it what it is; from that step, to the one before. -1 where
 * there is none. */
export function stepOfCellClick(opened: OpenTrace, storageUid: string, index: number, dtype: string, step: number) {
  const lastStep = lastWriteStep(opened, storageUid, index, dtype, step);
  return lastStep === step ? lastWriteStep(opened, storageUid, index, dtype, step - 1) : lastStep;
}

/** The value of an element that is listed, in whole or in a window. */
function listedCellValue(storage: Entity | undefined, dtype: string, index: number): Cell | undefined {
  if (storage?.kind !== "storage") return undefined;
  if (storage.cells?.[dtype]) return storage.cells[dtype][index];
  for (const [from, values] of storage.windows?.[dtype] ?? [])
    if (index >= from && index < from + values.length) return values[index - from];
  return undefined;
}
