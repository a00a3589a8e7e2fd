/** What the memory pane is made from at a step: the run's model, the state, its names, and who reads and saves what. */

import type { Names } from "../../trace/names.ts";
import { isHandle } from "../../trace/entities.ts";
import { addToList } from "../../trace/multimap.ts";
import { BROKEN_SLOT_STATES } from "../../trace/trace_index.ts";
import { optimizerPathPrefixes, namesShownOnRow, type FirstNames } from "./first_names.ts";
import { touchedByStep, type TouchHistory, type TouchedEntities } from "../touched.ts";
import type { Entities, OpenTrace, Snapshot } from "../../trace/state.ts";
import type { Node } from "../../trace/wire.ts";
import type { PaneOptions } from "../pane.ts";
import type { PlaceInterval, FixedMemoryPlaces, BreakingWrite, MemoryItem, StoragePin } from "./memory_parts.ts";

/** what is known of a run before any step is drawn. */
export interface MemoryModel {
  opened: OpenTrace;
  firstNames: FirstNames;
  history: TouchHistory;
  /** the storages that a node saves at some step */
  kept: Set<string>;
  /** by width, the places at which nothing has to move */
  stills: Map<string, FixedMemoryPlaces | null>;
  /** by width */
  leastHeights: Map<string, number>;
  /** those that a search has looked at */
  plainSteps: Map<number, { step: MemoryStep; items: MemoryItem[] }>;
  /** by `node:slot`, what broke it */
  causes: Map<string, BreakingWrite | null>;
  /** where storages without a name stand while steps touch them */
  nameless: Map<string, PlaceInterval[]>;
  /** of nodes that need more than their operation's name */
  nodeNames: ReadonlyMap<string, string>;
}

/** What of a step the items are made from. */
export class MemoryStep {
  model: MemoryModel;
  firstNames: FirstNames;
  index: number;
  options: PaneOptions;
  snapshot: Snapshot;
  entities: Entities;
  previous: Entities;
  names: Names;
  optimizerPrefixes: string[];
  touched: TouchedEntities;
  /** by storage, or `none` and the handle where it has none */
  readers = new Map<string, string[]>();
  /** by gradient, the first tensor that has it */
  owners = new Map<string, string>();
  /** by storage */
  pins = new Map<string, StoragePin[]>();

  constructor(model: MemoryModel, i: number, options: PaneOptions) {
    const { opened, firstNames } = model;
    this.model = model;
    this.firstNames = firstNames;
    this.index = i;
    this.options = options;
    this.snapshot = opened.at(i);
    this.entities = this.snapshot.entities;
    this.previous = opened.state(i - 1);
    this.names = opened.names(i);
    this.optimizerPrefixes = optimizerPathPrefixes(firstNames.optimizers, this.names.paths);
    this.touched = touchedByStep(this.snapshot.step, this.entities);
    this.collectReadersAndOwners();
  }

  collectReadersAndOwners() {
    for (const [uid, entity] of this.entities) {
      if (isHandle(entity)) {
        addToList(this.readers, entity.storage ?? `none ${uid}`, uid);
        if (entity.grad && !this.owners.has(entity.grad)) this.owners.set(entity.grad, uid);
      } else if (entity.kind === "node" && !entity.released) this.collectPins(uid, entity);
    }
  }

  collectPins(nodeUid: string, entity: Node) {
    for (const [slot, saved] of Object.entries(entity.saved ?? {}))
      if (saved.storage && saved.state !== "freed")
        addToList(this.pins, saved.storage, {
          node: nodeUid,
          slot,
          saved,
          broken: BROKEN_SLOT_STATES.has(saved.state),
        });
  }

  namesShownOn(uid: string) {
    return namesShownOnRow(this.names.tags.get(uid), this.optimizerPrefixes);
  }

  firstNameRank(uid: string) {
    return this.firstNames.byUid.get(uid)?.rank ?? Infinity;
  }
}
