/** What is ever drawn and from which step to which: one pass over the trace, before anything is given a place. */

import { chip } from "./chip.js";
import { isMapping, names, carriesNames, refOf } from "./names.js";
import { readLines, plainDtype, reads } from "./reads.js";
import { truncate, textWidth } from "./metrics.js";
import { tuple, valueText } from "./format.js";
import { walk } from "../state.js";
import { EVENTS } from "../registry.js";

/**
 * @typedef {{birth: number, death: number}} Lifetime
 * @typedef {Lifetime & {uid: string, rows: Map<string, number>, summary: boolean, shown: number, passing: boolean}} StorageLifetime
 *   passing: made and freed inside one step, only ever a ghost
 * @typedef {Lifetime & {key: string, uid: string, storage: string | null, counter: string | null, lines: number,
 *   inOrder: boolean, last: number, cardW: number}} HandleLifetime
 * @typedef {Lifetime & {uid: string, chips: Map<string, number>, title: number, label: number}} CardLifetime
 * @typedef {Lifetime & {uid: string, name: string, slots: string[], slotW: number, next: ([string, number] | null)[],
 *   handle: string | null, variable: string | null, chip: number, pinned: Map<string, string>, fold?: import("./fold.js").Fold}} NodeLifetime
 *   chip: the widest gradient it passed on; pinned: by slot, the stay of its pin
 * @typedef {Lifetime & {node: string, slot: string, storage: string, alarms: boolean}} PinLifetime   alarms: it breaks at some step
 * @typedef {{storages: Map<string, StorageLifetime>, handles: Map<string, HandleLifetime>, frames: Map<string, CardLifetime>,
 *   objects: Map<string, CardLifetime>, nodes: Map<string, NodeLifetime>, pins: Map<string, PinLifetime>, tags: number,
 *   owners: Map<string, string>, visits: Map<string, {node: string, step: number}[]>, chips: number,
 *   crowd: number, named: Set<string>, owned: Map<string, string>, modules: Map<string, {type: string, within: string | null}>}} Lifetimes
 *   chips: the width of the gradients that backwards begin with; named: the tensors that the program ever had a name or a path for
 *   owned: by a parameter, the module that it is in; modules: by a module, the one around it
 */

/** States that say the saved value is no longer what backward needs. */
export const ALARMS = new Set(Object.values(EVENTS).flatMap((row) => row?.state ?? []));

/** One stay of a handle: its place changes when the program gives it another storage or counter.
 * @param {string} uid @param {any} handle */
export function handleKey(uid, handle) {
  return `${uid}|${handle.storage ?? ""}|${handle.counter ?? ""}`;
}

/** One stay of a pin: the tensor that a node saved may be given other memory. @param {string} node @param {string} slot
 * @param {any} saved */
export function pinKey(node, slot, saved) {
  return `${node}:${slot}|${saved.storage ?? ""}`;
}

/** How a handle's card is written. @param {any} entity */
export function cardText(entity) {
  const shape = entity.shape ? tuple(entity.shape) : (entity.type ?? "?");
  const array = entity.kind === "array";
  const second = array
    ? `numpy · ${plainDtype(entity.dtype)}`
    : entity.stride
      ? `stride ${tuple(entity.stride)} offset ${entity.offset ?? "?"}`
      : [entity.layout, plainDtype(entity.dtype)].filter(Boolean).join(" · ");
  const role = array
    ? entity.writeable === false
      ? "read-only"
      : ""
    : entity.leaf === undefined
      ? ""
      : entity.leaf
        ? "leaf"
        : "node";
  return { shape, second, role, tracked: Boolean(entity.requires_grad) };
}

/** @param {string} name @param {any} value whether the frame's card says it: tensors and containers wear tags instead */
export function isChip(name, value) {
  const ref = refOf(value);
  if (ref) return !/^[tao]/.test(ref);
  if (name.startsWith("__") && name.endsWith("__")) return false;
  return !(value && value.py === "module");
}

/** What an object's card calls it. @param {any} object */
export function typeText(object) {
  return `${truncate(object.type ?? "object", 16)}${object.len === undefined ? "" : ` · ${object.len}`}`;
}

const CHIP_FONT = 11.5;
/** @param {string} name @param {string} text */
export function chipWidth(name, text) {
  return Math.ceil(textWidth(name, CHIP_FONT) + textWidth(text, CHIP_FONT) + 26);
}

/** The entries of an object's card. @param {any} object @param {import("../state.js").Entities} entities */
export function objectEntries(object, entities) {
  /** @type {{key: string, value: any, text: string}[]} */
  const out = [];
  const pairs = isMapping(object);
  const items = object.items ?? [];
  /** Two keys that are written alike are two entries all the same. @param {string} name @param {any} value */
  const add = (name, value) => {
    let key = name;
    for (let n = 2; out.some((entry) => entry.key === key); n++) key = `${name} #${n}`;
    out.push({ key, value, text: valueText(value, 16, entities) });
  };
  for (let i = 0; i < Math.min(items.length, 16); i++)
    if (pairs) add(refOf(items[i][0]) ?? valueText(items[i][0], 14, entities), items[i][1]);
    else add(String(i), items[i]);
  for (const [name, value] of Object.entries(object.attrs ?? {}).slice(0, 16)) add(name, value);
  const hidden = Math.max(0, items.length - 16) + Math.max(0, Object.keys(object.attrs ?? {}).length - 16);
  const more = hidden + (object.elided ?? 0);
  if (more) out.push({ key: "…", value: null, text: `+${more}` });
  return out;
}

/** @param {import("../state.js").OpenTrace} opened @returns {Lifetimes} */
export function lifetimes(opened) {
  const end = Math.max(0, opened.count - 1);
  /** @type {Lifetimes} */
  const lives = {
    storages: new Map(),
    handles: new Map(),
    frames: new Map(),
    objects: new Map(),
    nodes: new Map(),
    pins: new Map(),
    tags: 0,
    owners: new Map(),
    visits: new Map(),
    chips: 0,
    crowd: 0,
    named: new Set(),
    owned: new Map(),
    modules: new Map(),
  };
  /** @type {Map<string, string>} */
  const stays = new Map();
  let alive = 0;
  /** @type {import("../state.js").Entities} */
  const sources = new Map();
  let i = -1;
  for (const now of walk(opened.trace)) {
    const step = opened.trace.steps[++i];
    let named = false;
    for (const uid of new Set([...Object.keys(step.set ?? {}), ...(step.gone ?? [])])) {
      const entity = now.get(uid);
      if (!entity) retire(lives, stays, uid, i, step.set?.[uid]);
      else update(lives, stays, uid, entity, i, end, now);
      if (entity && carriesNames(entity)) sources.set(uid, entity);
      else sources.delete(uid);
      named ||= renames(uid, step.set?.[uid]);
      if (uid[0] === "s") {
        if (!entity) alive--;
        else if (lives.storages.get(uid)?.birth === i) alive++;
      }
    }
    lives.crowd = Math.max(lives.crowd, alive);
    if (named) measureTags(lives, names(now, sources));
    if (step.visit) {
      const list = lives.visits.get(step.visit.backward) ?? [];
      list.push({ node: step.visit.node, step: i });
      lives.visits.set(step.visit.backward, list);
      const visited = lives.nodes.get(step.visit.node);
      for (const grad of step.visit.grad_inputs ?? [])
        if (grad && visited) visited.chip = Math.max(visited.chip, chip(grad).width);
      const seed = step.visit.grad_outputs?.[0];
      if (seed && list.length === 1) lives.chips = Math.max(lives.chips, chip(seed).width);
    }
  }
  return lives;
}

/** Whether this much of an entity can give something a name. @param {string} uid @param {any} fields */
function renames(uid, fields) {
  if (uid[0] === "f") return Boolean(fields?.vars || fields?.kind);
  if (uid[0] === "o") return fields !== undefined;
  return /^[ta]/.test(uid) && ["grad", "parts", "tangent", "wraps"].some((field) => fields?.[field]);
}

/** @param {Lifetimes} lives @param {Map<string, string>} stays @param {string} uid @param {number} i @param {any} fields */
function retire(lives, stays, uid, i, fields) {
  const storage = lives.storages.get(uid);
  if (storage)
    storage.death = i; // its ghost stands there during the step that freed it
  else if (fields?.kind === "storage") updateStorage(lives, uid, fields, i, i).passing = true;
  const key = stays.get(uid);
  const gone = key ? lives.handles.get(key) : (lives.frames.get(uid) ?? lives.objects.get(uid) ?? lives.nodes.get(uid));
  if (gone) gone.death = i - 1;
  stays.delete(uid);
  for (const key of lives.nodes.get(uid)?.pinned.values() ?? []) unpin(lives, key, i);
}

/** From this step on a pin is not there any more. @param {Lifetimes} lives @param {string} key @param {number} i */
function unpin(lives, key, i) {
  const pin = lives.pins.get(key);
  if (pin && pin.death >= i) pin.death = i - 1;
}

/** @param {Lifetimes} lives @param {string} uid @param {any} entity @param {number} i @param {number} end */
function updateStorage(lives, uid, entity, i, end) {
  const life = lives.storages.get(uid) ?? {
    uid,
    birth: i,
    death: end,
    rows: new Map(),
    summary: false,
    shown: 0,
    passing: false,
  };
  for (const [dtype, row] of Object.entries(entity.cells ?? {}))
    life.rows.set(dtype, Math.max(life.rows.get(dtype) ?? 0, row.length));
  for (const [dtype, parts] of Object.entries(entity.windows ?? {}))
    life.shown = Math.max(
      life.shown,
      parts.reduce((/** @type {number} */ n, /** @type {any} */ p) => n + p[1].length, 0),
      dtype ? 1 : 0,
    );
  if (!entity.cells && (entity.summary || entity.windows)) life.summary = true;
  lives.storages.set(uid, life);
  return life;
}

/** @param {Lifetimes} lives @param {Map<string, string>} stays @param {string} uid @param {any} entity @param {number} i
 * @param {number} end @param {import("../state.js").Entities} now */
function update(lives, stays, uid, entity, i, end, now) {
  if (entity.kind === "storage") updateStorage(lives, uid, entity, i, end);
  else if (entity.kind === "tensor" || entity.kind === "array") updateHandle(lives, stays, uid, entity, i, end, now);
  else if (entity.kind === "node") updateNode(lives, uid, entity, i, end);
  else if (entity.kind === "frame" || entity.kind === "object") {
    const cards = entity.kind === "frame" ? lives.frames : lives.objects;
    const life = cards.get(uid) ?? { uid, birth: i, death: end, chips: new Map(), title: 0, label: 0 };
    cards.set(uid, life);
    life.label = Math.max(
      life.label,
      textWidth(entity.kind === "frame" ? truncate(`${entity.name ?? ""}()`, 14) : typeText(entity), 12),
    );
    const chips =
      entity.kind === "frame"
        ? [...entity.vars].filter(([n, v]) => isChip(n, v)).map(([n, v]) => ({ key: n, text: valueText(v, 22, now) }))
        : objectEntries(entity, now);
    if (entity.kind === "object") updateModule(lives, uid, entity);
    for (const { key, text } of chips) life.chips.set(key, Math.max(life.chips.get(key) ?? 0, chipWidth(key, text)));
  }
}

/** Whose parameters and modules an object's attributes are. @param {Lifetimes} lives @param {string} uid @param {any} object */
function updateModule(lives, uid, object) {
  const module = lives.modules.get(uid) ?? { type: "", within: null };
  lives.modules.set(uid, module);
  module.type = object.type ?? module.type;
  for (const value of Object.values(object.attrs ?? {})) {
    const ref = refOf(value);
    if (ref?.[0] === "t" && !lives.owned.has(ref)) lives.owned.set(ref, uid);
    if (ref?.[0] !== "o" || ref === uid) continue;
    const inner = lives.modules.get(ref) ?? { type: "", within: null };
    lives.modules.set(ref, inner);
    inner.within ??= uid;
  }
}

/** @param {Lifetimes} lives @param {Map<string, string>} stays @param {string} uid @param {any} entity @param {number} i
 * @param {number} end @param {import("../state.js").Entities} now */
function updateHandle(lives, stays, uid, entity, i, end, now) {
  const key = handleKey(uid, entity);
  const old = stays.get(uid);
  if (old && old !== key) {
    const left = lives.handles.get(old);
    if (left) left.death = i - 1;
  }
  stays.set(uid, key);
  const list = reads(entity);
  const rows = readLines(list);
  const text = cardText(entity);
  const cardW = Math.max(
    textWidth(text.shape, 13) + textWidth(`∇ ${text.role}`, 11) + 40,
    textWidth(text.second, 10.5) + 28,
  );
  const life = lives.handles.get(key) ?? {
    key,
    uid,
    storage: entity.storage ?? null,
    counter: entity.counter ?? null,
    birth: i,
    death: end,
    lines: 1,
    inOrder: true,
    last: 0,
    cardW: 0,
  };
  // A handle that comes back to where it was keeps the place for all the time between.
  life.death = end;
  life.lines = Math.max(life.lines, rows.length);
  life.inOrder &&= rows.length <= 1;
  life.last = entity.shape?.length > 1 ? entity.shape[entity.shape.length - 1] : life.last;
  life.cardW = Math.max(life.cardW, cardW);
  lives.handles.set(key, life);
  const grad = entity.grad && now.get(entity.grad)?.storage;
  if (grad && entity.storage && !lives.owners.has(grad)) lives.owners.set(grad, entity.storage);
  if (entity.grad_fn) {
    const made = lives.nodes.get(entity.grad_fn);
    if (made && !made.handle) made.handle = key;
    else if (!made) pending(lives).set(entity.grad_fn, key);
  }
}

/** @type {WeakMap<Lifetimes, Map<string, string>>} */
const waiting = new WeakMap();
/** Handles seen before their node in the same step. @param {Lifetimes} lives */
function pending(lives) {
  const map = waiting.get(lives) ?? new Map();
  waiting.set(lives, map);
  return map;
}

/** @param {Lifetimes} lives @param {string} uid @param {any} entity @param {number} i @param {number} end */
function updateNode(lives, uid, entity, i, end) {
  const life = lives.nodes.get(uid) ?? {
    uid,
    name: "",
    birth: i,
    death: end,
    slots: /** @type {string[]} */ ([]),
    slotW: 0,
    next: [],
    handle: pending(lives).get(uid) ?? null,
    variable: null,
    chip: 0,
    pinned: new Map(),
  };
  life.name = entity.name ?? life.name;
  life.variable = entity.variable ?? life.variable;
  if (entity.next?.length) life.next = entity.next;
  for (const [slot, saved] of Object.entries(/** @type {Record<string, any>} */ (entity.saved ?? {}))) {
    if (!life.slots.includes(slot)) life.slots.push(slot);
    const late = saved.state === "stale" ? ", now v10" : saved.state === "ok" ? "" : ` ${saved.state}`;
    life.slotW = Math.max(
      life.slotW,
      textWidth(`${slot}  ${saved.storage ?? "None"} @ v${saved.expected ?? 0}${late}`, 10.5),
    );
    const key = pinKey(uid, slot, saved);
    const held = saved.storage && saved.state !== "freed";
    const before = life.pinned.get(slot);
    if (before && (!held || before !== key)) unpin(lives, before, i);
    if (!held) continue;
    const pin = lives.pins.get(key) ?? {
      node: uid,
      slot,
      storage: saved.storage,
      birth: i,
      death: end,
      alarms: false,
    };
    pin.death = end;
    pin.alarms ||= ALARMS.has(saved.state);
    life.pinned.set(slot, key);
    lives.pins.set(key, pin);
  }
  lives.nodes.set(uid, life);
}

/** @param {Lifetimes} lives @param {import("./names.js").Names} names */
function measureTags(lives, { tags }) {
  for (const [uid, list] of tags) {
    const total = list.reduce((sum, tag) => sum + tagWidth(tag) + 4, 0);
    if (uid[0] === "o") {
      const card = lives.objects.get(uid);
      if (card) card.title = Math.max(card.title, total);
    } else {
      lives.tags = Math.max(lives.tags, total);
      lives.named.add(uid);
    }
  }
}

/** @param {import("./names.js").Tag} tag @param {number} [font] */
export function tagWidth(tag, font = 13) {
  return Math.ceil(textWidth(tag.text, font) + (tag.scope ? textWidth(tag.scope, font - 3) + 8 : 0) + 24);
}
