/** The memory side of the plan: every shelf, card row, rail and pin gets its place for its whole life. */

import { push } from "../multimap.js";
import { pack, Packer } from "./packing.js";
import { strip } from "./strip.js";

/** Pins of one storage that stand side by side. */
const FANNED = 6;

/**
 * @typedef {import("./strip.js").Strip} Strip
 * @typedef {{uid: string, y: number, h: number, birth: number, death: number, x: number, w: number, stripX: number,
 *   stripY: number, strip: Strip, labelY: number, inline: boolean, pinY: number,
 *   owner: string | null, side: number}} StorageBox   side: room for pins at the strip's right
 * @typedef {{key: string, y: number, cy: number, h: number, beadY: number, storage: string | null, zone: string}} CardRow
 * @typedef {{uid: string, y: number, h: number, birth: number, death: number, x: number, w: number,
 *   chips: Map<string, {x: number, y: number, w: number}>, titleW: number}} Card
 * @typedef {{x: number, w: number}} Lane
 * @typedef {{storages: Map<string, StorageBox>, rows: Map<string, CardRow>,
 *   cards: Map<string, Card>, pins: Map<string, {x: number, y: number}>, placeholders: Map<string, string>,
 *   lanes: {names: Lane, handles: Lane, rails: Lane, storages: Lane}, width: number, height: number}} Memory
 */

/**
 * @param {import("./lifetimes.js").Lifetimes} lives
 * @param {import("./metrics.js").Metrics} M
 * @param {number} [widest] the most room that name tags get
 * @returns {Memory}
 */
export function memoryLayout(lives, M, widest = 300) {
  const tagW = Math.max(56, Math.min(widest, lives.tags));
  let cardW = 128;
  for (const life of lives.handles.values()) cardW = Math.max(cardW, Math.min(280, life.cardW));
  const cardX = M.pad + tagW + 14;
  const railX = cardX + cardW + 3;
  const stripX = railX + M.rail + M.railGap;
  /** @type {Memory} */
  const out = {
    storages: new Map(),
    rows: new Map(),
    cards: new Map(),
    pins: new Map(),
    placeholders: new Map(),
    lanes: {
      names: { x: M.pad, w: tagW },
      handles: { x: cardX, w: cardW },
      rails: { x: railX, w: M.rail },
      storages: { x: stripX, w: 0 },
    },
    width: 0,
    height: 0,
  };
  const drafts = draftStorages(lives, M);
  const right = Math.max(
    stripX + 132,
    ...[...drafts.values()].map(
      (d) => stripX + d.strip.w + d.side + (d.inline && !lives.storages.get(d.uid)?.passing ? 74 : 0),
    ),
  );
  out.lanes.storages.w = right - stripX;
  out.width = right + M.pad;

  /** @type {{birth: number, death: number, rank: number, uid: string, h: number, put: (y: number) => void}[]} */
  const blocks = [];
  for (const group of cardGroups(lives)) {
    const width = right - M.pad;
    let x = M.pad;
    let line = 0;
    let h = 0;
    const laid = group.map((card) => {
      const flowed = flowCard(card, width, M);
      if (x > M.pad && x + flowed.w > right) [x, line] = [M.pad, line + h + 8];
      h = x === M.pad ? flowed.h : Math.max(h, flowed.h);
      const at = { ...flowed, uid: card.uid, x, y: line, birth: card.birth, death: card.death };
      x += flowed.w + 10;
      return at;
    });
    const put = (/** @type {number} */ y) => {
      for (const card of laid) out.cards.set(card.uid, { ...card, y: card.y + y });
    };
    const [{ uid, birth }] = group;
    const death = Math.max(...group.map((card) => card.death));
    blocks.push({ birth, death, rank: uid[0] === "f" ? 0 : 1, uid, h: line + h + 14, put });
  }
  for (const [uid, d] of drafts) {
    if (d.owner) continue;
    const put = (/** @type {number} */ y) => {
      placeStorage(out, d, y, stripX, M);
      for (const kid of d.kids) placeStorage(out, kid.draft, y + d.h + kid.y, stripX, M);
      if (d.kids.length) out.placeholders.set(uid, d.kids[0].draft.uid);
    };
    blocks.push({ birth: d.birth, death: d.death, rank: 2, uid, h: d.h + d.below + M.gap, put });
  }
  for (const life of lives.handles.values()) {
    if (life.storage && lives.storages.has(life.storage)) continue;
    const put = (/** @type {number} */ y) =>
      out.rows.set(life.key, {
        key: life.key,
        y,
        cy: y + M.cardH / 2,
        h: M.pitch,
        beadY: y + M.cardH / 2,
        storage: null,
        zone: `|${life.uid}`,
      });
    blocks.push({ birth: life.birth, death: life.death, rank: 3, uid: life.uid, h: M.pitch + 8, put });
  }
  blocks.sort(
    (a, b) => a.birth - b.birth || a.rank - b.rank || b.death - a.death || uidNumber(a.uid) - uidNumber(b.uid),
  );
  const slots = new Packer();
  for (const block of blocks) block.put(M.head + 10 + slots.allocate(block.birth, block.death, block.h));
  out.height = M.head + 10 + slots.height + 12;
  return out;
}

/** Frames each in a line of their own; containers made by one step side by side. @param {import("./lifetimes.js").Lifetimes} lives */
function cardGroups(lives) {
  /** @type {Map<string, import("./lifetimes.js").CardLifetime[]>} */
  const groups = new Map();
  for (const card of lives.frames.values()) push(groups, card.uid, card);
  for (const card of lives.objects.values()) push(groups, `o${card.birth}`, card);
  for (const list of groups.values()) list.sort((a, b) => uidNumber(a.uid) - uidNumber(b.uid));
  return groups.values();
}

/** @param {string} uid */
function uidNumber(uid) {
  return Number(uid.slice(1));
}

/**
 * @typedef {{uid: string, birth: number, death: number, strip: Strip, readers: import("./lifetimes.js").HandleLifetime[],
 *   pins: (import("../trace_index.js").Pin & {key: string, at: number})[], pinZone: number, side: number,
 *   inline: boolean, h: number, below: number, owner: string | null, kids: {draft: Draft, y: number}[],
 *   rows: {life: import("./lifetimes.js").HandleLifetime, y: number, h: number, zone: string}[], stripY: number}} Draft
 */

/** Every shelf's inner arrangement. @param {import("./lifetimes.js").Lifetimes} lives
 * @param {import("./metrics.js").Metrics} M @returns {Map<string, Draft>} */
function draftStorages(lives, M) {
  /** @type {Map<string, import("./lifetimes.js").HandleLifetime[]>} */
  const readers = new Map();
  for (const life of lives.handles.values()) push(readers, life.storage ?? "", life);
  /** @type {Map<string, (import("../trace_index.js").Pin & {key: string})[]>} */
  const pins = new Map();
  for (const [key, pin] of lives.index.pins) if (pin.death >= pin.birth) push(pins, pin.storage, { ...pin, key });
  /** @type {Map<string, Draft>} */
  const drafts = new Map();
  for (const [uid, life] of lives.storages)
    drafts.set(uid, arrangeStorage(life, readers.get(uid) ?? [], pins.get(uid) ?? [], M));
  for (const [uid, owner] of lives.index.gradOwners) placeGradBelow(drafts, uid, owner);
  for (const d of drafts.values()) {
    const slots = new Packer();
    d.kids.sort((a, b) => a.draft.birth - b.draft.birth);
    for (const kid of d.kids)
      kid.y = M.gap * 0.5 + slots.allocate(kid.draft.birth, kid.draft.death, kid.draft.h + M.gap * 0.5);
    d.below = slots.height;
  }
  return drafts;
}

/** A leaf's `.grad` stands right below it, at a place kept free from the leaf's birth.
 * @param {Map<string, Draft>} drafts @param {string} uid @param {string} owner */
function placeGradBelow(drafts, uid, owner) {
  const kid = drafts.get(uid);
  const parent = drafts.get(owner);
  if (!kid || !parent || uid === owner || parent.owner || kid.kids.length || kid.birth <= parent.birth) return;
  kid.owner = owner;
  parent.kids.push({ draft: kid, y: 0 });
  parent.death = Math.max(parent.death, kid.death);
}

/**
 * @param {import("./lifetimes.js").StorageLifetime} life @param {import("./lifetimes.js").HandleLifetime[]} readers
 * @param {(import("../trace_index.js").Pin & {key: string})[]} pins @param {import("./metrics.js").Metrics} M
 * @returns {Draft}
 */
function arrangeStorage(life, readers, pins, M) {
  const full = strip(life, readers, M);
  const body = life.passing ? { ...full, w: Math.min(full.w, 160), h: 24 } : full;
  const inline = (M.dense || life.passing) && body.mode === "cells" && body.rows.length <= 1 && oneAtATime(readers);
  const { at, width } = arrangePins(pins);
  const pinZone = pins.length && !M.dense ? M.pin : 0;
  const above = Math.max(0, 8 + width - body.w);
  const side = M.dense ? (pins.length ? 10 + width : 0) : above;
  /** @type {Draft} */
  const d = {
    uid: life.uid,
    birth: life.birth,
    death: life.death,
    strip: body,
    readers,
    pins: at,
    pinZone,
    side,
    inline,
    h: 0,
    below: 0,
    owner: null,
    kids: [],
    rows: [],
    stripY: 0,
  };
  if (inline) {
    d.stripY = (M.cardH - M.cellH) / 2;
    for (const reader of readers) {
      d.rows.push({ life: reader, y: 0, h: M.cardH, zone: reader.counter ?? `|${reader.uid}` });
    }
    d.h = M.cardH;
    return d;
  }
  d.stripY = pinZone;
  const top = pinZone + body.h + M.board + (M.dense ? 4 : 8);
  const beads = body.mode === "cells";
  /** @type {Map<string, import("./lifetimes.js").HandleLifetime[]>} */
  const zones = new Map();
  for (const reader of [...readers].sort((a, b) => a.birth - b.birth))
    push(zones, reader.counter ?? `|${reader.uid}`, reader);
  const tall = (/** @type {import("./lifetimes.js").HandleLifetime} */ w) =>
    Math.max(M.pitch, beads ? w.lines * M.line + (w.lines > 1 ? 14 : 0) : 0);
  // Wearers of one counter are neighbours; a counter's rows are let again when all its wearers are gone.
  const inner = [...zones].map(([counter, wearers]) => ({
    counter,
    ...pack(wearers, tall),
    birth: Math.min(...wearers.map((w) => w.birth)),
    death: Math.max(...wearers.map((w) => w.death)),
  }));
  const outer = pack(inner, (zone) => zone.height);
  for (const [zone, at] of outer.places)
    for (const [wearer, y] of zone.places)
      d.rows.push({ life: wearer, y: top + at + y, h: tall(wearer), zone: zone.counter });
  d.h = top + outer.height;
  return d;
}

/** Pins side by side, those that break first; of very many the last lie upon each other like a hand of cards.
 * @template {import("../trace_index.js").Pin} T @param {T[]} pins @returns {{at: (T & {at: number})[], width: number}} */
function arrangePins(pins) {
  const sorted = [...pins].sort((a, b) => a.birth - b.birth);
  const broken = new Packer();
  const intact = new Packer();
  const lanes = new Map(sorted.map((pin) => [pin, (pin.broken ? broken : intact).allocate(pin.birth, pin.death, 1)]));
  const x = (/** @type {number} */ lane) => Math.min(lane, FANNED) * 40 + Math.min(Math.max(0, lane - FANNED), 16) * 4;
  const at = sorted.map((pin) => ({ ...pin, at: x((lanes.get(pin) ?? 0) + (pin.broken ? 0 : broken.height)) }));
  return { at, width: pins.length ? x(broken.height + intact.height - 1) + 40 : 0 };
}

/** Whether at most one reader lives at a time, each in memory order. @param {import("./lifetimes.js").HandleLifetime[]} readers */
function oneAtATime(readers) {
  const sorted = [...readers].sort((a, b) => a.birth - b.birth);
  return sorted.every((r, i) => r.inOrder && (i === 0 || sorted[i - 1].death < r.birth));
}

/** @param {Memory} out @param {Draft} d @param {number} y @param {number} stripX @param {import("./metrics.js").Metrics} M */
function placeStorage(out, d, y, stripX, M) {
  out.storages.set(d.uid, {
    uid: d.uid,
    y,
    h: d.h,
    birth: d.birth,
    death: d.death,
    x: M.pad,
    w: out.lanes.storages.x + d.strip.w - M.pad,
    stripX,
    stripY: y + d.stripY,
    strip: d.strip,
    labelY: y + d.stripY + Math.min(d.strip.h, 44) / 2,
    inline: d.inline,
    pinY: d.inline || M.dense ? y + d.stripY + Math.min(d.strip.h, M.cellH) / 2 : y + 12,
    owner: d.owner,
    side: d.side,
  });
  for (const row of d.rows) {
    const rowY = y + row.y;
    const lines = d.strip.mode === "cells" ? row.life.lines : 1;
    const cy = rowY + (lines > 1 ? Math.max(M.cardH, row.h - 10) / 2 : M.cardH / 2);
    const beadY = lines > 1 ? rowY + M.line / 2 : cy;
    out.rows.set(row.life.key, {
      key: row.life.key,
      y: cy - M.cardH / 2,
      cy,
      h: row.h,
      beadY,
      storage: d.uid,
      zone: row.zone,
    });
  }
  for (const pin of d.pins)
    out.pins.set(
      pin.key,
      M.dense
        ? { x: stripX + d.strip.w + 10 + pin.at, y: y + d.stripY + Math.min(d.strip.h, M.cellH) / 2 }
        : { x: stripX + 4 + pin.at, y: y + 12 },
    );
}

/** A card's chips in lines of the given width. @param {import("./lifetimes.js").CardLifetime} card @param {number} width
 * @param {import("./metrics.js").Metrics} M */
function flowCard(card, width, M) {
  const titleW = Math.ceil(card.title + card.label + 26);
  const w = Math.max(width, titleW + 120);
  /** @type {Map<string, {x: number, y: number, w: number}>} */
  const chips = new Map();
  let x = titleW;
  let y = 0;
  let used = titleW;
  for (const [name, wide] of card.chips) {
    const chip = Math.min(wide, w - titleW - 8);
    if (x + chip > w - 6 && x > titleW) {
      x = titleW;
      y += M.chipH + 4;
    }
    chips.set(name, { x, y: y + 5, w: chip });
    x += chip + 6;
    used = Math.max(used, x);
  }
  return {
    chips,
    titleW,
    w: card.chips.size ? Math.max(used + 2, titleW) : titleW,
    h: y + M.chipH + (card.chips.size || card.title ? 10 : 2),
  };
}
