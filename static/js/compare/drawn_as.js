/** By which attributes a stage draws the properties of a tensor that are different. */

/**
 * @param {import("../trace/state.js").OpenTrace} opened
 * @param {number} step
 * @param {string | null} uid of a handle, null for a plain value, which the stage doesn't draw
 * @param {string[]} properties
 * @returns {{name: string, value: string}[]}
 */
export function attributesDrawingProperties(opened, step, uid, properties) {
  if (uid === null) return [];
  const entity = opened.state(step).get(uid);
  const storage = entity && "storage" in entity ? entity.storage : null;
  /** @type {Map<string, string>} */
  const attributes = new Map();
  for (const property of properties)
    if (property === "grad") attributes.set("data-grad-of", uid);
    else if (storage && (property === "values" || property === "memory")) attributes.set("data-storage-strip", storage);
    else attributes.set("data-handle", uid);
  return [...attributes].map(([name, value]) => ({ name, value }));
}
