/** The whole run in one picture: cells across, statements down, counters and pins as durations. Pure: plan in, marks out. */

import { HEAD } from "../layout/loom_sizes.js";
import { loomLayout } from "../layout/loom.js";
import { ALL, inBand } from "../layout/view.js";
import { cls, h } from "../svg.js";
import { codeMarks } from "./loom_code.js";
import { edgeMarks, nodeMarks } from "./loom_graph.js";
import { handleMark } from "./loom_handle.js";
import { LOOM_LABELS } from "./loom_labels.js";
import { headMarks } from "./loom_head.js";
import { pinMark } from "./loom_pin.js";
import { clip, visibleRows } from "./loom_scene.js";
import { bumpMarks, writeMark } from "./loom_write.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("../layout/loom.js").Loom} Loom */
/** @typedef {import("../layout/view.js").Band} Band */
/** @typedef {import("./loom_labels.js").LoomLabels} LoomLabels */
/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */

/**
 * The picture of the whole run, as at step i.
 * @param {import("../state.js").OpenTrace} opened @param {number} i
 * @param {Partial<LoomLabels>} [labels]
 * @param {{room?: number, rows?: number}} [options] room: the width to fill; rows: no more rows than this
 * @returns {import("./svg_document.js").Picture}
 */
export function loomPicture(opened, i, labels = {}, { room = 1180, rows } = {}) {
  const plan = loomLayout(opened, { room, scrolls: false });
  const last = plan.rows[Math.min(rows ?? Infinity, plan.rows.length) - 1];
  const height = last ? last.y + last.h : HEAD;
  const { head, code, body } = loomMarks(
    plan,
    opened,
    i,
    labels,
    rows && rows < plan.rows.length ? { top: -Infinity, bottom: height - 1 } : ALL,
  );
  return {
    width: plan.width,
    height,
    cut: rows !== undefined && rows < plan.rows.length,
    nodes: [
      h("g", {}, body),
      h("g", {}, code),
      h("g", {}, head),
      h("g", {}, cornerMarks(plan, { ...LOOM_LABELS, ...labels })),
    ],
  };
}

/**
 * At step i; beyond the last one, the whole run with no row lit.
 * @param {Loom} plan @param {import("../state.js").OpenTrace} opened @param {number} i @param {Partial<LoomLabels>} [labels] @param {Band} [band]
 * @returns {{head: VNode[], code: VNode[], body: VNode[]}}
 */
export function loomMarks(plan, opened, i, labels = {}, band = ALL) {
  const allLabels = { ...LOOM_LABELS, ...labels };
  const now = plan.story.rowOfStep[i] ?? plan.rows.length;
  const scene = { plan, opened, i, now, labels: allLabels, band };
  return { head: headMarks(plan, opened.at(i), allLabels), code: codeMarks(scene), body: bodyMarks(scene) };
}

/** What stands where the two heads meet. @param {Loom} plan @param {LoomLabels} labels @returns {VNode[]} */
export function cornerMarks(plan, labels) {
  if (plan.stacked) return [];
  return [
    h("rect", { key: "ground", class: "loom-ground", x: 0, y: 0, width: plan.code, height: HEAD }),
    h("path", { key: "rule", class: "loom-rule", d: `M0 ${HEAD - 0.5}H${plan.code}` }),
    h("text", { key: "program", class: "loom-axis", x: 16, y: 20 }, labels.program),
    h("text", { key: "runs", class: "loom-note", x: 16, y: 36 }, labels.runs),
    h("text", { key: "memory", class: "loom-axis end", x: plan.code - 10, y: 58 }, labels.memory),
    h("text", { key: "now", class: "loom-note end", x: plan.code - 10, y: 73 }, labels.now),
  ];
}

/** @param {LoomScene} scene @returns {VNode[]} */
function bodyMarks(scene) {
  const { plan, now, band } = scene;
  const rows = visibleRows(scene);
  const out = [];
  const current = plan.rows[now];
  if (current && inBand(band, current.y, current.y + current.h))
    out.push(
      h("rect", {
        key: "band",
        class: "loom-now",
        x: 0,
        y: current.y,
        width: plan.width,
        height: current.h,
        "data-loom-now": now,
      }),
    );
  for (const r of rows) {
    const box = plan.rows[r];
    out.push(
      h("path", {
        key: `rule ${r}`,
        class: "loom-rule",
        d: `M${plan.stacked ? 8 : 16} ${box.foldY + 0.5}H${plan.width - 8}`,
      }),
    );
    if (plan.story.rows[r].skipped)
      out.push(
        h("path", {
          key: `unseen ${r}`,
          class: "loom-unseen",
          d: `M${plan.code + 8} ${box.foldY + 12}H${plan.width - 16}`,
        }),
      );
  }
  for (const column of plan.columns.values()) out.push(...columnMarks(scene, column));
  out.push(...edgeMarks(scene));
  for (const r of rows) {
    for (const handle of plan.handles[r]) out.push(handleMark(scene, handle, r));
    for (const write of plan.writes[r]) out.push(writeMark(scene, write, r));
    out.push(...bumpMarks(scene, r));
  }
  for (const line of plan.pinLines) out.push(pinMark(scene, line));
  for (const r of rows) out.push(...nodeMarks(scene, r));
  const end = current ? current.y + current.h : 0;
  if (current && end < plan.height)
    out.push(
      h("rect", { key: "veil", class: "loom-veil", x: 0, y: end, width: plan.width, height: plan.height - end }),
    );
  return /** @type {VNode[]} */ (out.filter(Boolean));
}

/** Its cells from the row that made it to the row that freed it, its counters as rails.
 * @param {LoomScene} scene @param {import("../layout/loom.js").Column} column */
function columnMarks({ plan, band, labels }, column) {
  const life = /** @type {import("../layout/run_story.js").StorageLife} */ (plan.story.storages.get(column.uid));
  const from = plan.rows[life.birth].y + 1;
  const death = plan.rows[life.death];
  const to = life.freed ? death.y + Math.min(death.h - 12, death.h / 2) : death.y + death.h;
  if (!inBand(band, from, to + 14)) return [];
  const y0 = clip(band, from);
  const y1 = clip(band, to);
  const parts = [
    h("rect", {
      key: "band",
      class: cls("loom-band", life.owner && "grad"),
      x: column.x,
      y: y0,
      width: column.w,
      height: y1 - y0,
    }),
  ];
  if (column.cell && !column.heat) {
    let d = "";
    for (let x = column.x + column.cell; x < column.x + column.w - 1; x += column.cell) d += `M${x} ${y0}V${y1}`;
    if (d) parts.push(h("path", { key: "cells", class: "loom-rule", d }));
  }
  for (const [counter, x] of column.rails)
    if (counter)
      parts.push(
        h("path", {
          key: `rail ${counter}`,
          class: cls("loom-rail", counter !== life.counters[0] && "second"),
          d: `M${x} ${y0}V${y1}`,
          "data-loom-rail": counter,
        }),
      );
  if (y0 === from) parts.push(h("path", { key: "cap", class: "loom-cap", d: `M${column.x} ${from}h${column.w}` }));
  if (life.freed && y1 === to)
    parts.push(
      h("path", { key: "end", class: "loom-end", d: `M${column.x} ${to}h${column.w}` }),
      h("text", { key: "freed", class: "loom-note mid", x: column.x + column.w / 2, y: to + 11 }, labels.freed),
    );
  return [h("g", { key: `column ${column.uid}`, class: "loom-column", "data-loom-column": column.uid }, parts)];
}
