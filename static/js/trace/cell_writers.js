/** Who wrote a cell: the step at which an element last became what it is. */

import { sameValue } from "./entities.js";

/** @typedef {import("./entities.js").Cell} Cell */
/** @typedef {import("./entities.js").Entity} Entity */

/**
 * The last step up to `from` that changed an element of a storage, its allocation included; -1 where none did.
 * @param {import("./state.js").OpenTrace} opened @param {string} storageUid @param {number} index
 * @param {string} dtype under which the element is counted @param {number} from
 */
export function lastWriteStep(opened, storageUid, index, dtype, from) {
  const writes = opened.index.writes.get(storageUid) ?? [];
  for (let k = writes.findLastIndex((step) => step <= from); k >= 0; k--) {
    const i = writes[k];
    const before = opened.state(i - 1).get(storageUid);
    if (!before) return i;
    const patch = opened.trace.steps[i].set[storageUid]?.cells_at?.[dtype];
    if (patch) {
      if (String(index) in patch) return i;
      continue;
    }
    if (!sameValue(cellValue(before, dtype, index), cellValue(opened.state(i).get(storageUid), dtype, index))) return i;
  }
  return -1;
}

/** Where a click on a cell leads: to the step that made it what it is; from that step, to the one before. -1 where there is none.
 * @param {import("./state.js").OpenTrace} opened @param {string} storageUid @param {number} index @param {string} dtype @param {number} step */
export function previousWriteStep(opened, storageUid, index, dtype, step) {
  const lastStep = lastWriteStep(opened, storageUid, index, dtype, step);
  return lastStep === step ? lastWriteStep(opened, storageUid, index, dtype, step - 1) : lastStep;
}

/** The value of an element that is listed, in whole or in a window.
 * @param {Entity | undefined} storage @param {string} dtype @param {number} index @returns {Cell | undefined} */
function cellValue(storage, dtype, index) {
  if (storage?.kind !== "storage") return undefined;
  if (storage.cells?.[dtype]) return storage.cells[dtype][index];
  for (const [from, values] of storage.windows?.[dtype] ?? [])
    if (index >= from && index < from + values.length) return values[index - from];
  return undefined;
}
