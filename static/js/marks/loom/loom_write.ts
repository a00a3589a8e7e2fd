/** What a row of the loom wrote: the new values over the old ones, and the counters that ticked. */

import { encodedValueJson, truncateText } from "../../trace/format.ts";
import { elementSpan, nameRoom, type StorageColumn } from "../../layout/loom/loom_columns.ts";
import { READ_LINE_HEIGHT, WRITE_TITLE_HEIGHT } from "../../layout/loom/loom_sizes.ts";
import { pathThatFits } from "../../layout/loom/loom_names.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import { classNames, h } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark } from "../../browser/shapes.ts";
import { numberTextThatFits, silentWriteHatchMarks } from "./loom_head.ts";
import type { LoomScene } from "./loom_scene.ts";
import type { StorageWrite, CellChange } from "../../layout/loom/run_row.ts";
import type { WriteBox } from "../../layout/loom/loom_plan.ts";

/** What a statement wrote: the new values, and the old ones struck. */
export function loomWriteMark(
  { plan, labels, i, now: currentRow }: LoomScene,
  { write, column, y, cy }: WriteBox,
  r: number,
) {
  const { room, isOverRail } = nameRoom(column);
  const maxChars = Math.max(4, Math.floor(room / 6));
  const storageName = plan.graph.short ? (plan.run.storageNames.get(write.storage) ?? "") : "";
  const fullText = write.by ? `${labels.through} ${write.by}` : `${storageName} ${labels.written}`.trim();
  const shownText =
    fullText.length <= maxChars
      ? fullText
      : pathThatFits(write.by ?? storageName, maxChars) || truncateText(fullText, maxChars);
  const cellsY = y + WRITE_TITLE_HEIGHT;
  const parts = [textMark(classNames("loom-note", isOverRail && "over"), column.x + 1, y + 11, shownText, "by")];
  if (write.silent)
    parts.push(
      ...silentWriteHatchMarks({ x: column.x - 2, y: cellsY - 2.5, w: column.w + 4, h: READ_LINE_HEIGHT + 1 }, 3),
    );
  if (!write.cells.size) parts.push(writtenRegionMark(write, column, cellsY));
  const largest = Math.max(...[...write.cells.values()].map((change) => Math.abs(numericDifference(change))), 0);
  for (const [key, change] of write.cells) {
    const [dtype, index] = key.split(":");
    const cellBox = elementSpan(column, dtype, Number(index));
    const attributes = {
      key: `write ${key}`,
      class: classNames("loom-write", write.silent && "silent"),
      "data-loom-write": `${write.storage}:${index}`,
      "data-dtype": dtype,
      "data-row": r,
      "data-value": encodedValueJson(change.now),
      "data-was": encodedValueJson(change.was),
    };
    const marks = column.heat
      ? changedStripeMark(change, cellBox, cellsY, largest)
      : changedValueMark(change, cellBox, cellsY, write.silent);
    parts.push(h("g", attributes, marks));
  }
  for (const [counter, x] of column.rails) {
    if (plan.run.rows[r].bumps.has(counter))
      parts.push(pathMark("loom-stub", `M${column.x + column.w} ${cy - 2}H${x - 16}`, "stub"));
  }
  return h(
    "g",
    {
      key: `shot ${r} ${write.storage}`,
      class: classNames("loom-shot", r === currentRow && write.step > i && "coming"),
      "data-loom-shot": write.storage,
    },
    parts,
  );
}

/** How much a number became larger; 0 of what is no number. */
function numericDifference({ was, now }: CellChange) {
  return typeof now === "number" && typeof was === "number" ? now - was : 0;
}

/** Elements that were written and are too many to list. */
function writtenRegionMark({ span }: StorageWrite, column: StorageColumn, cellsY: number) {
  const from = span ? elementSpan(column, span[0], span[1]).x : column.x;
  const to = span ? elementSpan(column, span[0], span[2] + 1).x : column.x + column.w;
  return rectMark(
    classNames("loom-ink", to - from < 8 && "thin"),
    from,
    cellsY,
    Math.max(2, to - from),
    READ_LINE_HEIGHT - 4,
    { key: "whole", rx: 2 },
  );
}

/**
 * A written element of a strip of colours: its colour says how much it changed beside `largest`, the largest change of
 * the write.
 */
function changedStripeMark(change: CellChange, cellBox: { x: number; w: number }, cellsY: number, largest: number) {
  const amount = numericDifference(change);
  const width = Math.max(cellBox.w, 0.5);
  const innerBox = { x: cellBox.x, y: cellsY + 4, width, height: READ_LINE_HEIGHT - 12 };
  return [
    rectMark("loom-ink thin", cellBox.x, cellsY, width, READ_LINE_HEIGHT - 4, "box"),
    h("rect", { key: "paper", class: "loom-paper", ...innerBox }),
    amount !== 0 &&
      h("rect", {
        key: "change",
        class: classNames("loom-change", amount < 0 ? "neg" : "pos"),
        ...innerBox,
        "fill-opacity": 0.15 + 0.7 * (Math.abs(amount) / (largest || 1)),
      }),
  ];
}

/** A written cell: its new value, and the old one struck below. */
function changedValueMark(
  { was, now }: CellChange,
  cellBox: { x: number; w: number },
  cellsY: number,
  silent: boolean,
) {
  const hasArrow = cellBox.w >= 42;
  const newNumber = numberTextThatFits(now, cellBox.w - (hasArrow ? 12 : 3), 11.5);
  const oldNumber = numberTextThatFits(was, cellBox.w - 4, 10);
  const centerX = cellBox.x + cellBox.w / 2;
  return [
    rectMark("loom-ink", cellBox.x + 1.5, cellsY, cellBox.w - 3, READ_LINE_HEIGHT - 4, { key: "box", rx: 3 }),
    hasArrow && pathMark("loom-arrow", `M${cellBox.x + 12} ${cellsY + 11}h-6m3 -3l-3 3l3 3`, "arrow"),
    textMark(
      "loom-new mid",
      centerX + (hasArrow ? 5 : 0),
      cellsY + (READ_LINE_HEIGHT - 4) / 2 + newNumber.size * 0.35,
      newNumber.text,
      { key: "value", size: newNumber.size },
    ),
    textMark("loom-old mid", centerX, cellsY + READ_LINE_HEIGHT + (silent ? 9 : 7), oldNumber.text, {
      key: "was",
      size: oldNumber.size,
    }),
  ];
}

/** A counter that ticked, on every rail it has in this row. */
export function versionBumpMarks({ plan, i, now: currentRow }: LoomScene, r: number) {
  const { bumps } = plan.run.rows[r];
  if (!bumps.size) return [];
  const out = [];
  for (const [counter, bump] of bumps)
    for (const column of plan.columns.columnsOfCounter(counter, r)) {
      const x = column.rails.get(counter) as number;
      const text = `${bump[0]}→${bump[1]}`;
      const w = textWidth(text, 10.5) + 10;
      const leftX = x - Math.min(w / 2, 17);
      const writeBox = plan.writes[r].find((box) => box.column === column);
      const y = (writeBox?.cy ?? plan.rows[r].cy) - 2;
      out.push(
        h(
          "g",
          {
            key: `bump ${r} ${column.uid} ${counter}`,
            class: classNames("loom-bump", r === currentRow && (writeBox?.write.step ?? 0) > i && "coming"),
            "data-loom-bump": counter,
            "data-from": bump[0],
            "data-to": bump[1],
          },
          h("rect", { key: "box", x: leftX, y: y - 9, width: w, height: 18, rx: 4 }),
          textMark("mid", leftX + w / 2, y + 3.8, text, "text"),
        ),
      );
    }
  return out;
}
