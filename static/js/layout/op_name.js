/** Short names of operations and nodes. */

/** @param {string} name as torch calls a node */
export function opName(name) {
  return name.slice(name.lastIndexOf(":") + 1).replace(/Backward\d*$/, "");
}
