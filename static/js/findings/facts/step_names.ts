/**
 * The names by which the program reaches things at a step, from the entities alone that can name something: for those
 * who ask at a few steps, and have no use for the whole state.
 */

import { collectNamesAndPaths, type Names } from "../../trace/names.ts";
import { ObjectNames } from "../../trace/object_names.ts";
import type { Entity } from "../../trace/entities.ts";
import type { EntityHistory } from "../../trace/entity_history.ts";
import type { TraceIndex } from "../../trace/trace_index.ts";

const MAX_CACHED_STEPS = 8;

export class StepNames {
  index: TraceIndex;
  entities: EntityHistory;
  recentNames = new Map<number, Names>();
  recentObjectNames = new Map<string, ObjectNames>();

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

  /** What leads to each thing after a step, as a frame reads it. */
  objectNamesAt(step: number, frameUid: string | null): ObjectNames {
    const i = Math.max(-1, Math.min(step, this.index.liveBytesByStep.length - 1));
    const key = `${i} ${frameUid}`;
    const cached = this.recentObjectNames.get(key);
    if (cached) return cached;
    const { get } = this.entities.stateAfter(i);
    const lookup = { get, has: (uid: string) => this.index.isAlive(uid, i) };
    const names = new ObjectNames(lookup, this.entitiesThatCanNameOthers(i), frameUid);
    this.recentObjectNames.set(key, names);
    if (this.recentObjectNames.size > MAX_CACHED_STEPS)
      this.recentObjectNames.delete(this.recentObjectNames.keys().next().value as string);
    return names;
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
