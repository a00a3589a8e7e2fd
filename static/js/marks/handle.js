/** A tensor handle (or a numpy array): its card, its name tags, its counter's rail, its wire and beads. */

import { cardText, tagWidth } from "../layout/card_texts.js";
import { truncate, EM, textWidth } from "../layout/metrics.js";
import { extent, readLines, numel, plainDtype, reads } from "../layout/reads.js";
import { stripBottom, cellBox } from "../layout/strip.js";
import { find, findHandle } from "../entities.js";
import { cls, h } from "../svg.js";

/** The size of letter under which a version is told with fewer of them. */
const SMALLEST = 7;

/** @typedef {import("./scene_facts.js").Scene} Scene */
/** @typedef {import("../svg.js").VNode} VNode */

/** @param {Scene} scene @param {string} uid @param {any} handle @param {import("../layout/memory.js").CardRow} row */
export function cardMark(scene, uid, handle, row) {
  const { metrics: M, memory } = scene.plan;
  const { x, w } = memory.lanes.handles;
  const text = cardText(handle);
  const tracked = text.tracked || handle.leaf === false;
  const touched = scene.snap.fresh.has(uid) || scene.snap.changed.has(uid);
  const named = scene.names.tags.has(uid);
  const bits = (handle.bits ?? []).join(" ");
  const dtype = plainDtype(handle.dtype);
  const role = `${text.tracked ? "∇ " : ""}${text.role}${bits ? ` ${bits}` : ""}`;
  const top = row.y;
  const description = `${uid} ${text.shape} ${dtype}, ${text.second}, ${role}, requires_grad ${text.tracked ? "True" : "False"}`;
  return h(
    "g",
    {
      key: `card ${uid}`,
      class: cls(
        "card",
        tracked ? "tape" : "free",
        scene.snap.fresh.has(uid) && "fresh",
        handle.kind === "array" && "array",
        !named && "unnamed",
      ),
      "data-handle": uid,
      "data-counter": handle.counter ?? null,
      "data-node-ref": handle.grad_fn ?? null,
      "data-grad-ref": handle.grad ?? null,
      "data-on": handle.storage ?? null,
      tabindex: "0",
      role: "group",
      "aria-label": description,
    },
    touched &&
      h("rect", {
        key: "halo",
        class: cls("halo", !scene.snap.fresh.has(uid) && "thin"),
        x: x - 3,
        y: top - 3,
        width: w + 6,
        height: M.cardH + 6,
        rx: 9,
      }),
    h("rect", { key: "box", class: "card-box", x, y: top, width: w, height: M.cardH, rx: 7 }),
    h("path", {
      key: "bar",
      class: "card-bar",
      d: `M${x + 5.5} ${top + 0.5}h-1a5 6.5 0 0 0 -4 6.5v${M.cardH - 14}a5 6.5 0 0 0 4 6.5h1z`,
    }),
    h(
      "text",
      { key: "shape", class: "shape", x: x + 15, y: top + (M.dense ? 14 : 17), "font-size": M.font },
      text.shape,
    ),
    h(
      "text",
      { key: "role", class: "role end", x: x + w - 10, y: top + (M.dense ? 14 : 17), "font-size": M.small + 0.5 },
      role,
    ),
    h(
      "text",
      { key: "second", class: "meta", x: x + 15, y: top + (M.dense ? 26 : 31.5), "font-size": M.small },
      geometryText(text.second, handle, scene),
    ),
    h("title", { key: "title" }, description),
  );
}

/** The dtype is said on the card only where the strip is read under several. @param {string} text @param {any} handle
 * @param {Scene} scene */
function geometryText(text, handle, scene) {
  const cells = find(scene.snap.entities, handle.storage, "storage")?.cells;
  return cells && Object.keys(cells).length > 1 && handle.kind !== "array"
    ? `${plainDtype(handle.dtype)} ${text.replace("stride ", "").replace("offset ", "+")}`
    : text;
}

/** @param {Scene} scene @param {string} uid @param {import("../layout/memory.js").CardRow} row */
export function tagsMark(scene, uid, row) {
  const { metrics: M, memory } = scene.plan;
  const list = scene.names.tags.get(uid) ?? [];
  const lane = memory.lanes.names;
  let x = lane.x + lane.w;
  const out = [];
  const cardX = memory.lanes.handles.x;
  if (!list.length)
    return h("text", { key: `tags ${uid}`, class: "no-name end", x: x + 2, y: row.cy + 4 }, scene.labels.unnamed);
  out.push(h("path", { key: "stem", class: "stem", d: `M${x - 4} ${row.cy}H${cardX}` }));
  let hidden = 0;
  list.forEach((tag, i) => {
    const w = Math.min(tagWidth(tag, M.tagFont), lane.w + 8);
    if (x - w < lane.x - 8 && i > 0) {
      hidden++;
      out.push(tagMark(scene, tag, uid, { x: x - 6, y: row.cy, w, font: M.tagFont, height: M.tagH, hidden: true }));
      return;
    }
    x -= w;
    out.push(tagMark(scene, tag, uid, { x, y: row.cy, w, font: M.tagFont, height: M.tagH, hidden: false }));
    x -= 4;
  });
  if (hidden) out.push(h("text", { key: "more", class: "meta end", x: x - 2, y: row.cy + 4 }, `+${hidden}`));
  return h("g", { key: `tags ${uid}`, class: "tags" }, out);
}

/**
 * A name tag: filled for a variable, outlined for a path, with the function's name before an inner frame's.
 * @param {Scene} scene @param {import("../layout/names.js").Tag} tag @param {string} uid
 * @param {{x: number, y: number, w: number, font: number, height: number, hidden: boolean}} at
 */
export function tagMark(scene, tag, uid, at) {
  const variable = tag.kind === "var";
  const moved = variable && scene.snap.changed.has(`${tag.frame}/${tag.name}`);
  const half = at.height / 2;
  const w = at.w - 4;
  const point = 9;
  const d = `M${at.x + 4} ${at.y - half}h${w - point - 4}l${point} ${half}l${-point} ${half}h${-(w - point - 4)}a4 4 0 0 1 -4 -4v${-(at.height - 8)}a4 4 0 0 1 4 -4z`;
  const prefix = tag.scope ? textWidth(tag.scope, at.font - 3) + 6 : 0;
  const shown = truncate(tag.text, Math.max(2, Math.floor((at.w - 20 - prefix) / (EM * at.font))));
  const text = textWidth(shown, at.font);
  const start = at.x + (w - point + 4 - (prefix + text)) / 2;
  return h(
    "g",
    {
      key: `${tag.frame ?? ""} ${tag.kind} ${tag.name}`,
      class: cls("tag", variable ? "var" : "path", moved && "moved", at.hidden && "tucked"),
      "data-name": variable ? tag.name : null,
      "data-frame": tag.frame,
      "data-ref": uid,
      "data-path": variable ? null : tag.text,
      tabindex: at.hidden ? null : "0",
      role: "img",
      "aria-label": `${tag.scope ? `${tag.scope}: ` : ""}${tag.text}`,
    },
    h("path", { key: "shape", d }),
    tag.scope
      ? h("text", { key: "of", class: "of", x: start, y: at.y + at.font * 0.32, "font-size": at.font - 3 }, tag.scope)
      : null,
    h("text", { key: "text", x: start + prefix, y: at.y + at.font * 0.34, "font-size": at.font }, shown),
    h("title", { key: "title" }, `${tag.scope ? `${tag.scope}: ` : ""}${tag.text} → ${uid}`),
  );
}

/** A rail: as tall as the cards that wear the counter, one window with its number.
 * @param {Scene} scene @param {string} counter @param {string} storage @param {import("../layout/memory.js").CardRow[]} rows */
export function railMark(scene, counter, storage, rows) {
  const { metrics: M, memory } = scene.plan;
  const { x, w } = memory.lanes.rails;
  const value = find(scene.snap.entities, counter, "counter")?.value ?? "?";
  const before = find(scene.previous, counter, "counter")?.value;
  const bumped = before !== undefined && before !== value;
  const badgeY = Math.min(...rows.map((r) => r.cy));
  const low = badgeY - M.cardH / 2;
  const high = Math.max(...rows.map((r) => r.cy)) + M.cardH / 2;
  const { text, size } = versionText(before, value, bumped, w - 8);
  const tall = M.dense ? 0 : 5;
  return h(
    "g",
    {
      key: `rail ${counter} ${storage}`,
      class: cls("rail", bumped && "bumped"),
      "data-counter-badge": counter,
      "data-version": value,
      "data-wearers": rows.length,
      role: "img",
      "aria-label": `${counter} v${value}`,
    },
    bumped &&
      h("rect", { key: "halo", class: "halo", x: x - 2, y: low - 3, width: w + 4, height: high - low + 6, rx: 9 }),
    h("rect", { key: "rail", class: "rail-box", x, y: low, width: w, height: high - low, rx: 7 }),
    !M.dense && h("text", { key: "name", class: "rail-name", x: x + w / 2, y: badgeY - 8 }, counter),
    h("rect", {
      key: "window",
      class: "badge",
      x: x + 3,
      y: badgeY - 10 + tall,
      width: w - 6,
      height: 20 - (tall ? 2 : 0),
      rx: 5,
    }),
    h("text", { key: "version", class: "badge-text", x: x + w / 2, y: badgeY + 4 + tall - 1, "font-size": size }, text),
    h("title", { key: "title" }, `version counter ${counter} = ${bumped ? `${before} → ` : ""}${value}`),
  );
}

/** What of a version fits into its window: the step it made, else the version, else its last digits.
 * @param {any} before @param {any} value @param {boolean} bumped @param {number} room pixels
 * @returns {{text: string, size: number}} */
export function versionText(before, value, bumped, room) {
  const texts = [...(bumped ? [`${before}→${value}`] : []), `v${value}`, `${value}`, `…${String(value).slice(-4)}`];
  const fits = (/** @type {string} */ text) => Math.min(text.length > 4 ? 9.5 : 12, room / textWidth(text, 1));
  const text = texts.find((one) => fits(one) >= SMALLEST) ?? texts[texts.length - 1];
  return { text, size: Math.floor(fits(text) * 10) / 10 };
}

/** The wire to the cells, with a bead for each element in logical order. @param {Scene} scene @param {string} uid
 * @param {any} handle @param {import("../layout/memory.js").CardRow} row */
export function beadsMark(scene, uid, handle, row) {
  const shelf = handle.storage ? scene.plan.memory.storages.get(handle.storage) : undefined;
  const storage = find(scene.snap.entities, handle.storage, "storage");
  if (!shelf || !storage) return null;
  const { metrics: M, memory } = scene.plan;
  const start = handle.counter
    ? memory.lanes.rails.x + memory.lanes.rails.w
    : memory.lanes.handles.x + memory.lanes.handles.w;
  const tracked = Boolean(handle.requires_grad);
  const dtype = plainDtype(handle.dtype);
  const line = shelf.strip.rows.find((r) => plainDtype(r.dtype) === dtype);
  const kind = cls(
    "wire-set",
    tracked ? "tape" : "free",
    handle.kind === "array" && "array",
    scene.snap.fresh.has(uid) && "fresh",
  );
  const attrs = { key: `beads ${uid}`, class: kind, "data-wire": uid };
  const list = line && storage.cells ? reads(handle) : [];
  const count = storage.cells?.[line?.dtype ?? ""]?.length ?? 0;
  if (
    !line ||
    !storage.cells ||
    list.some((r) => r.cell < 0 || r.cell >= count) ||
    (list.length === 0 && numel(handle.shape) > 0)
  )
    return h("g", attrs, extentMark(shelf, start, handle, row));
  if (!list.length) return h("g", attrs, h("path", { key: "wire", class: "wire none", d: `M${start} ${row.cy}h14` }));
  if (shelf.strip.mode !== "cells") return h("g", attrs, gridBeadMarks(scene, uid, shelf, line, list, start, row));
  const laid = readLines(list);
  const writer = scene.writers.has(uid);
  /** @type {(VNode | null)[]} */
  const out = [];
  const left = (/** @type {number} */ cell) => shelf.stripX + cellBox(line, cell).x;
  const stripFoot = shelf.stripY + stripBottom(shelf.strip, storage);
  if (shelf.inline) {
    out.push(h("path", { key: "wire", class: "wire", d: `M${start} ${row.cy}H${shelf.stripX}` }));
    for (const read of list)
      out.push(
        beadMark(uid, handle, read, line.dtype, {
          x: left(read.cell) + 3,
          y: shelf.stripY + M.cellH - 5.5,
          w: line.cw - 6,
          h: 3,
          text: "",
          writer,
        }),
      );
    return h("g", attrs, out);
  }
  const startX = shelf.stripX - M.railGap / 2;
  laid.forEach((reads_, k) => {
    const y = row.beadY + k * M.line;
    // From left to right, also where memory is read backwards: the beads say in which order.
    const cells = [...new Set(reads_.map((read) => read.cell))].sort((a, b) => a - b);
    const tail =
      k === 0
        ? Math.abs(y - row.cy) < 0.5
          ? `M${start} ${row.cy}`
          : `M${start} ${row.cy}H${startX - 4}V${y}`
        : `M${startX - 4} ${row.beadY}V${y}`;
    let d = `${tail}H${left(cells[0]) + 4}`;
    for (let n = 1; n < cells.length; n++)
      d += `M${left(cells[n - 1]) + line.cw / 2} ${y}H${left(cells[n]) + line.cw / 2}`;
    out.push(h("path", { key: `wire ${k}`, class: "wire", d }));
  });
  const low = left(Math.min(...list.map((r) => r.cell))) + 4.5;
  const high = left(Math.max(...list.map((r) => r.cell))) + line.cw - 4.5;
  const arms = laid.length === 1 ? [low, high] : [];
  for (const x of arms)
    out.unshift(h("path", { key: `arm ${x}`, class: "arm", d: `M${x} ${stripFoot + 8}V${row.beadY}` }));
  laid.forEach((reads_, k) => {
    const y = row.beadY + k * M.line;
    for (const { read, depth, of, text } of stackReads(reads_)) {
      const w = line.cw - 9 - (of > 1 ? Math.min(10, (of - 1) * 2.5) : 0);
      const shift = of > 1 ? Math.min(10, (of - 1) * 2.5) * (depth / (of - 1)) : 0;
      out.push(
        beadMark(uid, handle, read, line.dtype, {
          x: left(read.cell) + 4.5 + shift,
          y: y - M.beadH / 2,
          w,
          h: M.beadH,
          text: depth === of - 1 ? text : "",
          writer,
          under: depth < of - 1,
        }),
      );
      if (of > 1 && depth === of - 1)
        out.push(
          h("text", { key: `times ${read.k}`, class: "times", x: left(read.cell) + line.cw - 1, y: y + 3.5 }, `×${of}`),
        );
    }
  });
  return h("g", attrs, out);
}

/** Reads of one line, those of the same cell stacked, the last on top wearing the index.
 * @param {import("../layout/reads.js").Read[]} line */
function stackReads(line) {
  /** @type {Map<number, import("../layout/reads.js").Read[]>} */
  const cells = new Map();
  for (const read of line) cells.set(read.cell, [...(cells.get(read.cell) ?? []), read]);
  return [...cells.values()].flatMap((sameCell) =>
    sameCell.map((read, depth) => ({ read, depth, of: sameCell.length, text: indexText(sameCell) })),
  );
}

/** `1,0`, or `1,:` where a whole row reads one cell. @param {import("../layout/reads.js").Read[]} sameCell */
function indexText(sameCell) {
  const { index } = sameCell[0];
  if (!index.length) return "·";
  return index.map((x, d) => (sameCell.every((r) => r.index[d] === x) ? x : ":")).join(",");
}

/** @param {string} uid @param {any} handle @param {import("../layout/reads.js").Read} read @param {string} dtype
 * @param {{x: number, y: number, w: number, h: number, text: string, writer: boolean, under?: boolean}} at */
function beadMark(uid, handle, read, dtype, at) {
  const size = Math.min(10.5, (at.w - 4) / (0.603 * Math.max(1, at.text.length)));
  return h(
    "g",
    {
      key: `bead ${read.k}`,
      class: cls("bead", at.writer && "writer", !at.text && !at.under && "plain"),
      "data-bead": `${uid}:${read.k}`,
      "data-reads": `${handle.storage}:${read.cell}`,
      "data-index": read.index.join(","),
      "data-dtype": dtype,
    },
    h("rect", { key: "box", x: at.x, y: at.y, width: at.w, height: at.h, rx: at.h / 2 }),
    at.text
      ? h("text", { key: "text", x: at.x + at.w / 2, y: at.y + at.h / 2 + size * 0.35, "font-size": size }, at.text)
      : null,
    h("title", { key: "title" }, `[${read.index.join(", ")}] → ${handle.storage}[${read.cell}]`),
  );
}

/** On a wrapped strip a bead is a dot at the cell's foot, a place for each reader of the storage.
 * @param {Scene} scene @param {string} uid @param {import("../layout/memory.js").StorageBox} shelf
 * @param {import("../layout/strip.js").Row} line @param {import("../layout/reads.js").Read[]} list @param {number} start
 * @param {import("../layout/memory.js").CardRow} row */
function gridBeadMarks(scene, uid, shelf, line, list, start, row) {
  const handle = /** @type {import("../entities.js").Handle} */ (findHandle(scene.snap.entities, uid));
  const readers = scene.readers.get(shelf.uid) ?? [];
  const turn = readers.indexOf(uid);
  const room = Math.min(7, (line.cw - 6) / Math.max(1, readers.length));
  const out = [
    h("path", {
      key: "wire",
      class: "wire",
      d: `M${start} ${row.cy}H${shelf.stripX + 8 + turn * 9}V${shelf.stripY + shelf.strip.h}`,
    }),
  ];
  for (const read of list) {
    const box = cellBox(line, read.cell);
    out.push(
      beadMark(uid, handle, read, line.dtype, {
        x: shelf.stripX + box.x + 3 + turn * room,
        y: shelf.stripY + box.y + box.h - 5,
        w: Math.max(2, room - 2),
        h: 3,
        text: "",
        writer: false,
      }),
    );
  }
  return out;
}

/** A handle of too many elements to bead: which cells it spans. @param {import("../layout/memory.js").StorageBox} shelf
 * @param {number} start @param {any} handle @param {import("../layout/memory.js").CardRow} row */
function extentMark(shelf, start, handle, row) {
  const span = extent(handle);
  const x = shelf.stripX;
  return [
    h("path", {
      key: "wire",
      class: "wire",
      d: shelf.inline
        ? `M${start} ${row.cy}H${x}`
        : `M${start} ${row.cy}H${x + 10}V${shelf.stripY + shelf.strip.h + 4}`,
    }),
    span &&
      !shelf.inline &&
      h("text", { key: "span", class: "meta", x: x + 20, y: row.cy + 4 }, `${handle.storage}[${span[0]} … ${span[1]}]`),
  ];
}
