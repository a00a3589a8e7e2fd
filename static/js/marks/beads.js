/** How a handle reads its storage: a wire to the cells with a bead for each element, in logical order. */

import { find, findHandle } from "../entities.js";
import { extent, numel, plainDtype, readLines, reads } from "../layout/reads.js";
import { cellBox, stripBottom } from "../layout/strip.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */
/** @typedef {import("../svg.js").VNode} VNode */

/** The wire to the cells, with a bead for each element in logical order. @param {Scene} scene @param {string} uid
 * @param {import("../entities.js").Handle} handle @param {import("../layout/memory.js").CardRow} row */
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

/** @param {string} uid @param {import("../entities.js").Handle} handle @param {import("../layout/reads.js").Read} read @param {string} dtype
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
 * @param {number} start @param {import("../entities.js").Handle} handle @param {import("../layout/memory.js").CardRow} row */
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
