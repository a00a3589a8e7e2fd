/**
 * What an entity was after any step, from its own changes alone: for those who ask for a few, and not for the whole
 * state.
 */

import { mergeEntityFields, type Entity, type EntityLookup } from "./entities.ts";
import type { OpenTrace } from "./state.ts";
import type { TraceIndex } from "./trace_index.ts";
import type { Step } from "./wire.ts";
import { weakMemoize } from "./weak_memoize.ts";

/** The entities of one trace, each as it was last asked for. */
export class EntityHistory {
  steps: Step[];
  index: TraceIndex;
  /** count: of its later changes that are in it */
  lastAskedByUid = new Map<string, { count: number; entity: Entity }>();

  constructor(steps: Step[], index: TraceIndex) {
    this.steps = steps;
    this.index = index;
  }

  /** The state after a step. */
  stateAfter(step: number): EntityLookup {
    return { get: (uid) => this.entityAfter(uid, step) };
  }

  /** An entity as it is after a step; undefined where it is not there. */
  entityAfter(uid: string, step: number): Entity | undefined {
    const clampedStep = Math.min(step, this.steps.length - 1);
    const life = this.index.lifetimes.get(uid);
    if (!life || life.birth > clampedStep || life.death < clampedStep) return undefined;
    const laterSteps = this.index.laterChanges.get(uid) ?? [];
    const cached = this.lastAskedByUid.get(uid);
    const isReusable = cached && (cached.count === 0 || laterSteps[cached.count - 1] <= clampedStep);
    let appliedCount = isReusable ? cached.count : 0;
    let entity = isReusable ? cached.entity : mergeEntityFields(undefined, this.steps[life.birth].set[uid]);
    let isNew = !isReusable;
    for (; entity && appliedCount < laterSteps.length && laterSteps[appliedCount] <= clampedStep; appliedCount++) {
      entity = mergeEntityFields(entity, this.steps[laterSteps[appliedCount]].set[uid], isNew);
      isNew = true;
    }
    if (!entity) return undefined;
    if (isNew) this.lastAskedByUid.set(uid, { count: appliedCount, entity });
    return entity;
  }
}

/** That of an opened trace, which those who ask it share. */
export const entityHistoryOf = weakMemoize(
  (opened: OpenTrace): EntityHistory => new EntityHistory(opened.trace.steps, opened.index),
);
