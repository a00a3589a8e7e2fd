/** What an entity was after any step, from its own changes alone: for those who ask for a few, and not for the whole state. */

import { merge } from "./entities.js";

/** @typedef {import("./entities.js").Entity} Entity */
/** @typedef {import("./trace.js").Step} Step */
/** @typedef {import("./trace_index.js").TraceIndex} TraceIndex */
/** @typedef {{get: (uid: string) => Entity | undefined}} Lookup   a state that can be asked for entities by their uids */

/** The entities of one trace, each as it was last asked for. */
export class EntityHistory {
  /** @param {Step[]} steps @param {TraceIndex} index */
  constructor(steps, index) {
    this.steps = steps;
    this.index = index;
    /** @type {Map<string, {count: number, entity: Entity}>} count: of its later changes that are in it */
    this.recent = new Map();
  }

  /** The state after a step. @param {number} step @returns {Lookup} */
  after(step) {
    return { get: (uid) => this.entity(uid, step) };
  }

  /** An entity as it is after a step; undefined where it is not there. @param {string} uid @param {number} step
   * @returns {Entity | undefined} */
  entity(uid, step) {
    const at = Math.min(step, this.steps.length - 1);
    const life = this.index.lives.get(uid);
    if (!life || life.birth > at || life.death < at) return undefined;
    const later = this.index.laterChanges.get(uid) ?? [];
    const recent = this.recent.get(uid);
    const isAfter = recent && (recent.count === 0 || later[recent.count - 1] <= at);
    let count = isAfter ? recent.count : 0;
    let entity = isAfter ? recent.entity : merge(undefined, this.steps[life.birth].set[uid]);
    let isOwn = !isAfter;
    for (; entity && count < later.length && later[count] <= at; count++) {
      entity = merge(entity, this.steps[later[count]].set[uid], isOwn);
      isOwn = true;
    }
    if (!entity) return undefined;
    if (isOwn) this.recent.set(uid, { count, entity });
    return entity;
  }
}
