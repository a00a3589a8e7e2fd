/** The state after each row of a run, going along in one map, with what a row found where it changed something. */

import { mergeFields } from "../trace/entities.js";
import { refOf } from "../trace/names.js";
import { RowNames } from "./loom_row_names.js";

/** @typedef {import("../trace/entities.js").Entity} Entity */
/** @typedef {import("../trace/entities.js").Value} Value */
/** @typedef {import("../trace/wire.js").Step} Step */
/** @typedef {import("../trace/names.js").Names} Names */

/** Costs what the steps changed, where `state(i)` of an opened trace costs what there is. */
export class RowState {
  /** @param {Step[]} steps */
  constructor(steps) {
    this.steps = steps;
    /** @type {Map<string, Entity>} the state after the row; frames are changed in place here */
    this.after = new Map();
    /** @type {Map<string, number>} the first step of the row that names each entity */
    this.touchSteps = new Map();
    /** @type {Map<string, number>} the last step of the row that gives a storage cells */
    this.writeSteps = new Map();
    /** @type {Map<string, Entity | undefined>} what was there before the row, of what it touched */
    this.stateBefore = new Map();
    /** @type {Map<string, Map<string, Value | undefined>>} by frame, what its names meant before the row that it bound or unbound */
    this.valuesBefore = new Map();
    this.names = new RowNames(this.after);
  }

  /** Go on to the end of the next row. @param {number} first @param {number} last its steps */
  advance(first, last) {
    for (const map of [this.touchSteps, this.writeSteps, this.stateBefore, this.valuesBefore]) map.clear();
    for (let k = first; k <= last; k++) {
      const { set = {}, gone = [] } = this.steps[k];
      for (const [uid, fields] of Object.entries(set)) {
        this.rememberBefore(uid, k);
        this.mergeFields(uid, fields);
        if (fields.cells || fields.cells_at) this.writeSteps.set(uid, k);
      }
      for (const uid of gone) {
        this.rememberBefore(uid, k);
        this.after.delete(uid);
      }
    }
  }

  /** Whether an entity was there before the row. @param {string} uid */
  existedBefore(uid) {
    return this.touchSteps.has(uid) ? this.stateBefore.get(uid) !== undefined : this.after.has(uid);
  }

  /** @param {string} uid @param {number} k the step */
  rememberBefore(uid, k) {
    if (this.touchSteps.has(uid)) return;
    this.touchSteps.set(uid, k);
    this.stateBefore.set(uid, this.after.get(uid));
  }

  /** @param {string} uid @param {import("../trace/wire.js").Delta} fields */
  mergeFields(uid, fields) {
    const old = this.after.get(uid);
    const { vars, unset, ...otherFields } = fields;
    const now = mergeFields(old, old?.kind === "frame" ? otherFields : fields);
    if (!now) return;
    this.after.set(uid, now);
    if (now.kind === "frame") this.setNames(uid, now.vars, vars ?? {}, unset ?? [], old !== undefined);
    this.names.noteFields(uid, now);
  }

  /** @param {string} uid of a frame @param {Map<string, Value>} names what its names mean @param {Record<string, Value>} vars
   * @param {string[]} unset @param {boolean} wasThere whether the frame was there before */
  setNames(uid, names, vars, unset, wasThere) {
    const bound = this.valuesBefore.get(uid) ?? new Map();
    this.valuesBefore.set(uid, bound);
    for (const [name, value] of Object.entries(vars)) {
      if (!bound.has(name)) bound.set(name, wasThere ? names.get(name) : undefined);
      names.set(name, value);
      const ref = refOf(value);
      if (ref) this.names.noteBinding(uid, name, ref);
    }
    for (const name of unset) {
      if (!bound.has(name)) bound.set(name, names.get(name));
      names.delete(name);
      this.names.noteUnbinding(uid, name);
    }
  }
}
