/** How a tensor's `grad`, `requires_grad`, `grad_fn`, hooks and storage, or a storage's size, changed over a run. */

import type { TraceIndex } from "../../trace/trace_index.ts";
import type { Step } from "../../trace/wire.ts";

/** the last two of a storage */
export type HistoryField = "grad" | "requires_grad" | "grad_fn" | "hooks" | "storage" | "leaf" | "nbytes" | "within";

/** null for a value that went away */
export interface FieldChange {
  step: number;
  value: unknown;
}

export class FieldHistory {
  steps: Step[];
  index: TraceIndex;

  constructor(steps: Step[], index: TraceIndex) {
    this.steps = steps;
    this.index = index;
  }

  /** The values of a field in order, each from its step on. */
  fieldChanges(uid: string, field: HistoryField): FieldChange[] {
    const out: FieldChange[] = [];
    for (const step of this.index.changeStepsOf(uid)) {
      const value = this.steps[step].set[uid][field];
      if (value !== undefined) out.push({ step, value });
    }
    return out;
  }

  /** Whether a field was set again after the step that made a tensor. */
  wasFieldChangedLater(uid: string, field: HistoryField) {
    return (this.index.laterChanges.get(uid) ?? []).some((step) => this.steps[step].set[uid][field] !== undefined);
  }

  /** The value after a step; null where it has none. */
  valueAt(uid: string, field: HistoryField, step: number) {
    const later = this.index.laterChanges.get(uid) ?? [];
    for (let k = later.length - 1; k >= 0; k--) {
      const value = later[k] > step ? undefined : this.steps[later[k]].set[uid][field];
      if (value !== undefined) return value;
    }
    const birth = this.index.lifetimes.get(uid)?.birth ?? Infinity;
    return birth <= step ? (this.steps[birth].set[uid][field] ?? null) : null;
  }
}
