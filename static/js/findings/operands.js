/** The tensors that went into an operation that failed: what a reader calls each, its shape, and the step it is from. */

import { operationName } from "./operation_name.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Fact} Fact */
/** @typedef {{uid: string, name: Fact, shape: number[], dtype: string, made: number, isNumber: boolean}} Operand
 *   made: the step that made it, or gave it this shape; isNumber: it has no dimension */

const MAX_OPERATIONS_BACK = 12;

/** @param {RunFacts} facts @param {import("./scan.js").Operation} op @returns {Operand[]} */
export function operandsOf(facts, op) {
  return op.inputs.flatMap((uid) => {
    const tensor = facts.tensor(uid, op.step);
    if (!tensor?.shape) return [];
    const shape = tensor.shape;
    return [
      {
        uid,
        name: facts.nameFact(namedSource(facts, uid, op.step, shape), op.step),
        shape,
        dtype: (tensor.dtype ?? "").replace("torch.", ""),
        made: Math.max(0, facts.birth(uid)),
        isNumber: shape.length === 0,
      },
    ];
  });
}

/** The tensor itself, or if only views or casts without a name lie between, the named one behind it.
 * @param {RunFacts} facts @param {string} uid @param {number} step @param {number[]} shape */
function namedSource(facts, uid, step, shape) {
  let current = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    if (facts.nameText(current, step)) return current;
    const op = facts.producer(current);
    const source = op?.inputs[0];
    if (!op || !source || String(facts.tensor(source, step)?.shape) !== String(shape)) return uid;
    if (!/^(to|contiguous|clone|detach|alias|lift_fresh)$/.test(operationName(op.name))) return uid;
    current = source;
  }
  return uid;
}

/** A shape as Python writes it. @param {number[]} shape */
export function shapeText(shape) {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}
