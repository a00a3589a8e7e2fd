/** The names by which the program reaches things at a step, from the entities alone that can name something: for those who ask
 * at a few steps, and have no use for the whole state. */

import { namesAndPaths } from "../trace/names.js";

/** @typedef {import("../trace/names.js").Names} Names */
/** @typedef {import("../trace/trace_index.js").TraceIndex} TraceIndex */
/** @typedef {import("../trace/entities.js").Entity} Entity */

const MAX_CACHED_STEPS = 8;

export class StepNames {
  /** @param {TraceIndex} index @param {import("../trace/entity_history.js").EntityHistory} entities */
  constructor(index, entities) {
    this.index = index;
    this.entities = entities;
    /** @type {Map<number, Names>} */
    this.recentNames = new Map();
  }

  /** The names after a step. @param {number} step @returns {Names} */
  namesAt(step) {
    const i = Math.max(-1, Math.min(step, this.index.bytes.length - 1));
    const cached = this.recentNames.get(i);
    if (cached) return cached;
    const { get } = this.entities.after(i);
    const stepNames = namesAndPaths({ get, has: (uid) => this.index.isAlive(uid, i) }, this.namingEntities(i));
    this.recentNames.set(i, stepNames);
    if (this.recentNames.size > MAX_CACHED_STEPS)
      this.recentNames.delete(/** @type {number} */ (this.recentNames.keys().next().value));
    return stepNames;
  }

  /** The frames and the tensors with a `.grad`, parts or the like, as they are after a step. @param {number} step
   * @returns {[string, Entity][]} */
  namingEntities(step) {
    /** @type {[string, Entity][]} */
    const out = [];
    for (const uid of this.index.namers) {
      const entity = this.entities.entity(uid, step);
      if (entity) out.push([uid, entity]);
    }
    return out;
  }
}
