/** The head of the loom: every storage over its columns, with its values at the step, and its counters. */

import { bytesText, dtypeText, shortNumber, wireText } from "../layout/format.js";
import { HEAD } from "../layout/loom_sizes.js";
import { elementBox } from "../layout/loom_columns.js";
import { truncate, EM, textWidth } from "../layout/metrics.js";
import { find } from "../entities.js";
import { cls, h } from "../svg.js";

/** @typedef {import("../entities.js").Cell} Cell */

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("../layout/loom.js").Loom} Loom */

const BOX = 44;
const BOX_H = 32;
/** A strip of colours has no thinner stripes than this. */
const THIN = 2;

/** The size of letter at which a text fits, and the text. @param {Cell | null | undefined} value @param {number} w @param {number} [most] */
export function fitting(value, w, most = 12.5) {
  const usual = w >= 40 ? most : w >= 30 ? Math.min(most, 10.5) : 9;
  const text = shortNumber(value, Math.max(4, Math.floor((w - 4) / (usual * EM))));
  return { text, size: Math.min(usual, (w - 2) / (Math.max(1, Array.from(text).length) * EM)) };
}

/** @param {Cell | null | undefined} value @param {number} most @param {{x: number, y: number, w: number, h: number}} at @param {string} key */
export function washMark(value, most, at, key) {
  if (typeof value !== "number" || value === 0 || !most) return null;
  return h("rect", {
    key,
    class: cls("wash", value < 0 ? "neg" : "pos"),
    x: at.x,
    y: at.y,
    width: at.w,
    height: at.h,
    "fill-opacity": 0.1 + 0.3 * (Math.abs(value) / most),
  });
}

/** @param {(Cell | null)[]} values */
export function largest(values) {
  return values.reduce(
    (/** @type {number} */ most, v) => (typeof v === "number" ? Math.max(most, Math.abs(v)) : most),
    0,
  );
}

/** Many values as stripes; one stripe for several shows the largest of them. @param {(Cell | null)[]} values
 * @param {{x: number, y: number, w: number, h: number}} at */
export function stripeMarks(values, at) {
  const each = at.w / Math.max(1, values.length);
  const by = Math.max(1, Math.ceil(THIN / each));
  const most = largest(values);
  const out = [];
  for (let i = 0; i < values.length; i += by) {
    const part = values.slice(i, i + by);
    const shown = part.reduce(
      (best, v) => (typeof v === "number" && (typeof best !== "number" || Math.abs(v) > Math.abs(best)) ? v : best),
      part[0],
    );
    out.push(
      washMark(
        shown,
        most,
        { x: at.x + i * each, y: at.y, w: Math.min(by, values.length - i) * each, h: at.h },
        `stripe ${i}`,
      ),
    );
  }
  return out;
}

/** @param {Loom} plan @param {import("../state.js").Snapshot} snap @param {Record<string, string>} labels @returns {VNode[]} */
export function headMarks(plan, snap, labels) {
  const out = [
    h("rect", { key: "ground", class: "loom-ground", x: 0, y: 0, width: plan.width, height: HEAD }),
    h("path", { key: "rule", class: "loom-rule", d: `M0 ${HEAD - 0.5}H${plan.width}` }),
  ];
  if (plan.dots.size)
    out.push(
      h("text", { key: "graph", class: "loom-axis", x: plan.graph.x + 6, y: 58 }, labels.graph),
      h("text", { key: "grows", class: "loom-note", x: plan.graph.x + 6, y: 73 }, plan.stacked ? "" : labels.grows),
    );
  for (const [uid, column] of plan.columns) {
    const storage = find(snap.entities, uid, "storage") ?? snap.freed.get(uid);
    if (!storage) continue;
    out.push(storageMark(plan, snap, uid, storage, column, snap.freed.has(uid), labels));
  }
  return out;
}

/** @param {Loom} plan @param {import("../state.js").Snapshot} snap @param {string} uid @param {import("../entities.js").Storage} storage
 * @param {import("../layout/loom.js").Column} column @param {boolean} ghost @param {Record<string, string>} labels */
function storageMark(plan, snap, uid, storage, column, ghost, labels) {
  const written = snap.written.get(uid);
  const life = plan.story.storages.get(uid);
  const [dtype, values] = /** @type {[string, Cell[]]} */ (Object.entries(storage.cells ?? {})[0] ?? ["", []]);
  const facts = [...new Set(Object.keys(storage.cells ?? storage.summary ?? {}).map(dtypeText))].join(" ");
  const label = ghost ? labels.freed : `${facts} · ${bytesText(storage.nbytes ?? 0)}`;
  const room = column.right - column.x - 18 - textWidth(uid, 12);
  /** @type {(VNode | false | null)[]} */
  const parts = [
    h("text", { key: "name", class: "loom-uid", x: column.x, y: 22 }, uid),
    room > 40 &&
      h(
        "text",
        { key: "facts", class: "loom-note", x: column.x + textWidth(uid, 12) + 8, y: 22 },
        truncate(label, Math.floor(room / 6)),
      ),
    h("title", { key: "title" }, `${uid} · ${label}`),
  ];
  const box = { x: column.x, y: BOX, w: column.w, h: BOX_H };
  const silent = written && plan.story.rows[plan.story.rowOfStep[snap.index]]?.writes.get(uid)?.silent;
  if (written)
    parts.push(
      h("rect", {
        key: "halo",
        class: "loom-halo",
        x: box.x - 3,
        y: box.y - 3,
        width: box.w + 6,
        height: box.h + 6,
        rx: 6,
      }),
    );
  parts.push(h("rect", { key: "paper", class: "loom-paper", x: box.x, y: box.y, width: box.w, height: box.h }));
  if (column.heat) parts.push(...stripeMarks(values, box));
  else {
    const most = largest(values);
    values.forEach((value, i) => {
      const at = elementBox(column, dtype, i);
      const { text, size } = fitting(value, at.w);
      parts.push(
        h(
          "g",
          { key: `cell ${i}`, class: "loom-cell", "data-loom-cell": `${uid}:${i}`, "data-value": wireText(value) },
          washMark(value, most, { x: at.x, y: BOX, w: at.w, h: BOX_H }, "wash"),
          i > 0 && h("path", { key: "rule", class: "loom-rule", d: `M${at.x} ${BOX}v${BOX_H}` }),
          h("text", { key: "index", class: "loom-index mid", x: at.x + at.w / 2, y: BOX - 6 }, String(i)),
          h(
            "text",
            {
              key: "value",
              class: "loom-value mid",
              x: at.x + at.w / 2,
              y: BOX + BOX_H / 2 + size * 0.35,
              "font-size": size,
            },
            text,
          ),
        ),
      );
    });
  }
  if (!storage.cells && storage.summary) {
    /** @type {import("../trace.js").Summary} */
    const facts = Object.values(storage.summary)[0] ?? {};
    if (facts.heat) parts.push(...stripeMarks(facts.heat, box));
    const text = /** @type {const} */ (["min", "max"])
      .map((name) => `${name} ${facts[name] == null ? "–" : shortNumber(facts[name], 6)}`)
      .join("  ");
    parts.push(
      h("text", { key: "summary", class: "loom-note mid", x: box.x + box.w / 2, y: BOX + BOX_H / 2 + 4 }, text),
    );
  }
  if (silent)
    for (const layer of ["", "stripes"])
      parts.push(
        h("rect", {
          key: `hazard ${layer}`,
          class: cls("loom-hazard", layer),
          x: box.x - 2.5,
          y: box.y - 2.5,
          width: box.w + 5,
          height: box.h + 5,
          rx: 4,
        }),
      );
  parts.push(
    h("rect", {
      key: "frame",
      class: cls("loom-frame", life?.owner && "grad", ghost && "ghost"),
      x: box.x,
      y: box.y,
      width: box.w,
      height: box.h,
      rx: 4,
    }),
  );
  for (const [counter, x] of column.rails) {
    const now = find(snap.entities, counter, "counter");
    if (!now) continue;
    const text = `v${now.value}`;
    const w = Math.max(24, textWidth(text, 11) + 11);
    const left = x - Math.min(w / 2, 13);
    parts.push(
      h(
        "g",
        {
          key: `badge ${counter}`,
          class: cls("loom-badge", snap.changed.has(counter) && "moved"),
          "data-loom-badge": counter,
          "data-version": now.value,
        },
        h("path", { key: "stem", class: "loom-rail", d: `M${x} ${BOX + BOX_H}V${HEAD}` }),
        h("rect", { key: "box", x: left, y: BOX + BOX_H / 2 - 10, width: w, height: 20, rx: 10 }),
        h("text", { key: "text", class: "mid", x: left + w / 2, y: BOX + BOX_H / 2 + 4 }, text),
      ),
    );
  }
  return h("g", { key: `head ${uid}`, class: "loom-storage", "data-loom-storage": uid }, parts);
}
