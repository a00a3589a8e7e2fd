/** How a tensor's `grad`, `requires_grad`, `grad_fn`, hooks and storage, or a storage's size, changed over a run. */

/** @typedef {"grad" | "requires_grad" | "grad_fn" | "hooks" | "storage" | "leaf" | "nbytes" | "within"} HistoryField   the last two of a storage */
/** @typedef {{step: number, value: unknown}} FieldChange   null for a value that went away */

/** @type {WeakMap<object, TensorHistory>} */
const cache = new WeakMap();

/** The history of a run's tensors, made once. @param {import("./run_facts.js").RunFacts} facts */
export function tensorHistory(facts) {
  const history = cache.get(facts.trace) ?? new TensorHistory(facts.steps, facts.index);
  cache.set(facts.trace, history);
  return history;
}

class TensorHistory {
  /** @param {import("../trace/wire.js").Step[]} steps @param {import("../trace/trace_index.js").TraceIndex} index */
  constructor(steps, index) {
    this.steps = steps;
    this.index = index;
  }

  /** The values of a field in order, each from its step on. @param {string} uid @param {HistoryField} field @returns {FieldChange[]} */
  changes(uid, field) {
    /** @type {FieldChange[]} */
    const out = [];
    for (const step of this.index.changesOf(uid)) {
      const value = this.steps[step].set[uid][field];
      if (value !== undefined) out.push({ step, value });
    }
    return out;
  }

  /** Whether a field was set again after the step that made a tensor. @param {string} uid @param {HistoryField} field */
  wasChangedLater(uid, field) {
    return (this.index.laterChanges.get(uid) ?? []).some((step) => this.steps[step].set[uid][field] !== undefined);
  }

  /** The value after a step; null where it has none. @param {string} uid @param {HistoryField} field @param {number} step */
  valueAt(uid, field, step) {
    const later = this.index.laterChanges.get(uid) ?? [];
    for (let k = later.length - 1; k >= 0; k--) {
      const value = later[k] > step ? undefined : this.steps[later[k]].set[uid][field];
      if (value !== undefined) return value;
    }
    const birth = this.index.lives.get(uid)?.birth ?? Infinity;
    return birth <= step ? (this.steps[birth].set[uid][field] ?? null) : null;
  }
}
