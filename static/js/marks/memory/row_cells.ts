/** The strip of a row: the cells of a storage with their values, what a step wrote over, and its frame. */

import {
  cellRect,
  isCellDrawn,
  MAX_COLLAPSED_CELLS,
  type CellBand,
  type CellStrip,
} from "../../layout/cells/row_strip.ts";
import { shortNumberText } from "../../trace/format.ts";
import { FONT_SIZES } from "../../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark } from "../../browser/shapes.ts";
import type { Target } from "../../browser/targets.ts";
import { largestMagnitude, signTint } from "./tint.ts";
import { cellMark, writtenCellHaloMark, shortDtype } from "./row_cell.ts";
import { rowSummaryMarks, type CellStripPlace } from "./row_summary.ts";
import type { Cell } from "../../trace/entities.ts";
import type { RenderContext } from "../render_context.ts";

export function cellStripMark(
  renderContext: RenderContext,
  uid: string,
  strip: CellStrip,
  place: CellStripPlace,
): VNode {
  const storage = renderContext.snap.entities.get(uid);
  const fresh = renderContext.snap.fresh.has(uid);
  const writtenKeys = renderContext.snap.written.get(uid);
  const hasSeveralDtypes = strip.bands.length > 1;
  const bands = strip.bands.map((band) => {
    if (storage?.kind !== "storage" || band.mode === "bare") return emptyStorageMark(band, place);
    if (band.mode === "summary") return rowSummaryMarks(renderContext, uid, storage, band, strip, place);
    const values = storage.cells?.[band.dtype] ?? [];
    const writtenCount = [...(writtenKeys ?? [])].filter((key) => key.startsWith(`${band.dtype}:`)).length;
    const isWhollyWritten = fresh || (writtenCount > 0 && writtenCount === values.length);
    const w = Math.max(1, Math.min(values.length, band.columns)) * band.cw;
    const height = band.lines * band.ch;
    return [
      isWhollyWritten &&
        !renderContext.manyChanged &&
        writtenCellHaloMark(`halo ${band.dtype}`, place.x, place.y + band.y, w, height, Boolean(writtenKeys)),
      rectMark("strip-ground", place.x, place.y + band.y, w, height, { key: `ground ${band.dtype}`, rx: 3 }),
      ...bandCellMarks(renderContext, uid, band, values, place, isWhollyWritten),
      stripOutlineMark(band.dtype, place, band.y, w, height),
      hasSeveralDtypes && bandDtypeMark(band, place, w),
      band.every !== undefined && cutNoteMark(renderContext, band, values, place),
      band.wrappedColumn && columnNoteMark(renderContext, band, place),
    ];
  });
  const target: Target = { kind: "strip", storage: uid };
  const [first] = strip.bands;
  const attrs = {
    key: `strip ${uid}`,
    "data-first": first?.every === undefined ? null : `${first.lines} ${first.columns} ${first.every}`,
    class: classNames("shelf", fresh && "fresh"),
    "data-storage-strip": uid,
    target,
  };
  const isChanged = fresh || (writtenKeys?.size ?? 0) > 0;
  return h("g", attrs, bands, renderContext.manyChanged && isChanged && changedBarMark(place.x - 6, place.y, strip.h));
}

const CHANGED_BAR = { width: 3, height: 18 };

/** Beside what changed, where too much did for frames. It is at most `most` high. */
function changedBarMark(x: number, top: number, room: number, most = CHANGED_BAR.height) {
  const height = Math.min(CHANGED_BAR.height, most);
  const y = top + Math.min(6, (room - height) / 2);
  return rectMark("changed-bar", x, y, CHANGED_BAR.width, height, { key: "changed", rx: 1.5 });
}

function stripOutlineMark(dtype: string, place: CellStripPlace, y: number, w: number, height: number) {
  return rectMark(classNames("strip-frame", place.grad && "grad"), place.x, place.y + y, w, height, {
    key: `frame ${dtype}`,
    rx: 3,
  });
}

function bandDtypeMark(band: CellBand, place: CellStripPlace, w: number) {
  const y = place.y + band.y + Math.min(band.ch, 20) / 2 + 3.5;
  return textMark("dtype", place.x + w + 5, y, shortDtype(band.dtype), `dtype ${band.dtype}`);
}

/** Below cells that are not all drawn: how many of them are, and what values they all have. */
function cutNoteMark({ labels }: RenderContext, band: CellBand, values: Cell[], place: CellStripPlace): VNode {
  const top = place.y + band.y + band.lines * band.ch;
  if (band.unread) {
    const words = labels.unreadCells.replace("{n}", `${band.unread}`);
    return textMark("meta", place.x, top + 16, words, { key: "unread", size: 12 });
  }
  const first = band.inRows
    ? labels.firstRows.replace("{rows}", `${band.lines}`).replace("{columns}", `${band.columns}`)
    : labels.firstCells.replace("{n}", `${band.lines * band.columns}`).replace("{all}", `${values.length}`);
  const numbers = values.filter((value) => typeof value === "number");
  const extremes = [Math.min(...numbers), numbers.reduce((a, b) => a + b, 0) / numbers.length, Math.max(...numbers)];
  const [min, mean, max] = extremes.map((value) => shortNumberText(value, 5));
  const lines = [first, numbers.length === values.length && `min ${min}, mean ${mean}, max ${max}`];
  const marks = lines.map(
    (text, k) => text && textMark("meta", place.x, top + 15 + 16 * k, text, { key: `line ${k}`, size: 12 }),
  );
  return h("g", { key: "first" }, marks);
}

/** Below (n, 1) in lines: it is one column. */
function columnNoteMark({ labels }: RenderContext, band: CellBand, { x, y }: CellStripPlace): VNode {
  const top = y + band.y + band.lines * band.ch;
  return textMark("meta", x, top + 16, labels.wrappedColumn.replace("{n}", `${band.n}`), {
    key: "column",
    size: FONT_SIZES.small,
  });
}

/** Memory without cells to show. */
function emptyStorageMark(band: CellBand, place: CellStripPlace) {
  const box = { x: place.x, y: place.y + band.y, width: band.cw, height: band.ch, rx: 3 };
  return [
    h("rect", { key: `void ${band.dtype}`, class: "void", ...box }),
    textMark(
      "void-text",
      place.x + band.cw / 2,
      box.y + band.ch / 2 + 3.5,
      band.dtype ? "∅" : "–",
      `empty ${band.dtype}`,
    ),
  ];
}

/** `isWhollyWritten`: all of it was written, and the halo says so. */
function bandCellMarks(
  renderContext: RenderContext,
  uid: string,
  band: CellBand,
  values: Cell[],
  place: CellStripPlace,
  isWhollyWritten: boolean,
): (VNode | null)[] {
  if (!place.full && band.mode === "heat") return cellColourMarks(band, values, place);
  const maxMagnitude = largestMagnitude(values);
  const writtenKeys = renderContext.snap.written.get(uid);
  const old = renderContext.oldValues().get(uid);
  return values.map((value, i) => {
    if (!isCellDrawn(band, i)) return null;
    const box = cellRect(band, i);
    const isWritten = Boolean(writtenKeys?.has(`${band.dtype}:${i}`));
    const was = old?.get(`${band.dtype}:${i}`);
    const cellPlace = { x: place.x + box.x, y: place.y + box.y, w: box.w, h: box.h };
    return cellMark(uid, band, i, value, {
      ...cellPlace,
      most: maxMagnitude,
      now: isWritten,
      was,
      outline: isWritten && !isWhollyWritten && !renderContext.manyChanged,
      full: place.full,
    });
  });
}

/** Levels of colour in a closed row without numbers. */
const CELL_COLOUR_LEVELS = 8;

/** The cells of a closed row as colours, few elements however many they are: of very many, the means of equal
 * stretches. */
function cellColourMarks(band: CellBand, values: Cell[], place: CellStripPlace): VNode[] {
  const shownValues = values.length > MAX_COLLAPSED_CELLS ? stretchMeans(values) : values;
  const maxMagnitude = largestMagnitude(shownValues);
  const w = (band.cw * values.length) / shownValues.length;
  const [top, height] = [place.y + band.y, band.ch];
  const paths = new Map<string, string>();
  const addToPath = (key: string, d: string) => paths.set(key, (paths.get(key) ?? "") + d);
  shownValues.forEach((value, k) => {
    const tint = signTint(value, maxMagnitude);
    const x = Math.round((place.x + k * w) * 100) / 100;
    if (tint)
      addToPath(
        `${tint.sign} ${Math.round(tint.opacity * CELL_COLOUR_LEVELS * 3)}`,
        `M${x} ${top}h${w}v${height}h${-w}z`,
      );
    if (value !== null && typeof value === "object" && "$f" in value)
      addToPath("nonfinite", `M${x + w * 0.2} ${top + 3}L${x + w * 0.8} ${top + height - 3}`);
  });
  return [...paths].map(([key, d]) => {
    const [sign, level] = key.split(" ");
    if (!level) return pathMark("nonfinite", d, key);
    return pathMark(`wash ${sign}`, d, { key, "fill-opacity": Number(level) / (CELL_COLOUR_LEVELS * 3) });
  });
}

function stretchMeans(values: Cell[]): number[] {
  return Array.from({ length: MAX_COLLAPSED_CELLS }, (_, k) => {
    const [from, to] = [k, k + 1].map((at) => Math.floor((at * values.length) / MAX_COLLAPSED_CELLS));
    const numbers = values.slice(from, to).filter((value) => typeof value === "number" || typeof value === "boolean");
    return numbers.length ? numbers.reduce((sum: number, value) => sum + Number(value), 0) / numbers.length : 0;
  });
}
