/** The whole story of a run in one picture: cells across, statements down, counters and pins as durations. Pure: plan in, marks out. */

import { chip } from "../layout/chip.js";
import { tuple, wireText } from "../layout/format.js";
import { BOLD, CODE, HEAD, LINE, loomLayout, elementBox, WRITE, TITLE } from "../layout/loom.js";
import { truncate, EM, textWidth } from "../layout/metrics.js";
import { plainDtype } from "../layout/reads.js";
import { ALL, inBand } from "../layout/view.js";
import { cls, h } from "../svg.js";
import { fitting, headMarks } from "./loom_head.js";
import { roundedPath } from "./path.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("../layout/loom.js").Loom} Loom */
/** @typedef {import("../layout/view.js").Band} Band */

/** What the loom says; a page passes its own language's. */
export const LOOM_LABELS = {
  program: "Program",
  runs: "time runs down",
  memory: "Memory",
  now: "now",
  graph: "Graph",
  grows: "grows down; gradients climb up",
  freed: "freed",
  through: "written through",
  written: "written",
  broken: "broken",
  bytes: "other bytes",
  released: "released",
  unseen: "{n} statements passed unseen",
  passing: "freed at once: {n}",
  raises: "raises",
  cut: "no grad_fn",
  visit: "visit {k} of {n}",
  more: "lines more: {n}",
  end: "the end",
};
/** @typedef {Record<keyof typeof LOOM_LABELS, string>} LoomLabels */

const NODE_R = 5;

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

/** @typedef {{plan: Loom, opened: import("../state.js").OpenTrace, i: number, now: number, labels: LoomLabels, band: Band}} LoomScene */

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

/** @param {Band} band @param {number} y */
function clip(band, y) {
  return Math.max(band.top, Math.min(band.bottom, y));
}

/** @param {LoomScene} scene @returns {number[]} the rows in sight */
function visibleRows({ plan, band }) {
  return plan.rows.flatMap((box, r) => (inBand(band, box.foldY, box.y + box.h) ? [r] : []));
}

// ---- the program

/** @param {LoomScene} scene @returns {VNode[]} */
function codeMarks(scene) {
  const { plan, now, labels } = scene;
  const out = [];
  if (!plan.stacked)
    out.push(
      h("rect", { key: "ground", class: "loom-ground", x: 0, y: HEAD, width: plan.code, height: plan.height - HEAD }),
    );
  for (const r of visibleRows(scene)) {
    const box = plan.rows[r];
    const row = plan.story.rows[r];
    const x = 46 + row.inset * 10;
    const here = r === now;
    const parts = [];
    if (here && !plan.stacked)
      parts.push(h("rect", { key: "band", class: "loom-now", x: 0, y: box.y, width: plan.code, height: box.h }));
    if (plan.stacked)
      parts.push(
        h("rect", {
          key: "ground",
          class: cls("loom-under", here && "now"),
          x: 4,
          y: box.codeY - 4,
          width: x + Math.max(90, ...box.code.map((line) => textWidth(line, 12.5))) + (row.turn ? 40 : 4),
          height: box.codeH + 4,
          rx: 4,
        }),
      );
    if (row.skipped)
      parts.push(
        h("path", { key: "fold", class: "loom-fold", d: `M16 ${box.foldY + 12}l3 -4l4 8l4 -8l4 8l3 -4` }),
        h(
          "text",
          { key: "unseen", class: "loom-note", x: 42, y: box.foldY + 16 },
          labels.unseen.replace("{n}", String(row.skipped)),
        ),
      );
    if (here) parts.push(h("path", { key: "here", class: "loom-here", d: `M7 ${box.codeY + 3}l8 5l-8 5z` }));
    const end = row.kind === "end";
    parts.push(
      h(
        "text",
        { key: "line", class: end ? "loom-note" : "loom-line end", x: end ? x : 36, y: box.codeY + 13 },
        end ? labels.end : String(row.line),
      ),
    );
    box.code.forEach((line, k) =>
      parts.push(h("text", { key: `code ${k}`, class: "loom-code", x, y: box.codeY + 13 + k * CODE }, line)),
    );
    const foot = box.codeY + 13 + box.code.length * CODE - 1;
    const notes = [];
    if (row.turn) notes.push(`[${row.turn}]`);
    if (row.kind !== "statement" && /^(call|return|yield|resume)$/.test(row.kind))
      notes.push({ call: "→", return: "←", yield: "⇠", resume: "⇢" }[row.kind] ?? "");
    if (notes.length)
      parts.push(
        h(
          "text",
          {
            key: "turn",
            class: "loom-note",
            x: Math.min(
              x + textWidth(box.code[0] ?? "", 12.5) + 8,
              (plan.stacked ? 360 : plan.code) - notes.join(" ").length * 7 - 4,
            ),
            y: box.codeY + 13,
          },
          notes.join(" "),
        ),
      );
    const raised = row.kind === "raise";
    if (raised) parts.push(h("text", { key: "raises", class: "loom-alarm", x, y: foot }, `✕ ${labels.raises}`));
    else if (row.visits.length) parts.push(...visitMarks(scene, r, x, foot));
    else if (row.freed)
      parts.push(
        h("text", { key: "freed", class: "loom-note", x, y: foot }, labels.passing.replace("{n}", String(row.freed))),
      );
    out.push(
      h(
        "g",
        {
          key: `code ${r}`,
          class: cls("loom-statement", here && "now", r > now && "future"),
          "data-loom-row": r,
          "data-step": row.last,
          "aria-current": here ? "step" : null,
        },
        parts,
      ),
    );
  }
  return out;
}

/** The visits of a backward: a point each, which leads to its step. @param {LoomScene} scene @param {number} r @param {number} x @param {number} y */
function visitMarks({ plan, i, now, labels }, r, x, y) {
  const { visits } = plan.story.rows[r];
  const done = visits.filter((k) => k <= i).length;
  const text = labels.visit
    .replace("{k}", String(r === now ? done : visits.length))
    .replace("{n}", String(visits.length));
  const out = [h("text", { key: "visit", class: "loom-visit", x, y }, text)];
  const from = x + 12 + textWidth(text, 11) * BOLD;
  const pitch = Math.min(11, ((plan.stacked ? 340 : plan.code) - from - 4) / visits.length);
  if (pitch < 4) return out;
  visits.forEach((k, n) => {
    out.push(
      h("circle", {
        key: `visit ${k}`,
        class: cls("loom-point", k === i && "now", k > i && "future"),
        cx: from + n * pitch,
        cy: y - 4,
        r: 3.6,
        "data-step": k,
      }),
    );
  });
  return out;
}

// ---- memory and graph

/** @param {LoomScene} scene @returns {VNode[]} */
function bodyMarks(scene) {
  const { plan, now, band } = scene;
  const rows = visibleRows(scene);
  const out = [];
  const here = plan.rows[now];
  if (here && inBand(band, here.y, here.y + here.h))
    out.push(
      h("rect", {
        key: "band",
        class: "loom-now",
        x: 0,
        y: here.y,
        width: plan.width,
        height: here.h,
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
  const end = here ? here.y + here.h : 0;
  if (here && end < plan.height)
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

/** A handle: windows under the cells that it reads. @param {LoomScene} scene @param {import("../layout/loom.js").HandleBox} box @param {number} r */
function handleMark({ plan, labels, i, now }, box, r) {
  const { reader, column, y, cy, lines, bar } = box;
  const { entity } = reader;
  const meta = `${tuple(entity.shape ?? [])}${entity.kind === "array" ? " numpy" : layoutText(entity)}`;
  const name = reader.title;
  const room = Math.max(column.w, 0) + 34;
  const parts = [];
  const shown = truncate(name, Math.max(3, Math.floor(room / (13 * EM))));
  if (name) parts.push(h("text", { key: "name", class: "loom-name", x: column.x + 1, y: y + 13 }, shown));
  const left = name ? textWidth(shown, 13) + 7 : 0;
  if (room - left > 18)
    parts.push(
      h(
        "text",
        { key: "meta", class: "loom-note", x: column.x + 1 + left, y: y + 13 },
        truncate(meta, Math.max(3, Math.floor((room - left) / 6))),
      ),
    );
  let last = column.x + column.w;
  lines.forEach((line, k) => {
    const { cells } = line;
    const apart = cells.some((c, n) => n && Math.abs(c.x - cells[n - 1].x - cells[n - 1].w) > 0.5);
    const reach = cells.map((c) => c.x + c.w / 2);
    if (apart)
      parts.push(
        h("path", {
          key: `through ${k}`,
          class: "loom-through",
          d: `M${Math.min(...reach)} ${line.y + LINE / 2 - 1}H${Math.max(...reach)}`,
        }),
      );
    if (k === 0) last = Math.max(...cells.map((c) => c.x + c.w));
    cells.forEach((c, n) => {
      const full = `[${c.index}]`;
      const text = textWidth(full, 11) < c.w - 5 ? full : c.index || "·";
      const size = Math.min(11, (c.w - 5) / (Math.max(1, text.length) * EM));
      parts.push(
        h(
          "g",
          {
            key: `window ${c.index}`,
            class: "loom-window",
            "data-loom-reads": `${column.uid}:${c.cell}`,
            "data-index": c.index,
          },
          h("rect", { key: "box", x: c.x + 1.5, y: line.y, width: c.w - 3, height: LINE - 4, rx: 3 }),
          size >= 5 &&
            h(
              "text",
              {
                key: "index",
                class: "mid",
                x: c.x + c.w / 2,
                y: line.y + (LINE - 4) / 2 + size * 0.35,
                "font-size": size,
              },
              text,
            ),
        ),
      );
      if (n === 0 && k === 1) parts.push(...strideMark(lines[0].cells[0], c, cells[cells.length - 1], line.y));
    });
    if (line.more)
      parts.push(
        h(
          "text",
          { key: "more", class: "loom-note", x: column.x + 2, y: line.y + LINE + 6 },
          labels.more.replace("{n}", String(line.more)),
        ),
      );
  });
  if (bar)
    parts.push(
      h("rect", {
        key: "bar",
        class: "loom-bar",
        x: bar[0] + 1,
        y: y + TITLE,
        width: Math.max(2, bar[1] - bar[0] - 2),
        height: LINE - 6,
        rx: 3,
      }),
    );
  const rail = column.rails.get(entity.counter ?? "");
  if (rail !== undefined)
    parts.push(
      h("path", { key: "stub", class: "loom-stub", d: `M${last} ${cy}H${rail}` }),
      h("circle", { key: "dot", class: "loom-wears", cx: rail, cy, r: 4.2 }),
    );
  const made =
    plan.dots.get(entity.grad_fn ?? "") ??
    (entity.leaf && entity.requires_grad
      ? plan.rowDots[r].find((dot) => dot.group === `leaf ${reader.uid} ${r}`)
      : undefined);
  if (made && !reader.alias && made.row === r)
    parts.push(
      h("path", { key: "thread", class: "loom-thread", d: `M${(rail ?? last) + 5} ${cy}H${made.x - NODE_R - 2}` }),
    );
  else if (reader.cut)
    parts.push(
      h("path", { key: "thread", class: "loom-thread", d: `M${(rail ?? last) + 5} ${cy}H${plan.graph.x - 3}` }),
      h("path", { key: "wall", class: "loom-wall", d: `M${plan.graph.x - 3} ${cy - 7}v14` }),
      h(
        "text",
        { key: "why", class: "loom-note", x: (plan.graph.names || plan.graph.x) + 2, y: cy + 4 },
        `${labels.cut}: ${reader.cut.replace(/^Tensor/, "")}`,
      ),
    );
  const { x, w } = plan.memory;
  return h(
    "g",
    {
      key: `handle ${r} ${reader.key}`,
      class: cls(
        "loom-handle",
        reader.grad && "grad",
        !reader.named && "passing",
        reader.alias && "alias",
        r === now && reader.step > i && "coming",
      ),
      "data-loom-handle": reader.uid,
      "data-loom-on": column.uid,
      "data-x": x + w,
    },
    parts,
    h("title", { key: "title" }, `${name || reader.uid} ${meta} ${plainDtype(entity.dtype)}`),
  );
}

/** Stride and offset, where they are not what is usual. @param {any} entity */
function layoutText(entity) {
  const offset = entity.offset ? ` offset ${entity.offset}` : "";
  return entity.stride?.length ? ` stride ${tuple(entity.stride)}${offset}` : offset;
}

/** How far it is from one line to the next. @param {{x: number, w: number, cell: number}} from @param {{x: number, w: number, cell: number}} to
 * @param {{x: number, w: number}} last of the line @param {number} y */
function strideMark(from, to, last, y) {
  const by = to.cell - from.cell;
  const text = `${by < 0 ? "−" : "+"}${Math.abs(by)}`;
  const x = from.x + from.w / 2;
  if (to.x - x < 10) return [h("text", { key: "by", class: "loom-stride", x: last.x + last.w + 4, y: y + 14 }, text)];
  const wide = to.x - x > 40;
  return [
    h("path", { key: "stride", class: "loom-measure", d: `M${x} ${y - 3}v${LINE / 2}H${to.x - 3}m-5 -3l5 3l-5 3` }),
    h(
      "text",
      { key: "by", class: cls("loom-stride", !wide && "end"), x: wide ? x + 5 : x - 4, y: y + (wide ? 6 : 11) },
      text,
    ),
  ];
}

/** What a statement wrote: the new value, and the old one struck. @param {LoomScene} scene @param {import("../layout/loom.js").WriteBox} shot @param {number} r */
function writeMark({ plan, labels, i, now: here }, { write, column, y, cy }, r) {
  const room = Math.max(4, Math.floor((column.w + 30) / 6));
  const full = write.by ? `${labels.through} ${write.by}` : labels.written;
  const shown = truncate(full.length > room && write.by ? write.by : full, room);
  const parts = [h("text", { key: "by", class: "loom-note", x: column.x + 1, y: y + 11 }, shown)];
  const top = y + WRITE;
  if (write.silent)
    for (const layer of ["", "stripes"])
      parts.push(
        h("rect", {
          key: `hazard ${layer}`,
          class: cls("loom-hazard", layer),
          x: column.x - 2,
          y: top - 2.5,
          width: column.w + 4,
          height: LINE + 1,
          rx: 3,
        }),
      );
  if (!write.cells.size) {
    const from = write.span ? elementBox(column, write.span[0], write.span[1]).x : column.x;
    const to = write.span ? elementBox(column, write.span[0], write.span[2] + 1).x : column.x + column.w;
    parts.push(
      h("rect", {
        key: "whole",
        class: cls("loom-ink", to - from < 8 && "thin"),
        x: from,
        y: top,
        width: Math.max(2, to - from),
        height: LINE - 4,
        rx: 2,
      }),
    );
  }
  const size = Math.max(
    ...[...write.cells.values()].map((c) =>
      typeof c.now === "number" && typeof c.was === "number" ? Math.abs(c.now - c.was) : 0,
    ),
    0,
  );
  for (const [key, { was, now }] of write.cells) {
    const [dtype, index] = key.split(":");
    const at = elementBox(column, dtype, Number(index));
    const facts = {
      key: `write ${key}`,
      class: cls("loom-write", write.silent && "silent"),
      "data-loom-write": `${write.storage}:${index}`,
      "data-dtype": dtype,
      "data-row": r,
      "data-value": wireText(now),
      "data-was": wireText(was),
    };
    if (column.heat) {
      const by = typeof now === "number" && typeof was === "number" ? now - was : 0;
      parts.push(
        h(
          "g",
          facts,
          h("rect", {
            key: "box",
            class: "loom-ink thin",
            x: at.x,
            y: top,
            width: Math.max(at.w, 0.5),
            height: LINE - 4,
          }),
          h("rect", {
            key: "paper",
            class: "loom-paper",
            x: at.x,
            y: top + 4,
            width: Math.max(at.w, 0.5),
            height: LINE - 12,
          }),
          by !== 0 &&
            h("rect", {
              key: "change",
              class: cls("loom-change", by < 0 ? "neg" : "pos"),
              x: at.x,
              y: top + 4,
              width: Math.max(at.w, 0.5),
              height: LINE - 12,
              "fill-opacity": 0.15 + 0.7 * (Math.abs(by) / (size || 1)),
            }),
        ),
      );
      continue;
    }
    const arrow = at.w >= 42;
    const fit = fitting(now, at.w - (arrow ? 12 : 3), 11.5);
    const old = fitting(was, at.w - 4, 10);
    parts.push(
      h(
        "g",
        facts,
        h("rect", { key: "box", class: "loom-ink", x: at.x + 1.5, y: top, width: at.w - 3, height: LINE - 4, rx: 3 }),
        arrow && h("path", { key: "arrow", class: "loom-arrow", d: `M${at.x + 12} ${top + 11}h-6m3 -3l-3 3l3 3` }),
        h(
          "text",
          {
            key: "value",
            class: "loom-new mid",
            x: at.x + at.w / 2 + (arrow ? 5 : 0),
            y: top + (LINE - 4) / 2 + fit.size * 0.35,
            "font-size": fit.size,
          },
          fit.text,
        ),
        h(
          "text",
          {
            key: "was",
            class: "loom-old mid",
            x: at.x + at.w / 2,
            y: top + LINE + (write.silent ? 9 : 7),
            "font-size": old.size,
          },
          old.text,
        ),
      ),
    );
  }
  for (const [counter, x] of column.rails) {
    if (plan.story.rows[r].bumps.has(counter))
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

/** A counter that ticked, on every rail it has in this row. @param {LoomScene} scene @param {number} r */
function bumpMarks({ plan, i, now }, r) {
  const { bumps } = plan.story.rows[r];
  if (!bumps.size) return [];
  const out = [];
  for (const column of plan.columns.values()) {
    const life = plan.story.storages.get(column.uid);
    if (!life || life.birth > r || life.death < r) continue;
    for (const [counter, x] of column.rails) {
      const bump = bumps.get(counter);
      if (!bump) continue;
      const text = `${bump[0]}→${bump[1]}`;
      const w = textWidth(text, 10.5) + 10;
      const left = x - Math.min(w / 2, 17);
      const y = (plan.writes[r].find((write) => write.column === column)?.cy ?? plan.rows[r].cy) - 2;
      out.push(
        h(
          "g",
          {
            key: `bump ${r} ${column.uid} ${counter}`,
            class: cls(
              "loom-bump",
              r === now && (plan.writes[r].find((one) => one.column === column)?.write.step ?? 0) > i && "coming",
            ),
            "data-loom-bump": counter,
            "data-from": bump[0],
            "data-to": bump[1],
          },
          h("rect", { key: "box", x: left, y: y - 9, width: w, height: 18, rx: 4 }),
          h("text", { key: "text", class: "mid", x: left + w / 2, y: y + 3.8 }, text),
        ),
      );
    }
  }
  return out;
}

/** A saved value: a pin from the node's row to the rail, held until backward lets go. @param {LoomScene} scene @param {import("../layout/loom.js").PinLine} hold */
function pinMark({ plan, now, band }, { pin, x, rail, y, slotX, to, at }) {
  if (!inBand(band, y - 10, to + 10)) return null;
  const state =
    pin.broken !== null && pin.broken <= now
      ? "broken"
      : pin.silent !== null && pin.silent <= now
        ? "silent"
        : pin.released && pin.death <= now
          ? "released"
          : "held";
  const broken = pin.broken !== null && at !== null;
  const snap = broken ? at : to;
  const parts = [h("path", { key: "line", class: "loom-pin-line", d: `M${x + 8} ${y}H${slotX - 3}` })];
  parts.push(
    h("path", {
      key: "hold",
      class: "loom-hold",
      d: `M${x} ${clip(band, y)}V${clip(band, Math.max(y, Math.min(snap, to)) - (broken ? 12 : 0))}`,
    }),
  );
  if (broken)
    parts.push(
      h("path", {
        key: "after",
        class: "loom-after",
        d: `M${x} ${clip(band, snap + 12)}V${clip(band, Math.max(to, snap + 12))}`,
      }),
      h("path", { key: "snap", class: "loom-snap", d: `M${x - 6} ${snap - 23}l12 12m0 -12l-12 12` }),
    );
  else if (pin.silent !== null && at !== null)
    parts.push(
      h("path", { key: "warn", class: "loom-warn", d: `M${x} ${at - 13}l11 20h-22z` }),
      h("path", { key: "mark", class: "loom-warn-mark", d: `M${x} ${at - 6}v6m0 2.500v1.500` }),
    );
  if (pin.released && !broken) parts.push(h("path", { key: "cap", class: "loom-hold-cap", d: `M${x - 6} ${to}h12` }));
  parts.push(
    h("circle", { key: "head", class: "loom-pin-head", cx: x, cy: y, r: 7.5 }),
    h(
      "text",
      { key: "expected", class: "loom-pin-text mid", x, y: y + 3.5 },
      pin.expected === null ? "?" : String(pin.expected),
    ),
  );
  if (x !== rail) parts.unshift(h("path", { key: "to", class: "loom-stub", d: `M${rail} ${y}H${x}` }));
  return h(
    "g",
    {
      key: `pin ${pin.key}`,
      class: cls("loom-pin", state),
      "data-loom-pin": pin.key,
      "data-state": state,
      "data-expected": pin.expected,
      "data-loom-on": pin.storage,
    },
    parts,
    h(
      "title",
      { key: "title" },
      `${plan.dots.get(pin.node)?.name ?? pin.node}.${pin.slot}: ${pin.storage} v${pin.expected ?? "?"} · ${state}`,
    ),
  );
}

/** Every edge: up the lane of the node that it leads to. @param {LoomScene} scene */
function edgeMarks({ plan, opened, band, now, i }) {
  const out = [];
  for (const [k, trunk] of plan.trunks.entries())
    if (inBand(band, trunk.y0, trunk.y1))
      out.push(
        h("path", {
          key: `trunk ${k}`,
          class: "loom-edge",
          d: `M${trunk.x} ${clip(band, trunk.y0 + NODE_R)}V${clip(band, trunk.y1 - 14)}`,
        }),
      );
  for (const edge of plan.edges) {
    const { x0, y0, x1, y1 } = edge;
    const ran = (plan.story.visits.get(edge.from) ?? []).findLast((k) => k <= i);
    const passed = ran !== undefined && opened.trace.steps[ran].visit?.grad_inputs?.[Number(edge.key.split(":")[1])];
    const flows = passed && plan.story.rowOfStep[ran] === now;
    const low = flows ? y1 + NODE_R + 4 : Math.max(y0 - 14, y1 + NODE_R + 1);
    if (!inBand(band, low, y0)) continue;
    const d =
      x0 === x1
        ? `M${x0} ${clip(band, y0 - NODE_R)}V${clip(band, low)}`
        : roundedPath(
            [
              [x0, y0],
              [x1, y0],
              [x1, clip(band, Math.min(low, y0 - 2))],
            ],
            9,
          );
    out.push(
      h(
        "g",
        {
          key: `edge ${edge.key}`,
          class: cls("loom-strand", flows && "flows", passed && !flows && "spent", ran === i && "running"),
          "data-loom-edge": edge.key,
          "data-loom-to": edge.to,
        },
        h("path", { key: "line", class: "loom-edge", d }),
        (flows || y0 - y1 < 4000) &&
          h("path", { key: "arrow", class: "loom-tip", d: `M${x1} ${y1 + NODE_R + 1}l4 7h-8z` }),
      ),
    );
  }
  return out;
}

/** The nodes made by a row, with what they saved and what gradient reached them. @param {LoomScene} scene @param {number} r */
function nodeMarks(scene, r) {
  const { plan, i, now, labels } = scene;
  const out = [];
  /** @type {Map<string, import("../layout/loom.js").Dot[]>} */
  const groups = new Map();
  for (const dot of plan.rowDots[r]) groups.set(dot.group, [...(groups.get(dot.group) ?? []), dot]);
  /** @type {Map<number, import("../layout/loom.js").Dot[]>} */
  const lines = new Map();
  for (const [dot] of groups.values()) lines.set(dot.y, [...(lines.get(dot.y) ?? []), dot]);
  for (const group of groups.values()) {
    const dot = group[group.length - 1];
    const ran = group
      .flatMap((one) => plan.story.visits.get(one.uid) ?? [])
      .filter((k) => k <= i)
      .sort((a, b) => a - b)
      .at(-1);
    const parts = [
      h("circle", {
        key: "dot",
        class: cls("loom-node", dot.leaf && "leaf", ran === i && "running"),
        cx: dot.x,
        cy: dot.y,
        r: dot.leaf ? NODE_R + 0.5 : NODE_R,
      }),
    ];
    const beside = lines.get(dot.y) ?? [dot];
    if (beside[0] === group[0]) {
      const label =
        beside.length === 1
          ? dot.label
          : beside.length > 2
            ? `${beside[0].label.split(" ")[0]} × ${beside.length}`
            : beside.map((one, k) => (k ? one.label.split(" ").slice(1).join(" ") : one.label)).join(", ");
      const text = truncate(label, plan.stacked ? 15 : 30);
      parts.push(h("text", { key: "label", class: "loom-label", x: plan.graph.names + 2, y: dot.y + 4 }, text));
      if (ran !== undefined && beside.length === 1 && !plan.stacked)
        parts.push(
          ...gradMark(
            scene,
            ran,
            plan.graph.names + textWidth(text, 11.5) * BOLD + 8,
            dot.y,
            plan.story.rowOfStep[ran] === now,
          ),
        );
    }
    for (const [slot, y] of dot.slots) parts.push(...slotMarks(scene, dot, slot, y, labels));
    out.push(
      h(
        "g",
        { key: `node ${dot.group}`, class: "loom-knot", "data-loom-node": dot.uid },
        parts,
        h("title", { key: "title" }, `${dot.name} ${dot.uid}`),
      ),
    );
  }
  return out;
}

/** @param {LoomScene} scene @param {import("../layout/loom.js").Dot} dot @param {string} slot @param {number} y @param {LoomLabels} labels */
function slotMarks({ plan, now }, dot, slot, y, labels) {
  const pin = plan.story.pins.get(`${dot.uid}:${slot}`);
  const x = plan.graph.names;
  const broken = pin?.broken !== undefined && pin?.broken !== null && pin.broken <= now;
  const silent = !broken && pin?.silent !== undefined && pin?.silent !== null && pin.silent <= now;
  const released = Boolean(pin?.released && pin.death <= now);
  const name = pin
    ? plan.handleRows.get(pin.tensor ?? "")?.name || plan.story.storageNames.get(pin.storage) || pin.storage
    : "";
  const short = plan.stacked || !pin ? slot : `${slot} = ${truncate(name, 14)} @ v${pin.expected ?? "?"}`;
  const text = `${short}${broken ? ` ✕ ${labels.broken}` : silent ? ` ⚠ ${labels.bytes}` : released && !plan.stacked ? `, ${labels.released}` : ""}`;
  return [
    h("rect", {
      key: `square ${slot}`,
      class: cls("loom-slot", broken && "broken", silent && "silent", released && "released"),
      x: x - 1,
      y: y - 3,
      width: 6,
      height: 6,
    }),
    h(
      "text",
      { key: `slot ${slot}`, class: cls("loom-saved", broken && "broken", silent && "silent"), x: x + 9, y: y + 3.5 },
      text,
    ),
  ];
}

/** The gradient that reached a node, as it was. @param {LoomScene} scene @param {number} k its step @param {number} x @param {number} y @param {boolean} fresh */
function gradMark({ opened }, k, x, y, fresh) {
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return [];
  const { texts, shown, widths, width } = chip(grad);
  const most = shown.reduce(
    (/** @type {number} */ m, /** @type {any} */ v) => (typeof v === "number" ? Math.max(m, Math.abs(v)) : m),
    0,
  );
  const parts = [h("rect", { key: "ground", class: "loom-chip-ground", x, y: y - 9, width, height: 18, rx: 3 })];
  let at = x;
  texts.forEach((/** @type {string} */ text, /** @type {number} */ n) => {
    const v = shown[n];
    if (typeof v === "number" && v !== 0)
      parts.push(
        h("rect", {
          key: `wash ${n}`,
          class: cls("wash", v < 0 ? "neg" : "pos"),
          x: at,
          y: y - 9,
          width: widths[n],
          height: 18,
          "fill-opacity": 0.1 + 0.3 * (Math.abs(v) / most),
        }),
      );
    parts.push(h("text", { key: `text ${n}`, class: "loom-chip-text mid", x: at + widths[n] / 2, y: y + 3.6 }, text));
    at += widths[n];
  });
  parts.push(h("rect", { key: "frame", class: "loom-chip-frame", x, y: y - 9, width, height: 18, rx: 3 }));
  return [
    h(
      "g",
      {
        key: "grad",
        class: cls("loom-chip", !fresh && "past"),
        "data-loom-grad": opened.trace.steps[k].visit?.node,
        "data-value": wireText(grad.cells ?? null),
      },
      parts,
    ),
  ];
}
