/** Who wrote a cell: the step at which an element last became what it is. */

/**
 * The last step up to `from` that changed an element of a storage, its allocation included; -1 where none did.
 * @param {import("./state.js").OpenTrace} opened @param {string} storage @param {number} index
 * @param {string} dtype under which the element is counted @param {number} from
 */
export function lastWrite(opened, storage, index, dtype, from) {
  for (let i = Math.min(from, opened.count - 1); i >= 0; i--) {
    const fields = opened.trace.steps[i].set?.[storage];
    if (!fields) continue;
    if (fields.kind === "storage" && !opened.state(i - 1).has(storage)) return i;
    const patch = fields.cells_at?.[dtype];
    if (patch) {
      if (String(index) in patch) return i;
      continue;
    }
    if (!fields.cells && !fields.windows) continue;
    const before = element(opened.state(i - 1).get(storage), dtype, index);
    const now = element(opened.state(i).get(storage), dtype, index);
    if (JSON.stringify(before) !== JSON.stringify(now)) return i;
  }
  return -1;
}

/** Where a click on a cell leads: to the step that made it what it is; from that step, to the one before. -1 where there is none.
 * @param {import("./state.js").OpenTrace} opened @param {string} storage @param {number} index @param {string} dtype @param {number} step */
export function writeBefore(opened, storage, index, dtype, step) {
  const at = lastWrite(opened, storage, index, dtype, step);
  return at === step ? lastWrite(opened, storage, index, dtype, step - 1) : at;
}

/** The value of an element that is listed, in whole or in a window. @param {any} storage @param {string} dtype @param {number} index */
function element(storage, dtype, index) {
  if (storage?.cells?.[dtype]) return storage.cells[dtype][index];
  for (const [from, values] of storage?.windows?.[dtype] ?? [])
    if (index >= from && index < from + values.length) return values[index - from];
  return undefined;
}
