/** A storage: its strip of cells with their values, its label, its ghost once freed, its summary when it is big. */

import { bytesText, dtypeText, fullNumber, shortNumber, wireText } from "../layout/format.js";
import { EM, textWidth } from "../layout/metrics.js";
import { extent } from "../layout/reads.js";
import { stripBottom, cellBox, elementCount, HEAT, knownCells, visibleWindow } from "../layout/strip.js";
import { cls, h } from "../svg.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("./scene_facts.js").Scene} Scene */

/** The label left of a strip: the storage's name, dtypes and size. @param {Scene} scene
 * @param {import("../layout/memory.js").StorageBox} shelf @param {any} storage */
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

/** What stands right of a strip that shares its line with its card. @param {string} uid @param {any} storage */
export function inlineLabel(uid, storage) {
  return `${uid} ${Object.keys(storage.cells ?? {})
    .map(dtypeText)
    .join(" ")}`;
}

/** @param {Scene} scene @param {string} uid @param {any} storage @returns {VNode} */
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
        storage.cells[row.dtype].length ===
        [...(scene.snap.written.get(uid) ?? [])].filter((k) => k.startsWith(`${row.dtype}:`)).length,
    );
  const frames =
    s.mode === "summary"
      ? []
      : rows.map((row) => {
          const n = storage.cells[row.dtype].length;
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

/** @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {any} storage */
function stripMarks(scene, shelf, storage) {
  const out = [];
  for (const row of shelf.strip.rows) {
    const values = storage.cells[row.dtype];
    if (!values) continue;
    const most = largest(values);
    const written = scene.snap.written.get(shelf.uid);
    values.forEach((/** @type {any} */ value, /** @type {number} */ i) => {
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

/** The largest finite magnitude. @param {any[]} values */
function largest(values) {
  return values.reduce((m, v) => Math.max(m, Math.abs(magnitude(v))), 0);
}

/** @param {any} v */
function magnitude(v) {
  if (typeof v === "number") return v;
  if (v === true) return 1;
  if (v?.$i) return Number(v.$i);
  if (v?.$f) return v.$f === "nan" ? 0 : v.$f === "inf" ? Infinity : -Infinity;
  return 0;
}

/** @param {any} v @param {number} most */
function signTint(v, most) {
  const a = magnitude(v);
  if (a === 0) return null;
  const share = Number.isFinite(most) && most > 0 ? Math.min(1, Math.abs(a) / most) : Math.abs(a) === Infinity ? 1 : 0;
  return { sign: a < 0 ? "neg" : "pos", opacity: 0.08 + 0.28 * share };
}

/**
 * One cell.
 * @param {Scene} scene @param {string} uid @param {string} dtype @param {number} i @param {any} value
 * @param {{x: number, y: number, w: number, h: number, most: number, mode: string, written: boolean, was: any, inline: boolean,
 * whole?: boolean}} at whole: all cells were written, and the strip says so
 */
export function cellMark(scene, uid, dtype, i, value, at) {
  const { metrics: M } = scene.plan;
  const tint = signTint(value, at.most);
  const isHeat = at.mode === "heat";
  const room = Math.max(3, Math.floor((at.w - 5) / (EM * 10)));
  const text = isHeat ? fullNumber(value) : shortNumber(value, room);
  const fits = text.length * EM * M.font <= at.w - 6;
  const size = fits ? M.font : Math.max(7, Math.min(10, (at.w - 4) / (EM * text.length)));
  const roomy = at.h >= 40;
  const was = at.was === undefined ? null : shortNumber(at.was, Math.max(4, Math.floor((at.w - 8) / (EM * 9))));
  const cx = at.x + at.w / 2;
  const cy = at.y + at.h / 2 + (roomy ? 5 : at.inline ? 2.5 : 4);
  return h(
    "g",
    {
      key: `${dtype} ${i}`,
      class: cls("cell", at.written && "written", isHeat && "heat"),
      "data-cell": `${uid}:${i}`,
      "data-dtype": dtype,
      "data-value": wireText(value),
      tabindex: isHeat ? null : "-1",
      role: "img",
      "aria-label": `${uid}[${i}] ${fullNumber(value)}`,
    },
    h("rect", { class: "cell-box", x: at.x, y: at.y, width: at.w, height: at.h }),
    tint &&
      h("rect", {
        key: "wash",
        class: `wash ${tint.sign}`,
        x: at.x,
        y: at.y,
        width: at.w,
        height: at.h,
        "fill-opacity": tint.opacity,
      }),
    at.written &&
      !at.whole &&
      h("rect", {
        key: "written",
        class: "cell-written",
        x: at.x + 1.5,
        y: at.y + 1.5,
        width: at.w - 3,
        height: at.h - 3,
      }),
    isHeat &&
      value?.$f &&
      h("path", { key: "nonfinite", class: "nonfinite", d: `M${at.x + 3} ${at.y + 3}l${at.w - 6} ${at.h - 6}` }),
    roomy && h("text", { key: "at", class: "index", x: at.x + 4, y: at.y + 10 }, String(i)),
    h(
      "text",
      { key: "val", class: cls("val", !fits && "tight"), x: cx, y: cy - (was && roomy ? 3 : 0), "font-size": size },
      text,
    ),
    was && roomy && h("text", { key: "was", class: "was", x: cx, y: at.y + at.h - 5 }, was),
    h(
      "title",
      { key: "title" },
      `${uid}[${i}] = ${fullNumber(value)} · ${dtypeText(dtype)}${at.was === undefined ? "" : ` (← ${fullNumber(at.was)})`}`,
    ),
  );
}

/** A big storage: the means along it, what was read and written of it, its numbers, and a window onto its cells.
 * @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {any} storage */
function summaryMarks(scene, shelf, storage) {
  const { stripX: x, stripY: y, strip: s } = shelf;
  const dtype = Object.keys(storage.summary ?? storage.windows ?? {})[0] ?? "";
  const facts = storage.summary?.[dtype] ?? {};
  const n = elementCount(storage, dtype);
  const cells = knownCells(storage.windows?.[dtype] ?? []);
  const at = (/** @type {number} */ i) => x + HEAT.x + (i / Math.max(1, n)) * HEAT.w;
  return [
    h("rect", {
      key: "frame",
      class: cls("strip-frame", scene.grads.has(shelf.uid) && "grad"),
      x,
      y,
      width: s.w,
      height: s.h,
      rx: 3,
    }),
    ...heatMarks(shelf, dtype, facts, n, at),
    ...tickMarks(shelf, dtype, cells, at),
    ...writeMarks(scene, shelf, n, at),
    h("text", { key: "first", class: "index", x: x + HEAT.x, y: y + 52 }, "0"),
    h("text", { key: "last", class: "index end", x: x + HEAT.x + HEAT.w, y: y + 52 }, String(Math.max(0, n - 1))),
    ...summaryNumbers(facts, x, y + HEAT.numbers),
    ...(cells.length ? windowMarks(scene, shelf, dtype, cells, n, at) : []),
  ];
}

/** The means of equal stretches as colours. @param {import("../layout/memory.js").StorageBox} shelf @param {string} dtype
 * @param {any} facts @param {number} n @param {(i: number) => number} at */
function heatMarks({ uid, stripX: x, stripY: y }, dtype, facts, n, at) {
  const means = /** @type {any[]} */ (facts.heat ?? Array(32).fill(null));
  const most = largest(means);
  const stretches = means.map((mean, k) => {
    const from = Math.floor((k * n) / means.length);
    const to = Math.floor(((k + 1) * n) / means.length);
    const tint = signTint(mean, most);
    return h(
      "g",
      {
        key: `stretch ${k}`,
        class: "stretch",
        "data-open": `${uid}:${from}`,
        "data-span": String(to - from),
        "data-dtype": dtype,
        "data-mean": mean === null ? null : wireText(mean),
      },
      h("rect", {
        key: "ground",
        class: "stretch-ground",
        x: at(from),
        y: y + HEAT.y,
        width: at(to) - at(from),
        height: HEAT.h,
      }),
      tint &&
        h("rect", {
          key: "wash",
          class: `wash ${tint.sign}`,
          x: at(from),
          y: y + HEAT.y,
          width: at(to) - at(from),
          height: HEAT.h,
          "fill-opacity": tint.opacity * 2,
        }),
      h("title", { key: "title" }, `${uid}[${from} … ${to - 1}]${mean === null ? "" : `  mean ${fullNumber(mean)}`}`),
    );
  });
  return [
    ...stretches,
    h("rect", { key: "heat", class: "heat-frame", x: x + HEAT.x, y: y + HEAT.y, width: HEAT.w, height: HEAT.h }),
  ];
}

/** Where cells are known. @param {import("../layout/memory.js").StorageBox} shelf @param {string} dtype @param {{i: number}[]} cells
 * @param {(i: number) => number} at */
function tickMarks({ uid, stripY: y }, dtype, cells, at) {
  let last = -Infinity;
  return cells.flatMap(({ i }, k) => {
    if ((k && cells[k - 1].i === i - 1) || at(i) - last < 9) return [];
    last = at(i);
    return h("path", {
      key: `tick ${i}`,
      class: "tick",
      "data-open": `${uid}:${i}`,
      "data-dtype": dtype,
      d: `M${at(i)} ${y + HEAT.y + HEAT.h + 4}l-3 5h6z`,
    });
  });
}

/** What this step wrote of it. @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {number} n
 * @param {(i: number) => number} at */
function writeMarks({ snap }, { uid, stripY: y }, n, at) {
  const log = /** @type {any[]} */ (snap.step?.log ?? []).filter(
    (entry) => entry.event === "written" && entry.storage === uid,
  );
  return log.flatMap((entry, k) => {
    const by = snap.entities.get(entry.by) ?? snap.step?.set?.[entry.by];
    const region = entry.region ? { kind: "tensor", ...entry.region, storage: uid } : by;
    const span = entry.changed >= n ? [0, n - 1] : region?.shape ? extent(region) : null;
    if (!span) return [];
    const width = Math.max(4, at(span[1] + 1) - at(span[0]));
    return h("rect", {
      key: `wrote ${k}`,
      class: "cell-written",
      "data-wrote": `${span[0]}:${span[1]}`,
      x: Math.min(at(span[0]), at(n) - width),
      y: y + HEAT.y - 3,
      width,
      height: HEAT.h + 6,
      rx: 2,
    });
  });
}

/** @param {any} facts @param {number} x @param {number} y */
function summaryNumbers(facts, x, y) {
  const bins = /** @type {number[]} */ (facts.bins ?? []);
  const top = Math.max(1, ...bins);
  const barW = bins.length ? 112 / bins.length : 0;
  return [
    ...bins.map((n, k) =>
      h("rect", {
        key: `bin ${k}`,
        class: "bin",
        x: x + 10 + k * barW,
        y: y + 22 - (n / top) * 22,
        width: Math.max(0.5, barW - 1),
        height: (n / top) * 22,
      }),
    ),
    h("path", { key: "rule", class: "rule", d: `M${x + 10} ${y + 22.5}h112` }),
    ...["min", "mean", "max"].flatMap((name, k) => [
      h("text", { key: name, class: "meta", x: x + 138 + k * 100, y: y + 18 }, name),
      h(
        "text",
        { key: `${name} value`, class: "meta strong", x: x + 138 + textWidth(name, 10.5) + 6 + k * 100, y: y + 18 },
        facts[name] === undefined || facts[name] === null ? "–" : shortNumber(facts[name], 9),
      ),
    ]),
  ];
}

/** Some of the known cells: from where the reader opened it, else from what this step wrote.
 * @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {string} dtype
 * @param {{i: number, value: any}[]} cells @param {number} n @param {(i: number) => number} at */
function windowMarks(scene, shelf, dtype, cells, n, at) {
  const { uid, stripX: x, stripY: y } = shelf;
  const written = scene.snap.written.get(uid);
  const news = cells.find((cell) => written?.has(`${dtype}:${cell.i}`));
  const shown = visibleWindow(cells, scene.peeks.get(uid) ?? news?.i ?? 0);
  const top = y + HEAT.cells;
  const most = largest(shown.map(({ cell }) => cell.value));
  const low = shown[0].cell.i;
  const high = shown[shown.length - 1].cell.i;
  const turn = (
    /** @type {string} */ key,
    /** @type {number} */ to,
    /** @type {number} */ left,
    /** @type {string} */ d,
  ) =>
    h(
      "g",
      {
        key,
        class: "turn",
        "data-open": `${uid}:${to}`,
        "data-dtype": dtype,
        tabindex: "0",
        role: "button",
        "aria-label": `${uid}[${to}]`,
      },
      h("rect", { key: "ground", x: left, y: top, width: 12, height: HEAT.ch, rx: 2 }),
      h("path", { key: "arrow", class: "tick", d }),
    );
  return [
    h("rect", {
      key: "window",
      class: "window-place",
      x: Math.min(at(low), at(n) - 5),
      y: y + HEAT.y - 1,
      width: Math.max(5, at(high + 1) - at(low)),
      height: HEAT.h + 2,
      rx: 1.5,
    }),
    low > 0 && turn("before", Math.max(0, low - HEAT.most), x + 8, `M${x + 16} ${top + 6}v10l-5 -5z`),
    ...shown.flatMap(({ cell: { i, value }, x: left, first }) => [
      first && h("text", { key: `w${i}`, class: "index", x: x + left, y: top - 4 }, String(i)),
      cellMark(scene, uid, dtype, i, value, {
        x: x + left,
        y: top,
        w: HEAT.cw,
        h: HEAT.ch,
        most,
        mode: "grid",
        written: Boolean(written?.has(`${dtype}:${i}`)),
        was: scene.snap.oldValues.get(`${uid}:${dtype}:${i}`),
        inline: false,
      }),
    ]),
    high < n - 1 &&
      turn("after", high + 1, x + HEAT.x + HEAT.w - 12, `M${x + HEAT.x + HEAT.w - 8} ${top + 6}v10l5 -5z`),
  ];
}

/** The place of a storage freed by this step. @param {Scene} scene @param {string} uid @param {any} storage */
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
