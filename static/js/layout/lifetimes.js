/** What is ever drawn, from which step to which, and how wide it ever gets: all that is known before anything has a position. */

import { isHandle } from "../entities.js";
import { walk } from "../state.js";
import { handleKey } from "../trace_index.js";
import { cardWidth, chipWidth, isChip, objectEntries, tagWidth, typeText } from "./card_texts.js";
import { chip } from "./chip.js";
import { valueText } from "./format.js";
import { textWidth, truncate } from "./metrics.js";
import { leadsToNames, names } from "./names.js";
import { readLines, reads } from "./reads.js";

/** @typedef {import("../state.js").Entities} Entities */
/** @typedef {import("../trace_index.js").TraceIndex} TraceIndex */
/** @typedef {import("../trace.js").Step} Step */
/**
 * @typedef {{birth: number, death: number}} Lifetime   steps, both included
 * @typedef {Lifetime & {uid: string, rows: Map<string, number>, summary: boolean, shown: number, passing: boolean}} StorageLifetime
 *   rows: the most cells under each dtype; shown: the most cells in windows; passing: made and freed inside one step, only
 *   ever drawn as freed
 * @typedef {import("../trace_index.js").Placement & {lines: number, inOrder: boolean, last: number, cardW: number}} HandleLifetime
 *   lines: the most lines of reads; inOrder: one line always; last: the length of the last dimension
 * @typedef {Lifetime & {uid: string, chips: Map<string, number>, title: number, label: number}} CardLifetime
 *   chips: the widest of each entry; title: of its names; label: of its type
 * @typedef {Lifetime & {uid: string, name: string, slots: string[], slotW: number, next: ([string, number] | null)[],
 *   output: string | null, variable: string | null, chip: number, fold?: import("./fold.js").Fold}} NodeLifetime
 *   output: the key of the handle that it made; chip: the widest gradient that it passed on
 * @typedef {{storages: Map<string, StorageLifetime>, handles: Map<string, HandleLifetime>, frames: Map<string, CardLifetime>,
 *   objects: Map<string, CardLifetime>, nodes: Map<string, NodeLifetime>, index: TraceIndex, tags: number, chips: number,
 *   crowd: number, named: Set<string>}} Lifetimes
 *   tags: the width of the most names that one handle has; chips: of the gradients that backwards begin with; crowd: the most
 *   storages at a time; named: the tensors that the program ever had a name or a path for
 */

/** @param {import("../state.js").OpenTrace} opened @returns {Lifetimes} */
export function lifetimes(opened) {
  const { index, trace } = opened;
  /** @type {Lifetimes} */
  const lives = {
    storages: new Map(),
    handles: new Map(),
    frames: new Map(),
    objects: new Map(),
    nodes: new Map(),
    index,
    tags: 0,
    chips: 0,
    crowd: 0,
    named: new Set(),
  };
  const measures = new Measures(lives);
  let i = -1;
  for (const now of walk(trace)) {
    const step = trace.steps[++i];
    for (const uid of new Set([...Object.keys(step.set ?? {}), ...(step.gone ?? [])])) measures.entity(uid, now, step);
    lives.crowd = Math.max(lives.crowd, measures.storages);
    if (namesChange(step)) measures.tags(now);
    if (step.visit) measures.visit(step.visit);
  }
  return lives;
}

/** Whether a step can give something a name. @param {Step} step */
function namesChange({ set = {}, gone = [] }) {
  const uids = new Set([...Object.keys(set), ...gone]);
  return [...uids].some((uid) => {
    const fields = set[uid];
    if (uid[0] === "f") return Boolean(fields?.vars || fields?.kind);
    if (uid[0] === "o") return fields !== undefined;
    return /^[ta]/.test(uid) && Boolean(fields?.grad || fields?.parts || fields?.tangent || fields?.wraps);
  });
}

/** Takes the measures of what a walk over the states comes by. */
class Measures {
  /** @param {Lifetimes} lives */
  constructor(lives) {
    this.lives = lives;
    this.index = lives.index;
    /** living ones after the step */
    this.storages = 0;
    /** backwards that began */
    this.begun = new Set();
    /** @type {Entities} living entities from which names go out */
    this.sources = new Map();
  }

  /** @param {string} uid @param {Entities} now @param {Step} step */
  entity(uid, now, step) {
    const entity = now.get(uid);
    const fields = step.set?.[uid];
    if (entity && leadsToNames(entity)) this.sources.set(uid, entity);
    else this.sources.delete(uid);
    if (uid[0] === "s") this.count(uid, entity !== undefined);
    if (!entity) {
      if (fields?.kind === "storage" && !this.lives.storages.has(uid))
        this.storage(uid, /** @type {import("../entities.js").Storage} */ (fields)).passing = true;
    } else if (entity.kind === "storage") this.storage(uid, entity);
    else if (isHandle(entity)) this.handle(uid, entity);
    else if (entity.kind === "node") this.node(uid, entity);
    else if (entity.kind === "frame") {
      const chips = [...entity.vars].filter(([name, value]) => isChip(name, value));
      const entries = chips.map(([key, value]) => ({ key, text: valueText(value, 22, now) }));
      this.card(this.lives.frames, uid, truncate(`${entity.name ?? ""}()`, 14), entries);
    } else if (entity.kind === "object")
      this.card(this.lives.objects, uid, typeText(entity), objectEntries(entity, now));
  }

  /** @param {string} uid @param {boolean} alive */
  count(uid, alive) {
    if (!alive) this.storages--;
    else if (!this.lives.storages.has(uid)) this.storages++;
  }

  /** @param {string} uid @param {import("../entities.js").Storage} entity */
  storage(uid, entity) {
    const { birth, death } = /** @type {import("../trace_index.js").Life} */ (this.index.lives.get(uid));
    const life = this.lives.storages.get(uid) ?? {
      uid,
      birth,
      death: Math.min(death + 1, this.index.end), // it is drawn as freed in the step that freed it
      rows: new Map(),
      summary: false,
      shown: 0,
      passing: false,
    };
    this.lives.storages.set(uid, life);
    for (const [dtype, row] of Object.entries(entity.cells ?? {}))
      life.rows.set(dtype, Math.max(life.rows.get(dtype) ?? 0, row.length));
    for (const [dtype, parts] of Object.entries(entity.windows ?? {})) {
      const cells = parts.reduce((sum, [, values]) => sum + values.length, 0);
      life.shown = Math.max(life.shown, cells, dtype ? 1 : 0);
    }
    if (!entity.cells && (entity.summary || entity.windows)) life.summary = true;
    return life;
  }

  /** @param {string} uid @param {import("../entities.js").Handle} entity */
  handle(uid, entity) {
    const key = handleKey(uid, entity);
    const placement = /** @type {import("../trace_index.js").Placement} */ (this.index.placements.get(key));
    const life = this.lives.handles.get(key) ?? { ...placement, lines: 1, inOrder: true, last: 0, cardW: 0 };
    this.lives.handles.set(key, life);
    const rows = readLines(reads(entity));
    life.lines = Math.max(life.lines, rows.length);
    life.inOrder &&= rows.length <= 1;
    life.last = entity.shape && entity.shape.length > 1 ? entity.shape[entity.shape.length - 1] : life.last;
    life.cardW = Math.max(life.cardW, cardWidth(entity));
  }

  /** @param {Map<string, CardLifetime>} cards @param {string} uid @param {string} label
   * @param {{key: string, text: string}[]} entries */
  card(cards, uid, label, entries) {
    const { birth, death } = /** @type {import("../trace_index.js").Life} */ (this.index.lives.get(uid));
    const life = cards.get(uid) ?? { uid, birth, death, chips: new Map(), title: 0, label: 0 };
    cards.set(uid, life);
    life.label = Math.max(life.label, textWidth(label, 12));
    for (const { key, text } of entries) life.chips.set(key, Math.max(life.chips.get(key) ?? 0, chipWidth(key, text)));
  }

  /** @param {string} uid @param {import("../entities.js").Node} entity */
  node(uid, entity) {
    const { birth, death } = /** @type {import("../trace_index.js").Life} */ (this.index.lives.get(uid));
    const facts = /** @type {import("../trace_index.js").NodeFacts} */ (this.index.nodes.get(uid));
    const life = this.lives.nodes.get(uid) ?? { ...facts, birth, death, slotW: 0, chip: 0 };
    this.lives.nodes.set(uid, life);
    for (const [slot, saved] of Object.entries(entity.saved ?? {})) {
      const late = saved.state === "stale" ? ", now v10" : saved.state === "ok" ? "" : ` ${saved.state}`;
      const text = `${slot}  ${saved.storage ?? "None"} @ v${saved.expected ?? 0}${late}`;
      life.slotW = Math.max(life.slotW, textWidth(text, 10.5));
    }
  }

  /** @param {Entities} now */
  tags(now) {
    for (const [uid, list] of names(now, this.sources).tags) {
      const total = list.reduce((sum, tag) => sum + tagWidth(tag) + 4, 0);
      if (uid[0] === "o") {
        const card = this.lives.objects.get(uid);
        if (card) card.title = Math.max(card.title, total);
      } else {
        this.lives.tags = Math.max(this.lives.tags, total);
        this.lives.named.add(uid);
      }
    }
  }

  /** @param {import("../trace.js").Visit} visit */
  visit(visit) {
    const node = this.lives.nodes.get(visit.node);
    for (const grad of visit.grad_inputs ?? []) if (grad && node) node.chip = Math.max(node.chip, chip(grad).width);
    const [seed] = visit.grad_outputs ?? [];
    if (seed && !this.begun.has(visit.backward)) this.lives.chips = Math.max(this.lives.chips, chip(seed).width);
    this.begun.add(visit.backward);
  }
}
