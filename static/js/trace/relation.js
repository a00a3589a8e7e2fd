/** A relation that changes from step to step: which things are at which other thing, for stretches of steps. */

import { addToList } from "./multimap.js";

/** @typedef {{uid: string, from: number, to: number}} Stretch   from, to: the first and last step */

/** Each thing is at no more than one other at a time. */
export class Relation {
  constructor() {
    /** @type {Map<string, Stretch[]>} */
    this.stretches = new Map();
    /** @type {Map<string, {target: string, stretch: Stretch}>} */
    this.current = new Map();
  }

  /** @param {string} uid @param {string | null | undefined} target null where it is at none any more @param {number} step */
  set(uid, target, step) {
    const open = this.current.get(uid);
    if (open?.target === target) return;
    if (open) {
      open.stretch.to = step - 1;
      this.current.delete(uid);
    }
    if (!target) return;
    const stretch = { uid, from: step, to: Infinity };
    addToList(this.stretches, target, stretch);
    this.current.set(uid, { target, stretch });
  }

  /** @param {string} target @param {number} step @returns {string[]} */
  uidsAt(target, step) {
    const out = [];
    for (const { uid, from, to } of this.stretches.get(target) ?? []) if (from <= step && step <= to) out.push(uid);
    return out;
  }
}
