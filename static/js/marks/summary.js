/** A storage too big to list: its means as colours, its numbers, and a window onto some of its cells. */

import { findHandle } from "../entities.js";
import { fullNumber, shortNumber, wireText } from "../layout/format.js";
import { textWidth } from "../layout/metrics.js";
import { extent } from "../layout/reads.js";
import { elementCount, HEAT, knownCells, visibleWindow } from "../layout/strip.js";
import { cls, h } from "../svg.js";
import { cellMark, largest, signTint } from "./cell.js";

/** @typedef {import("../entities.js").Cell} Cell */

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** A big storage: the means along it, what was read and written of it, its numbers, and a window onto its cells.
 * @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {import("../entities.js").Storage} storage */
export function summaryMarks(scene, shelf, storage) {
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
 * @param {import("../trace.js").Summary} facts @param {number} n @param {(i: number) => number} at */
function heatMarks({ uid, stripX: x, stripY: y }, dtype, facts, n, at) {
  /** @type {(Cell | null)[]} */
  const means = facts.heat ?? Array(32).fill(null);
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
  const log = (snap.step?.log ?? []).flatMap((entry) =>
    entry.kind === "event" && entry.event === "written" && entry.storage === uid ? [entry] : [],
  );
  return log.flatMap((entry, k) => {
    const by = findHandle(snap.entities, entry.by) ?? snap.step?.set?.[entry.by ?? ""];
    /** @type {import("../layout/reads.js").Reading | undefined} */
    const region = entry.region
      ? { kind: "tensor", ...entry.region, storage: uid }
      : /** @type {import("../entities.js").Handle | undefined} */ (by);
    const span = (entry.changed ?? 0) >= n ? [0, n - 1] : region?.shape ? extent(region) : null;
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

/** @param {import("../trace.js").Summary} facts @param {number} x @param {number} y */
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
    .../** @type {const} */ (["min", "mean", "max"]).flatMap((name, k) => [
      h("text", { key: name, class: "meta", x: x + 138 + k * 100, y: y + 18 }, name),
      h(
        "text",
        { key: `${name} value`, class: "meta strong", x: x + 138 + textWidth(name, 10.5) + 6 + k * 100, y: y + 18 },
        facts[name] == null ? "–" : shortNumber(facts[name], 9),
      ),
    ]),
  ];
}

/** Some of the known cells: from where the reader opened it, else from what this step wrote.
 * @param {Scene} scene @param {import("../layout/memory.js").StorageBox} shelf @param {string} dtype
 * @param {{i: number, value: Cell}[]} cells @param {number} n @param {(i: number) => number} at */
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
