/** The names by which the program reaches things at a step, from the entities alone that can name something: for those who ask
 * at a few steps, and have no use for the whole state. */

import { collectNamesAndPaths, type Names } from "../../trace/names.ts";
import type { Entity } from "../../trace/entities.ts";
import type { EntityHistory } from "../../trace/entity_history.ts";
import type { TraceIndex } from "../../trace/trace_index.ts";

const MAX_CACHED_STEPS = 8;

export class StepNames {
  index: TraceIndex;
  entities: EntityHistory;
  recentNames = new Map<number, Names>();

  constructor(index: TraceIndex, entities: EntityHistory) {
    this.index = index;
    this.entities = entities;
  }

  /** The names after a step. */
  namesAt(step: number): Names {
    const i = Math.max(-1, Math.min(step, this.index.liveBytesByStep.length - 1));
    const cached = this.recentNames.get(i);
    if (cached) return cached;
    const { get } = this.entities.stateAfter(i);
    const stepNames = collectNamesAndPaths(
      { get, has: (uid) => this.index.isAlive(uid, i) },
      this.entitiesThatCanNameOthers(i),
    );
    this.recentNames.set(i, stepNames);
    if (this.recentNames.size > MAX_CACHED_STEPS)
      this.recentNames.delete(this.recentNames.keys().next().value as number);
    return stepNames;
  }

  /** The frames and the tensors with a `.grad`, parts or the like, as they are after a step. */
  entitiesThatCanNameOthers(step: number): [string, Entity][] {
    const out: [string, Entity][] = [];
    for (const uid of this.index.uidsThatNameOthers) {
      const entity = this.entities.entityAfter(uid, step);
      if (entity) out.push([uid, entity]);
    }
    return out;
  }
}
