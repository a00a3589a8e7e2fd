/** The state after each row of a run, going along in one map, with what a row found where it changed something. */

import { mergeEntityFields, type Entity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import { RowNames } from "./loom_row_names.ts";
import type { Delta, Step, Value } from "../../trace/wire.ts";

/** Costs what the steps changed, where `state(i)` of an opened trace costs what there is. */
export class RowState {
  steps: Step[];
  /** the state after the row; frames are changed in place here */
  entitiesAfter = new Map<string, Entity>();
  /** the first step of the row that names each entity */
  touchSteps = new Map<string, number>();
  /** the last step of the row that gives a storage cells */
  writeSteps = new Map<string, number>();
  /** what was there before the row, of what it touched */
  stateBefore = new Map<string, Entity | undefined>();
  /** by frame, what its names meant before the row that it bound or unbound */
  valuesBefore = new Map<string, Map<string, Value | undefined>>();
  names: RowNames;

  constructor(steps: Step[]) {
    this.steps = steps;
    this.names = new RowNames(this.entitiesAfter);
  }

  /** Goes on to the end of the next row, which has the steps from `first` to `last`. */
  advanceToNextRow(first: number, last: number) {
    for (const map of [this.touchSteps, this.writeSteps, this.stateBefore, this.valuesBefore]) map.clear();
    for (let k = first; k <= last; k++) {
      const { set = {}, gone = [] } = this.steps[k];
      for (const [uid, fields] of Object.entries(set)) {
        this.rememberEntityBefore(uid, k);
        this.mergeEntityFields(uid, fields);
        if (fields.cells || fields.cells_at) this.writeSteps.set(uid, k);
      }
      for (const uid of gone) {
        this.rememberEntityBefore(uid, k);
        this.entitiesAfter.delete(uid);
      }
    }
  }

  /** Whether an entity was there before the row. */
  existedBeforeRow(uid: string) {
    return this.touchSteps.has(uid) ? this.stateBefore.get(uid) !== undefined : this.entitiesAfter.has(uid);
  }

  /** `k` is the step. */
  rememberEntityBefore(uid: string, k: number) {
    if (this.touchSteps.has(uid)) return;
    this.touchSteps.set(uid, k);
    this.stateBefore.set(uid, this.entitiesAfter.get(uid));
  }

  mergeEntityFields(uid: string, fields: Delta) {
    const old = this.entitiesAfter.get(uid);
    const { vars, unset, ...otherFields } = fields;
    const now = mergeEntityFields(old, old?.kind === "frame" ? otherFields : fields);
    if (!now) return;
    this.entitiesAfter.set(uid, now);
    if (now.kind === "frame") this.updateFrameNames(uid, now.vars, vars ?? {}, unset ?? [], old !== undefined);
    this.names.recordEntity(uid, now);
  }

  /** `names` are what the names of the frame mean. `wasThere`: the frame was there before. */
  updateFrameNames(
    uid: string,
    names: Map<string, Value>,
    vars: Record<string, Value>,
    unset: string[],
    wasThere: boolean,
  ) {
    const bound = this.valuesBefore.get(uid) ?? new Map();
    this.valuesBefore.set(uid, bound);
    for (const [name, value] of Object.entries(vars)) {
      if (!bound.has(name)) bound.set(name, wasThere ? names.get(name) : undefined);
      names.set(name, value);
      const ref = referencedUid(value);
      if (ref) this.names.addBinding(uid, name, ref);
    }
    for (const name of unset) {
      if (!bound.has(name)) bound.set(name, names.get(name));
      names.delete(name);
      this.names.removeBinding(uid, name);
    }
  }
}
