/** A storage too big to list, in a row: its means as colours, its numbers, and a window onto some of its cells. */

import { findHandle, type Cell } from "../../trace/entities.ts";
import { bytesText, fullNumberText, shortNumberText, encodedValueJson, truncateText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES } from "../../layout/text/metrics.ts";
import { cellExtentOfHandle } from "../../trace/reads.ts";
import {
  cellsOfWindows,
  storageElementCount,
  SUMMARY_SIZES,
  type CellBand,
  type CellStrip,
} from "../../layout/cells/row_strip.ts";
import { classNames, h } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { largestMagnitude, signTint } from "./tint.ts";
import { cellMark, writtenCellHaloMark } from "./row_cell.ts";
import type { Storage, Summary } from "../../trace/wire.ts";
import type { RenderContext } from "../render_context.ts";

/** where the colours are */
interface HeatMapPlace {
  uid: string;
  dtype: string;
  n: number;
  x: number;
  y: number;
  w: number;
  ch: number;
}

export function rowSummaryMarks(
  renderContext: RenderContext,
  uid: string,
  storage: Storage,
  band: CellBand,
  strip: CellStrip,
  place: CellStripPlace,
) {
  const { dtype } = band;
  const numbers = storage.summary?.[dtype] ?? {};
  const n = storageElementCount(storage, dtype);
  const heat = {
    uid,
    dtype,
    n,
    x: place.x,
    y: place.y,
    w: strip.w,
    ch: place.full ? SUMMARY_SIZES.heat : SUMMARY_SIZES.slim,
  };
  const frame = { x: heat.x, y: heat.y, width: heat.w, height: heat.ch, rx: 3 };
  const cells = place.full ? cellsOfWindows(storage.windows?.[dtype] ?? []) : [];
  return [
    renderContext.snap.fresh.has(uid) && writtenCellHaloMark("halo", heat.x, heat.y, heat.w, heat.ch, false),
    h("rect", { key: "ground", class: "strip-ground", ...frame }),
    ...heatMapMarks(heat, numbers),
    ...writtenStretchMarks(renderContext, heat),
    h("rect", { key: "frame", class: classNames("strip-frame", place.grad && "grad"), ...frame }),
    ...cellWindowMarks(renderContext, heat, cells, strip.w),
    place.full && summaryTextMark(heat, numbers, storage.nbytes),
  ];
}

function elementX({ x, w, n }: HeatMapPlace, i: number) {
  return x + (i / Math.max(1, n)) * w;
}

/** The means of equal stretches as colours. */
function heatMapMarks(heat: HeatMapPlace, numbers: Summary) {
  const { uid, dtype, n, y, ch } = heat;
  const means: (Cell | null)[] = numbers.heat ?? Array(32).fill(null);
  const maxMagnitude = largestMagnitude(means);
  return means.map((mean, k) => {
    const from = Math.floor((k * n) / means.length);
    const endIndex = Math.floor(((k + 1) * n) / means.length);
    const tint = signTint(mean, maxMagnitude);
    const box = { x: elementX(heat, from), y, width: elementX(heat, endIndex) - elementX(heat, from), height: ch };
    return h(
      "g",
      {
        key: `stretch ${k}`,
        class: "stretch",
        target: { kind: "stretch", storage: uid, from, span: endIndex - from, dtype },
        "data-mean": mean === null ? null : encodedValueJson(mean),
      },
      h("rect", { key: "ground", class: "stretch-ground", ...box }),
      tint && h("rect", { key: "wash", class: `wash ${tint.sign}`, ...box, "fill-opacity": tint.opacity * 2 }),
      titleMark(`${uid}[${from} … ${endIndex - 1}]${mean === null ? "" : `  mean ${fullNumberText(mean)}`}`),
    );
  });
}

/** What this step wrote of it. */
function writtenStretchMarks({ snap }: RenderContext, heat: HeatMapPlace) {
  const { uid, n, y, ch } = heat;
  return (snap.step?.log ?? []).flatMap((entry, k) => {
    if (entry.kind !== "event" || entry.event !== "written" || entry.storage !== uid) return [];
    const writer = findHandle(snap.entities, entry.by);
    const region = entry.region ? { kind: "tensor", ...entry.region, storage: uid } : writer;
    const span = (entry.changed ?? 0) >= n ? [0, n - 1] : region?.shape ? cellExtentOfHandle(region) : null;
    if (!span) return [];
    const width = Math.max(4, elementX(heat, span[1] + 1) - elementX(heat, span[0]));
    const x = Math.min(elementX(heat, span[0]), elementX(heat, n) - width);
    const elementRange = `${span[0]}:${span[1]}`;
    return [
      h("rect", {
        key: `wrote ${k}`,
        class: "cell-written",
        "data-wrote": elementRange,
        x,
        y: y - 2,
        width,
        height: ch + 4,
        rx: 2,
      }),
    ];
  });
}

/** The least, the mean and the greatest of the values, and how many there are. */
function summaryTextMark({ uid, n, x, y, w }: HeatMapPlace, numbers: Summary, nbytes: number | undefined) {
  const extremes = (["min", "mean", "max"] as const).map(
    (name) => `${name} ${numbers[name] == null ? "–" : shortNumberText(numbers[name], 7)}`,
  );
  const summaryLine = `${extremes.join("  ")}  n ${n}${nbytes === undefined ? "" : `  ${bytesText(nbytes)}`}`;
  const most = Math.max(4, Math.floor(w / (CHARACTER_WIDTH_EM * FONT_SIZES.small)));
  return textMark("meta", x, y + SUMMARY_SIZES.numbers + 4, truncateText(summaryLine, most), {
    key: "numbers",
    size: FONT_SIZES.small,
    title: `${uid} ${summaryLine}`,
  });
}

/** Some of the known cells: from where the reader opened it, else from what this step wrote. */
function cellWindowMarks(
  renderContext: RenderContext,
  heat: HeatMapPlace,
  cells: { i: number; value: Cell }[],
  width: number,
) {
  if (!cells.length) return [];
  const { uid, dtype, n, x, y } = heat;
  const writtenKeys = renderContext.snap.written.get(uid);
  const firstWritten = cells.find(({ i }) => writtenKeys?.has(`${dtype}:${i}`));
  const cellWidth = 40;
  const indexWidth = width > 170 ? 44 : 0;
  const cellCount = Math.max(1, Math.floor((width - 32 - indexWidth) / cellWidth));
  const shown = consecutiveCellsFrom(cells, renderContext.peeks.get(uid) ?? firstWritten?.i ?? 0, cellCount);
  const maxMagnitude = largestMagnitude(shown.map(({ value }) => value));
  const top = y + SUMMARY_SIZES.cells;
  const [firstIndex, lastIndex] = [shown[0].i, shown[shown.length - 1].i];
  const band: CellBand = {
    dtype,
    n,
    y: 0,
    columns: n,
    lines: 1,
    cw: cellWidth,
    ch: SUMMARY_SIZES.cellH,
    mode: "numbers",
  };
  const place = { y: top, w: cellWidth, h: SUMMARY_SIZES.cellH, most: maxMagnitude, full: true };
  return [
    rectMark(
      "window-place",
      Math.min(elementX(heat, firstIndex), elementX(heat, n) - 5),
      y - 1,
      Math.max(5, elementX(heat, lastIndex + 1) - elementX(heat, firstIndex)),
      heat.ch + 2,
      { key: "window", rx: 1.5 },
    ),
    firstIndex > 0 &&
      windowButtonMark(heat, "before", Math.max(0, firstIndex - cellCount), x, `M${x + 8} ${top + 4}v10l-5 -5z`),
    ...shown.map(({ i, value }, k) => {
      const isWritten = Boolean(writtenKeys?.has(`${dtype}:${i}`));
      const was = renderContext.snap.oldValues.get(`${uid}:${dtype}:${i}`);
      return cellMark(uid, band, i, value, {
        ...place,
        x: x + 15 + k * cellWidth,
        now: isWritten,
        was,
        outline: isWritten,
      });
    }),
    lastIndex < n - 1 &&
      windowButtonMark(
        heat,
        "after",
        lastIndex + 1,
        x + 17 + shown.length * cellWidth,
        `M${x + 21 + shown.length * cellWidth} ${top + 4}v10l5 -5z`,
      ),
    indexWidth > 0 && textMark("index end", x + heat.w, top + 12, `[${firstIndex}…]`, "from"),
  ];
}

/** Neighbouring cells from `start` on. */
function consecutiveCellsFrom(cells: { i: number; value: Cell }[], start: number, maxCells: number) {
  let from = cells.findIndex(({ i }) => i >= start);
  if (from < 0) from = cells.length - 1;
  while (from > 0 && cells.length - from < maxCells && cells[from - 1].i === cells[from].i - 1) from -= 1;
  let windowEnd = from + 1;
  while (windowEnd < cells.length && windowEnd - from < maxCells && cells[windowEnd].i === cells[windowEnd - 1].i + 1)
    windowEnd += 1;
  return cells.slice(from, windowEnd);
}

function windowButtonMark(
  { uid, dtype, y }: HeatMapPlace,
  key: string,
  firstElement: number,
  buttonX: number,
  d: string,
) {
  const button = { tabindex: "0", role: "button", "aria-label": `${uid}[${firstElement}]` };
  return h(
    "g",
    {
      key,
      class: "turn",
      target: { kind: "stretch", storage: uid, from: firstElement, span: 0, dtype },
      ...button,
    },
    h("rect", { key: "ground", x: buttonX, y: y + SUMMARY_SIZES.cells, width: 12, height: SUMMARY_SIZES.cellH, rx: 2 }),
    pathMark("tick", d, "arrow"),
  );
}

export interface CellStripPlace {
  x: number;
  y: number;
  full: boolean;
  grad: boolean;
}
