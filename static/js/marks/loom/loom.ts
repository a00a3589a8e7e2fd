/**
 * The whole run in one picture: cells across, statements down, counters and pins as durations. Pure: plan in, marks
 * out.
 */

import { bytesText } from "../../trace/format.ts";
import { LOOM_HEADER_HEIGHT } from "../../layout/loom/loom_sizes.ts";
import { pathThatFits } from "../../layout/loom/loom_names.ts";
import { layoutLoom } from "../../layout/loom/loom.ts";
import { UNBOUNDED_BAND, isInVisibleBand, type HeightBand } from "../../layout/view.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { loomCodeMarks } from "./loom_code.ts";
import { loomEdgeMarks } from "./loom_graph.ts";
import { loomHandleMark } from "./loom_handle.ts";
import { LOOM_LABELS, type LoomLabels } from "../labels.ts";
import { loomHeadMarks } from "./loom_head.ts";
import { loomNodeMarks } from "./loom_node.ts";
import { loomPinMark } from "./loom_pin.ts";
import { clampToBand, rowAtHeight, shelfOfStep, visibleRows, type LoomScene } from "./loom_scene.ts";
import { versionBumpMarks, loomWriteMark } from "./loom_write.ts";
import { nameRoom, type StorageColumn } from "../../layout/loom/loom_columns.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Picture } from "../svg_document.ts";
import type { StorageLifetime } from "../../layout/loom/run_row.ts";
import type { LoomPlan } from "../../layout/loom/loom_plan.ts";

interface LoomPictureOptions {
  /** the width to fill */
  room?: number;
  /** rows, tallest: no more rows, and no higher than this */
  rows?: number;
  tallest?: number;
}

/** The picture of the whole run, as at step i; of a long one the rows around the step. */
export function loomPicture(
  opened: OpenTrace,
  i: number,
  labels: Partial<LoomLabels> = {},
  { room: width = 1180, rows = Infinity, tallest: maxHeight = Infinity }: LoomPictureOptions = {},
): Picture {
  const plan = layoutLoom(opened, { room: width });
  const currentRow = plan.run.rowOfStep[i] ?? plan.rows.length - 1;
  const { from, to } = rangeOfRowsAround(plan, currentRow, rows, maxHeight - LOOM_HEADER_HEIGHT);
  const bandTop = plan.rows[from]?.foldY ?? LOOM_HEADER_HEIGHT;
  const bottom = plan.rows[to] ? plan.rows[to].y + plan.rows[to].h : LOOM_HEADER_HEIGHT;
  const cut = from > 0 || to < plan.rows.length - 1;
  const { head, code, body } = loomMarks(
    plan,
    opened,
    i,
    labels,
    cut ? { top: bandTop, bottom: bottom - 1 } : UNBOUNDED_BAND,
  );
  const size = {
    y: LOOM_HEADER_HEIGHT,
    width: plan.width,
    height: bottom - bandTop,
    viewBox: `0 ${bandTop} ${plan.width} ${bottom - bandTop}`,
  };
  return {
    width: plan.width,
    height: LOOM_HEADER_HEIGHT + bottom - bandTop,
    cut,
    nodes: [
      cut ? h("svg", size, body, code) : h("g", {}, body, code),
      h("g", {}, head),
      h("g", {}, loomCornerMarks(plan, { ...LOOM_LABELS, ...labels })),
    ],
  };
}

/** As many rows around one as there is room for, more of them above it than below. */
function rangeOfRowsAround(
  { rows }: LoomPlan,
  currentRow: number,
  maxRows: number,
  maxHeight: number,
): { from: number; to: number } {
  const isWithin = (from: number, to: number) =>
    to - from < maxRows && rows[to].y + rows[to].h - rows[from].foldY <= maxHeight;
  let from = currentRow;
  let to = currentRow;
  for (let hasGrown = true; hasGrown; ) {
    hasGrown = false;
    for (let k = 0; k < 2; k++)
      if (from > 0 && isWithin(from - 1, to)) {
        from -= 1;
        hasGrown = true;
      }
    if (to + 1 < rows.length && isWithin(from, to + 1)) {
      to += 1;
      hasGrown = true;
    }
  }
  return { from, to };
}

/**
 * At step i; beyond the last one, the whole run with no row lit. The head names the columns of `headShelf`, by default
 * those of the step's shelf.
 */
export function loomMarks(
  plan: LoomPlan,
  opened: OpenTrace,
  i: number,
  labels: Partial<LoomLabels> = {},
  band: HeightBand = UNBOUNDED_BAND,
  headShelf?: number,
): { head: VNode[]; code: VNode[]; body: VNode[] } {
  const allLabels = { ...LOOM_LABELS, ...labels };
  const currentRow = plan.run.rowOfStep[i] ?? plan.rows.length;
  const scene = { plan, opened, i, now: currentRow, labels: allLabels, band };
  return {
    head: loomHeadMarks(scene, headShelf ?? shelfOfStep(plan, i)),
    code: loomCodeMarks(scene),
    body: loomBodyMarks(scene),
  };
}

/** What stands where the two heads meet. */
export function loomCornerMarks(plan: LoomPlan, labels: LoomLabels): VNode[] {
  if (plan.stacked) return [];
  return [
    rectMark("loom-ground", 0, 0, plan.code, LOOM_HEADER_HEIGHT, "ground"),
    pathMark("loom-rule", `M0 ${LOOM_HEADER_HEIGHT - 0.5}H${plan.code}`, "rule"),
    textMark("loom-axis", 16, 20, labels.program, "program"),
    textMark("loom-note", 16, 36, labels.runs, "runs"),
    textMark("loom-axis end", plan.code - 10, 58, labels.memory, "memory"),
    textMark("loom-note end", plan.code - 10, 73, labels.now, "now"),
  ];
}

/** Over a row its rule, and a line for the iterations that were skipped before it. */
function rowSeparatorMarks(plan: LoomScene["plan"], r: number) {
  const { foldY } = plan.rows[r];
  const rule = `M${plan.stacked ? 8 : 16} ${foldY + 0.5}H${plan.width - 8}`;
  const unseen = `M${plan.code + 8} ${foldY + 12}H${plan.width - 16}`;
  return [
    pathMark("loom-rule", rule, `rule ${r}`),
    ...(plan.run.rows[r].skipped ? [pathMark("loom-unseen", unseen, `unseen ${r}`)] : []),
  ];
}

function loomBodyMarks(scene: LoomScene): VNode[] {
  const { plan, now: currentRow, band } = scene;
  const rows = visibleRows(scene);
  const marks = [];
  const current = plan.rows[currentRow];
  if (current && isInVisibleBand(band, current.y, current.y + current.h))
    marks.push(rectMark("loom-now", 0, current.y, plan.width, current.h, { key: "band", "data-loom-now": currentRow }));
  for (const r of rows) marks.push(...rowSeparatorMarks(plan, r));
  for (const column of plan.columns.allColumns) marks.push(...storageColumnMarks(scene, column));
  marks.push(...unnamedStorageCountMarks(scene, rows));
  marks.push(...loomEdgeMarks(scene));
  for (const r of rows) {
    for (const handle of plan.handles[r]) marks.push(loomHandleMark(scene, handle, r));
    for (const write of plan.writes[r]) marks.push(loomWriteMark(scene, write, r));
    marks.push(...versionBumpMarks(scene, r));
  }
  for (const line of plan.pinLines) marks.push(loomPinMark(scene, line));
  for (const r of rows) marks.push(...loomNodeMarks(scene, r));
  const end = current ? current.y + current.h : 0;
  if (current && end < plan.height) marks.push(rectMark("loom-veil", 0, end, plan.width, plan.height - end, "veil"));
  return marks.filter(Boolean) as VNode[];
}

/** Its cells from the row that made it, or where it is touched again, to the row that freed it, its counters as
 * rails. */
function storageColumnMarks({ plan, band, labels }: LoomScene, column: StorageColumn) {
  const life = plan.run.storages.get(column.uid) as StorageLifetime;
  const from = plan.shelves[column.from].y + 1;
  const last = plan.shelves[column.to];
  const isFreedHere = life.freed && plan.columns.firstShelfOfRow[life.death + 1] - 1 === column.to;
  const to = isFreedHere ? last.y + Math.min(last.h - 12, last.h / 2) : last.y + last.h;
  if (!isInVisibleBand(band, from, to + 14)) return [];
  const y0 = clampToBand(band, from);
  const y1 = clampToBand(band, to);
  const { x, w } = column;
  const grad = life.owner && "grad";
  const parts = [rectMark(classNames("loom-band", grad), x, y0, w, y1 - y0, "band")];
  if (column.cell && !column.heat) {
    let d = "";
    for (let ruleX = x + column.cell; ruleX < x + w - 1; ruleX += column.cell) d += `M${ruleX} ${y0}V${y1}`;
    if (d) parts.push(pathMark("loom-rule", d, "cells"));
  }
  for (const [counter, railX] of column.rails)
    if (counter)
      parts.push(
        pathMark(
          classNames("loom-rail", counter !== life.counters[0] && "second"),
          `M${railX} ${y0}V${y1}`,
          `rail ${counter}`,
        ),
      );
  if (y0 === from)
    parts.push(
      pathMark(
        classNames("loom-cap", column.from >= plan.columns.firstShelfOfRow[life.birth + 1] && "again"),
        `M${x} ${from}h${w}`,
        "cap",
      ),
    );
  if (y0 === from && !isStorageNamedInRow(plan, column)) parts.push(storageNameMark(plan, column, from));
  if (isFreedHere && y1 === to)
    parts.push(
      pathMark("loom-end", `M${x} ${to}h${w}`, "end"),
      textMark("loom-note mid", x + w / 2, to + 11, labels.freed, "freed"),
    );
  return [
    h("g", { key: `column ${column.uid} ${column.from}`, class: "loom-column", "data-loom-column": column.uid }, parts),
  ];
}

/** The width of a usual letter of a note. */
const NOTE_CHARACTER = 6;

/** Whose cells begin here, where nothing else says it; `y` is its top. */
function storageNameMark(plan: LoomPlan, column: StorageColumn, y: number) {
  const row = plan.rows[rowAtHeight(plan, y)];
  const nameTop = plan.stacked && row.y + 1 >= y ? row.codeY + row.codeH + 4 : y;
  const name = plan.run.storageNames.get(column.uid) ?? "";
  const { room, isOverRail } = nameRoom(column);
  const text = pathThatFits(name, Math.max(4, Math.floor(room / NOTE_CHARACTER)));
  return textMark(classNames("loom-note", isOverRail && "over"), column.x + 1, nameTop + 12, text, "name");
}

/** Whether something in the row in which a column begins says whose it is. */
function isStorageNamedInRow(plan: LoomPlan, column: StorageColumn) {
  const r = rowAtHeight(plan, plan.shelves[column.from].y);
  return [...plan.handles[r], ...plan.writes[r]].some((box) => box.column === column);
}

/** How many storages without a name there are after each row, as a bar with the number where it changes. */
function unnamedStorageCountMarks({ plan }: LoomScene, rows: number[]) {
  const { unnamed } = plan;
  if (!unnamed) return [];
  return rows.flatMap((r) => {
    const n = unnamed.counts[r];
    const changed = n !== (unnamed.counts[r - 1] ?? 0);
    if (!n && !changed) return [];
    const { y, h: height } = plan.rows[r];
    const width = n ? 4 + ((unnamed.w - 14) * unnamed.bytes[r]) / Math.max(1, unnamed.most) : 0;
    return [
      h("g", { key: `unnamed ${r}`, class: "loom-unnamed" }, [
        n > 0 && rectMark("loom-band", unnamed.x, y, width, height, "bar"),
        changed && textMark("loom-note", unnamed.x + 4, y + 14, String(n), "count"),
        titleMark(`${n} · ${bytesText(unnamed.bytes[r])}`),
      ]),
    ];
  });
}
