/** How a view came from its base: the operations that made it, one view of another. */

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./scan.js").Operation} Operation */
/** @typedef {{uid: string, op: Operation}} ViewStep   a view and the operation that made it of `op.inputs[0]` */

const MAX_VIEWS = 64;

/**
 * The views from a handle back to the tensor that is none, the handle's own first.
 * @param {RunFacts} facts @param {string} uid @param {number} step at which the handle is looked at
 * @returns {{views: ViewStep[], base: string}}
 */
export function viewsToBase(facts, uid, step) {
  /** @type {ViewStep[]} */
  const views = [];
  let base = uid;
  const storageUid = facts.handle(uid, step)?.storage;
  while (views.length < MAX_VIEWS) {
    const op = facts.producer(base);
    const source = op?.inputs[0];
    if (!op || !source || op.step > step || !storageUid || facts.handle(source, op.step)?.storage !== storageUid) break;
    views.push({ uid: base, op });
    base = source;
  }
  return { views, base };
}
