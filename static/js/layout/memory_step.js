/** What the memory pane is made from at a step: the run's model, the state, its names, and who reads and saves what. */

import { isHandle } from "../trace/entities.js";
import { addToList } from "../trace/multimap.js";
import { BROKEN_STATES } from "../trace/trace_index.js";
import { optimizerPaths, namesOnRow } from "./homes.js";
import { touched } from "./touched.js";

/**
 * @typedef {{opened: import("../trace/state.js").OpenTrace, homes: import("./homes.js").Homes,
 *   history: import("./touched.js").TouchHistory, kept: Set<string>,
 *   stills: Map<number, import("./memory_still.js").Still | null>, leastHeights: Map<number, number>,
 *   plainSteps: Map<number, {step: MemoryStep, items: import("./memory_items.js").MemoryItem[]}>,
 *   causes: Map<string, import("./row_pins.js").Cause | null>, nameless: Map<string, import("./nameless_places.js").PlaceStay[]>,
 *   nodeNames: ReadonlyMap<string, string>}} MemoryModel
 *   what is known of a run before any step is drawn. kept: the storages that a node saves at some step; stills: by width,
 *   the places at which nothing has to move; causes: by `node:slot`, what broke it; nameless: where storages without a
 *   name stand while steps touch them; leastHeights: by width; plainSteps: those that a search has looked at; nodeNames: of nodes that need more than their operation's name
 * @typedef {{node: string, slot: string, saved: import("../trace/entities.js").Slot, broken: boolean}} Pin
 */

/** What of a step the items are made from. */
export class MemoryStep {
  /** @param {MemoryModel} model @param {number} i @param {import("./pane.js").PaneOptions} options */
  constructor(model, i, options) {
    const { opened, homes } = model;
    this.model = model;
    this.homes = homes;
    this.index = i;
    this.options = options;
    this.snap = opened.at(i);
    this.entities = this.snap.entities;
    this.previous = opened.state(i - 1);
    this.names = opened.names(i);
    this.optimizerPrefixes = optimizerPaths(homes.optimizers, this.names.paths);
    this.touched = touched(this.snap.step, this.entities);
    /** @type {Map<string, string[]>} by storage, or `none` and the handle where it has none */
    this.readers = new Map();
    /** @type {Map<string, string>} by gradient, the first tensor that has it */
    this.owners = new Map();
    /** @type {Map<string, Pin[]>} by storage */
    this.pins = new Map();
    this.collectRelations();
  }

  collectRelations() {
    for (const [uid, entity] of this.entities) {
      if (isHandle(entity)) {
        addToList(this.readers, entity.storage ?? `none ${uid}`, uid);
        if (entity.grad && !this.owners.has(entity.grad)) this.owners.set(entity.grad, uid);
      } else if (entity.kind === "node" && !entity.released) this.collectPins(uid, entity);
    }
  }

  /** @param {string} nodeUid @param {import("../trace/entities.js").Node} entity */
  collectPins(nodeUid, entity) {
    for (const [slot, saved] of Object.entries(entity.saved ?? {}))
      if (saved.storage && saved.state !== "freed")
        addToList(this.pins, saved.storage, { node: nodeUid, slot, saved, broken: BROKEN_STATES.has(saved.state) });
  }

  /** @param {string} uid */
  namesOn(uid) {
    return namesOnRow(this.names.tags.get(uid), this.optimizerPrefixes);
  }

  /** @param {string} uid */
  rank(uid) {
    return this.homes.homeOf.get(uid)?.rank ?? Infinity;
  }
}
