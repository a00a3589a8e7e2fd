/** A storage: its strip of cells with their values, its label, and what stands there once it is freed. */

import { bytesText, dtypeText } from "../layout/format.js";
import { cellBox, stripBottom } from "../layout/strip.js";
import { cls, h } from "../svg.js";
import { cellMark, largest } from "./cell.js";
import { summaryMarks } from "./summary.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("./scene_facts.js").Scene} Scene */

/** The label left of a strip: the storage's name, dtypes and size. @param {Scene} scene
 * @param {import("../layout/memory.js").StorageBox} shelf @param {import("../entities.js").Storage} storage */
function storageTitle(scene, shelf, storage) {
  const { metrics: M } = scene.plan;
  const x = shelf.stripX - 14;
  if (shelf.inline) {
    const at = shelf.stripX + shelf.strip.w + 10 + shelf.side;
    return h("text", { key: "name", class: "index", x: at, y: shelf.labelY + 3.5 }, inlineLabel(shelf.uid, storage));
  }
  const dtypes = Object.keys(storage.cells ?? storage.summary ?? storage.windows ?? {}).map(dtypeText);
  const inside = storage.within ? ` · ${scene.labels.inside} ${storage.within.storage} +${storage.within.at} B` : "";
  const device = storage.device && storage.device !== "cpu" ? ` · ${storage.device}` : "";
  const size = `${storage.nbytes === undefined ? "?" : bytesText(storage.nbytes)}${device}`;
  const several = shelf.strip.rows.filter((r) => storage.cells?.[r.dtype]).length > 1;
  const second = `${several ? "" : dtypes.join(", ")}${dtypes.length && !several ? " · " : ""}${size}${inside}`;
  if (several)
    return [
      h("text", { key: "name", class: "shelf-name end", x: x - 66, y: shelf.labelY + 4 }, `${shelf.uid}  ${second}`),
      shelf.strip.rows
        .filter((r) => storage.cells?.[r.dtype])
        .map((r) =>
          h(
            "text",
            { key: `dtype ${r.dtype}`, class: "meta end", x, y: shelf.stripY + r.y + Math.min(r.ch, 44) / 2 + 4 },
            dtypeText(r.dtype),
          ),
        ),
    ];
  return M.dense && shelf.strip.h < 30
    ? h("text", { class: "shelf-name end", x, y: shelf.labelY + 4 }, `${shelf.uid}  ${second}`)
    : [
        h("text", { class: "shelf-name end", x, y: shelf.labelY - 3 }, shelf.uid),
        h("text", { class: "meta end", x, y: shelf.labelY + 13 }, second),
      ];
}

/** What stands right of a strip that shares its line with its card. @param {string} uid
 * @param {import("../entities.js").Storage | undefined} storage */
export function inlineLabel(uid, storage) {
  return `${uid} ${Object.keys(storage?.cells ?? {})
    .map(dtypeText)
    .join(" ")}`;
}

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Storage} storage @returns {VNode} */
export function storageMark(scene, uid, storage) {
  const shelf = scene.plan.memory.storages.get(uid);
  if (!shelf) return h("g", { key: `shelf ${uid}` });
  const fresh = scene.snap.fresh.has(uid);
  const written = scene.snap.written.has(uid);
  const grad = scene.grads.has(uid);
  const body = storage.cells ? stripMarks(scene, shelf, storage) : summaryMarks(scene, shelf, storage);
  const { stripX: x, stripY: y, strip: s } = shelf;
  const now = Object.keys(storage.cells ?? {});
  const rows = s.rows.filter((r) => now.includes(r.dtype));
  const allWritten =
    fresh ||
    rows.every(
      (row) =>
        storage.cells?.[row.dtype].length ===
        [...(scene.snap.written.get(uid) ?? [])].filter((k) => k.startsWith(`${row.dtype}:`)).length,
    );
  const frames =
    s.mode === "summary"
      ? []
      : rows.map((row) => {
          const n = storage.cells?.[row.dtype].length ?? 0;
          const w = Math.max(1, Math.min(n, row.cols)) * row.cw;
          const hgt = Math.max(1, Math.ceil(n / row.cols)) * row.ch;
          return [
            (fresh || written) &&
              allWritten &&
              h("rect", {
                key: `halo ${row.dtype}`,
                class: cls("halo", written && "pulse"),
                x: x - 3.5,
                y: y + row.y - 3.5,
                width: w + 7,
                height: hgt + 7,
                rx: 6,
              }),
            h("rect", {
              key: `frame ${row.dtype}`,
              class: cls("strip-frame", grad && "grad"),
              x,
              y: y + row.y,
              width: w,
              height: hgt,
              rx: 3,
            }),
          ];
        });
  const board =
    !shelf.inline && s.mode === "cells" && rows.length
      ? h("path", { key: "board", class: "board", d: `M${x - 10} ${y + stripBottom(s, storage) + 5}H${x + s.w + 10}` })
      : null;
  return h(
    "g",
    { key: `shelf ${uid}`, class: cls("shelf", fresh && "fresh"), "data-storage-strip": uid },
    storageTitle(scene, shelf, storage),
    board,
    body,
    frames,
  );
}

/** @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {import("../entities.js").Storage} storage */
function stripMarks(scene, shelf, storage) {
  const out = [];
  for (const row of shelf.strip.rows) {
    const values = storage.cells?.[row.dtype];
    if (!values) continue;
    const most = largest(values);
    const written = scene.snap.written.get(shelf.uid);
    values.forEach((value, i) => {
      const box = cellBox(row, i);
      const key = `${row.dtype}:${i}`;
      out.push(
        cellMark(scene, shelf.uid, row.dtype, i, value, {
          x: shelf.stripX + box.x,
          y: shelf.stripY + box.y,
          w: box.w,
          h: box.h,
          most,
          mode: row.mode,
          written: Boolean(written?.has(key)),
          whole: written?.size === values.length,
          was: scene.snap.oldValues.get(`${shelf.uid}:${key}`),
          inline: shelf.inline,
        }),
      );
    });
    if (!values.length)
      out.push(
        h("rect", {
          key: `void ${row.dtype}`,
          class: "void",
          x: shelf.stripX,
          y: shelf.stripY + row.y,
          width: row.cw,
          height: row.ch,
        }),
      );
  }
  return out;
}

/** The place of a storage freed by this step. @param {Scene} scene @param {string} uid @param {import("../entities.js").Storage} storage */
export function ghostMark(scene, uid, storage) {
  const shelf = scene.plan.memory.storages.get(uid);
  if (!shelf) return null;
  const w = Math.max(64, shelf.strip.w);
  const { stripX: x, stripY: y } = shelf;
  const hgt = Math.min(shelf.strip.h, 60);
  return h(
    "g",
    { key: `ghost ${uid}`, class: "ghost", "data-ghost": uid },
    h("rect", { x, y, width: w, height: hgt, rx: 3 }),
    h("text", { x: x + w / 2, y: y + hgt / 2 + 4 }, scene.labels.freed),
    h(
      "text",
      { class: "meta end", x: x - 14, y: y + hgt / 2 + 4 },
      storage.nbytes === undefined ? uid : `${uid} · ${bytesText(storage.nbytes)}`,
    ),
  );
}
