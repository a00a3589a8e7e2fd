/** What a row of the loom wrote: the new values over the old ones, and the counters that ticked. */

import { wireText } from "../layout/format.js";
import { elementBox } from "../layout/loom_columns.js";
import { LINE, WRITE } from "../layout/loom_sizes.js";
import { shortPath } from "../layout/loom_names.js";
import { textWidth, truncate } from "../layout/metrics.js";
import { cls, h } from "../svg.js";
import { fittedNumber, hazardMarks } from "./loom_head.js";

/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */
/** @typedef {import("../layout/run_rows.js").Change} Change */

/** What a statement wrote: the new values, and the old ones struck. @param {LoomScene} scene
 * @param {import("../layout/loom.js").WriteBox} box @param {number} r */
export function writeMark({ plan, labels, i, now: here }, { write, column, y, cy }, r) {
  const maxChars = Math.max(4, Math.floor((column.w + 30) / 6));
  const own = plan.graph.short ? (plan.run.storageNames.get(write.storage) ?? "") : "";
  const full = write.by ? `${labels.through} ${write.by}` : `${own} ${labels.written}`.trim();
  const shown = full.length <= maxChars ? full : shortPath(write.by ?? own, maxChars) || truncate(full, maxChars);
  const top = y + WRITE;
  const parts = [h("text", { key: "by", class: "loom-note", x: column.x + 1, y: y + 11 }, shown)];
  if (write.silent) parts.push(...hazardMarks({ x: column.x - 2, y: top - 2.5, w: column.w + 4, h: LINE + 1 }, 3));
  if (!write.cells.size) parts.push(regionMark(write, column, top));
  const largest = Math.max(...[...write.cells.values()].map((change) => Math.abs(difference(change))), 0);
  for (const [key, change] of write.cells) {
    const [dtype, index] = key.split(":");
    const at = elementBox(column, dtype, Number(index));
    const attributes = {
      key: `write ${key}`,
      class: cls("loom-write", write.silent && "silent"),
      "data-loom-write": `${write.storage}:${index}`,
      "data-dtype": dtype,
      "data-row": r,
      "data-value": wireText(change.now),
      "data-was": wireText(change.was),
    };
    const marks = column.heat ? stripeChange(change, at, top, largest) : valueChange(change, at, top, write.silent);
    parts.push(h("g", attributes, marks));
  }
  for (const [counter, x] of column.rails) {
    if (plan.run.rows[r].bumps.has(counter))
      parts.push(h("path", { key: "stub", class: "loom-stub", d: `M${column.x + column.w} ${cy - 2}H${x - 16}` }));
  }
  return h(
    "g",
    {
      key: `shot ${r} ${write.storage}`,
      class: cls("loom-shot", r === here && write.step > i && "coming"),
      "data-loom-shot": write.storage,
    },
    parts,
  );
}

/** How much a number became larger; 0 of what is no number. @param {Change} change */
function difference({ was, now }) {
  return typeof now === "number" && typeof was === "number" ? now - was : 0;
}

/** Elements that were written and are too many to list. @param {import("../layout/run_rows.js").Write} write
 * @param {import("../layout/loom.js").Column} column @param {number} top */
function regionMark({ span }, column, top) {
  const from = span ? elementBox(column, span[0], span[1]).x : column.x;
  const to = span ? elementBox(column, span[0], span[2] + 1).x : column.x + column.w;
  return h("rect", {
    key: "whole",
    class: cls("loom-ink", to - from < 8 && "thin"),
    x: from,
    y: top,
    width: Math.max(2, to - from),
    height: LINE - 4,
    rx: 2,
  });
}

/** A written element of a strip of colours: its colour says how much it changed. @param {Change} change
 * @param {{x: number, w: number}} at @param {number} top @param {number} largest the largest change of the write */
function stripeChange(change, at, top, largest) {
  const by = difference(change);
  const width = Math.max(at.w, 0.5);
  const inner = { x: at.x, y: top + 4, width, height: LINE - 12 };
  return [
    h("rect", { key: "box", class: "loom-ink thin", x: at.x, y: top, width, height: LINE - 4 }),
    h("rect", { key: "paper", class: "loom-paper", ...inner }),
    by !== 0 &&
      h("rect", {
        key: "change",
        class: cls("loom-change", by < 0 ? "neg" : "pos"),
        ...inner,
        "fill-opacity": 0.15 + 0.7 * (Math.abs(by) / (largest || 1)),
      }),
  ];
}

/** A written cell: its new value, and the old one struck below. @param {Change} change @param {{x: number, w: number}} at
 * @param {number} top @param {boolean} silent */
function valueChange({ was, now }, at, top, silent) {
  const arrow = at.w >= 42;
  const fit = fittedNumber(now, at.w - (arrow ? 12 : 3), 11.5);
  const old = fittedNumber(was, at.w - 4, 10);
  const middle = at.x + at.w / 2;
  return [
    h("rect", { key: "box", class: "loom-ink", x: at.x + 1.5, y: top, width: at.w - 3, height: LINE - 4, rx: 3 }),
    arrow && h("path", { key: "arrow", class: "loom-arrow", d: `M${at.x + 12} ${top + 11}h-6m3 -3l-3 3l3 3` }),
    h(
      "text",
      {
        key: "value",
        class: "loom-new mid",
        x: middle + (arrow ? 5 : 0),
        y: top + (LINE - 4) / 2 + fit.size * 0.35,
        "font-size": fit.size,
      },
      fit.text,
    ),
    h(
      "text",
      { key: "was", class: "loom-old mid", x: middle, y: top + LINE + (silent ? 9 : 7), "font-size": old.size },
      old.text,
    ),
  ];
}

/** A counter that ticked, on every rail it has in this row. @param {LoomScene} scene @param {number} r */
export function bumpMarks({ plan, i, now }, r) {
  const { bumps } = plan.run.rows[r];
  if (!bumps.size) return [];
  const out = [];
  for (const [counter, bump] of bumps)
    for (const column of plan.columns.columnsOfCounter(counter, r)) {
      const x = /** @type {number} */ (column.rails.get(counter));
      const text = `${bump[0]}→${bump[1]}`;
      const w = textWidth(text, 10.5) + 10;
      const left = x - Math.min(w / 2, 17);
      const written = plan.writes[r].find((box) => box.column === column);
      const y = (written?.cy ?? plan.rows[r].cy) - 2;
      out.push(
        h(
          "g",
          {
            key: `bump ${r} ${column.uid} ${counter}`,
            class: cls("loom-bump", r === now && (written?.write.step ?? 0) > i && "coming"),
            "data-loom-bump": counter,
            "data-from": bump[0],
            "data-to": bump[1],
          },
          h("rect", { key: "box", x: left, y: y - 9, width: w, height: 18, rx: 4 }),
          h("text", { key: "text", class: "mid", x: left + w / 2, y: y + 3.8 }, text),
        ),
      );
    }
  return out;
}
