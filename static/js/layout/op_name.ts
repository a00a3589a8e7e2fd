/** Short names of operations and nodes. */

/** @param name as torch calls a node */
export function operationNameOfNode(name: string) {
  return name.slice(name.lastIndexOf(":") + 1).replace(/Backward\d*$/, "");
}
