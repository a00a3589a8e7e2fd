/** The tensors that are gradients of others. */

import { tensorHistory } from "./tensor_history.js";

/** @type {WeakMap<object, Set<string>>} */
const uidsOfTrace = new WeakMap();

/** The tensors that a backward left in a `.grad`, once for a trace. @param {import("./run_facts.js").RunFacts} facts
 * @returns {Set<string>} uids */
export function gradientTensors(facts) {
  const cached = uidsOfTrace.get(facts.trace);
  if (cached) return cached;
  const history = tensorHistory(facts);
  const values = facts.events("grad_accumulated").map(({ tensor, step }) => history.valueAt(tensor, "grad", step));
  const out = new Set(values.filter((uid) => typeof uid === "string"));
  uidsOfTrace.set(facts.trace, out);
  return out;
}
