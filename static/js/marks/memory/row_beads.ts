/** How a handle of a row reads the strip: beads with their index, an underline, a map, or bars in a closed row. */

import { cellExtentOfHandle, cellReads } from "../../trace/reads.ts";
import { cellMapHeight, ROW_SIZES } from "../../layout/memory/row_lines.ts";
import { fittedText } from "../../layout/text/fitted_text.ts";
import { FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { bandOfDtype, type CellBand, type CellStrip } from "../../layout/cells/row_strip.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { RowDrawing } from "./row_drawing.ts";
import type { Bead, RowReading } from "../../layout/cells/row_reading.ts";
import { findHandle, type Handle } from "../../trace/entities.ts";
import type { RenderContext } from "../render_context.ts";
import type { HandleLine } from "../../layout/memory/memory_parts.ts";

interface ReadingPlace {
  handle: Handle;
  line: HandleLine;
  band: CellBand;
  /** where its wire begins; x and top: of the strip */
  start: number;
  x: number;
  top: number;
  strip: CellStrip;
  /** of its line */
  y: number;
  /** of its card */
  middle: number;
  /** where words about it end */
  right: number;
}

const BEAD_SIZE = 15;

/** `start` is where its wire begins. */
export function handleReadingMark(
  { facts, columns, layout }: RowDrawing,
  line: HandleLine,
  handle: Handle,
  start: number,
): VNode | null {
  const band = bandOfDtype(layout.strip, handle.dtype);
  if (!band) return null;
  const open = layout.level !== "slim";
  const y = ROW_SIZES.inset + line.y;
  const place: ReadingPlace = {
    handle,
    line,
    band,
    start,
    x: columns.strip,
    top: ROW_SIZES.inset + layout.top,
    strip: layout.strip,
    y,
    middle: y + (open && !layout.low ? 15 : 8),
    right: layout.lines.some(({ grad }) => grad) && !columns.phone ? columns.grad - 26 : columns.w - 8,
  };
  const tape = handle.requires_grad ? "tape" : "free";
  return h(
    "g",
    {
      key: `beads ${line.uid}`,
      class: classNames(
        "wire-set",
        tape,
        handle.kind === "array" && "array",
        facts.snap.fresh.has(line.uid) && "fresh",
      ),
      "data-wire": line.uid,
      target: { kind: "wire", handle: line.uid },
    },
    open ? readingMarksInOpenRow(facts, place) : readingMarksInCollapsedRow(place),
  );
}

function beadWireMark(d: string, key = "wire") {
  return pathMark("wire", d, key);
}

function readingMarksInOpenRow(facts: RenderContext, place: ReadingPlace) {
  const { line, band, start, x, top, strip } = place;
  const { reading } = line;
  const leadLine = line.first ? [beadWireMark(`M${start} ${place.middle}H${x}`, "lead")] : [];
  if (reading.kind === "none") return leadLine;
  if (reading.kind === "under" && !line.first) return sharedReadingMarks(facts, place, reading);
  if (reading.kind === "under") {
    const isWrapped = band.lines > 1;
    const from = isWrapped ? 0 : reading.low * band.cw;
    const to = isWrapped ? Math.min(band.n, band.columns) * band.cw : (reading.high + 1) * band.cw;
    const y = top + band.y + band.lines * band.ch + 3;
    const underlines =
      strip.bands.length > 1 ? [] : [pathMark("bead-line", `M${x + from + 2} ${y}H${x + to - 2}`, "under")];
    return [...leadLine, ...underlines];
  }
  if (reading.kind === "map") return [...leadLine, ...cellMapMarks(place, reading)];
  return [...leadLine, ...cellBeadMarks(facts, place, reading)];
}

/** A bracket under the cells that are read, and which they are in words. */
function sharedReadingMarks(
  facts: RenderContext,
  { line, band, start, x, y, middle, handle, right }: ReadingPlace,
  { low, high }: Extract<RowReading, { kind: "under" }>,
) {
  const isWrapped = band.lines > 1;
  const from = x + (isWrapped ? 0 : low * band.cw) + 2;
  const to = x + (isWrapped ? Math.min(band.n, band.columns) * band.cw : (high + 1) * band.cw) - 2;
  const bottom = y + 10;
  const forms = readingTexts(facts, line.uid, handle, [low, high], band.n);
  const { text, size, spacing } = fittedText(forms, right - from);
  return [
    beadWireMark(`M${start} ${middle}H${from - 4}V${bottom}`, "lead"),
    pathMark("bead-line bracket", `M${from} ${bottom - 5}V${bottom}H${to}V${bottom - 5}`, "under"),
    text &&
      textMark("reading-words", from, bottom + 14, text, {
        key: "words",
        size,
        "letter-spacing": spacing,
        title: forms[0],
      }),
  ];
}

/** What a handle reads, told by another's name that reads all of the memory in order, in words and shorter; no form
 * where none does. */
function readingTexts(
  { snap, readers, names, labels }: RenderContext,
  uid: string,
  handle: Handle,
  [low, high]: [number, number],
  n: number,
): string[] {
  const others = (readers.get(handle.storage ?? "") ?? []).filter((other) => other !== uid && names.tags.has(other));
  for (const other of others) {
    const owner = findHandle(snap.entities, other);
    const list = owner && owner.dtype === handle.dtype ? cellReads(owner) : [];
    const name = names.paths.get(other);
    const readsAll = list.length === n && list.every(({ cell }, k) => cell === k);
    if (!name || !readsAll) continue;
    if (high - low + 1 === n) return [labels.sameMemory.replace("{name}", name), `= ${name}`];
    const isVector = owner?.shape?.length === 1;
    const [one, many] = isVector ? [labels.readsElement, labels.readsElements] : [labels.readsCell, labels.readsCells];
    const base = isVector ? 0 : 1;
    const words = (low === high ? one : many)
      .replaceAll("{name}", name)
      .replace("{from}", `${low + base}`)
      .replace("{to}", `${high + base}`);
    return [words, isVector ? `${name}[${low}${low === high ? "" : `:${high + 1}`}]` : ""];
  }
  return [""];
}

/** Which cells of a wrapped strip are read. */
function cellMapMarks(
  { line, band, start, x, top, strip, y, middle }: ReadingPlace,
  { cells, low, high }: Extract<RowReading, { kind: "map" }>,
) {
  const mapH = cellMapHeight(strip);
  const mapY = line.first ? top + strip.h + 4 : y + Math.max(2, (30 - mapH) / 2);
  const isInOneLine = band.mode === "summary" || band.every !== undefined; // as wide as the cells, each a part of it
  const cw = isInOneLine ? strip.w / Math.max(1, band.n) : band.cw;
  const rows = isInOneLine ? 1 : band.lines;
  const lineHeight = mapH / rows;
  const width = isInOneLine ? strip.w : Math.min(band.n, band.columns) * band.cw;
  const runs =
    band.mode === "summary" || !cells
      ? cellRunsBetween(low, high, band, rows)
      : cellRuns(cells, isInOneLine ? band.n : band.columns);
  return [
    line.first ? null : pathMark("wire", `M${start} ${middle}H${x}`, "wire"),
    rectMark("map-ground", x, mapY, width, mapH, { key: "map", rx: 2 }),
    ...runs.map(([row, from, to]) =>
      rectMark(
        "map-run",
        x + from * cw + 0.4,
        mapY + row * lineHeight + 0.4,
        Math.max(1.2, (to - from + 1) * cw - 0.8),
        Math.max(1, lineHeight - 0.8),
        { key: `run ${row} ${from}`, rx: 1 },
      ),
    ),
  ];
}

/** From one cell to another, line by line. */
function cellRunsBetween(low: number, high: number, band: CellBand, rows: number): [number, number, number][] {
  const columns = rows === 1 ? band.n : band.columns;
  const out: [number, number, number][] = [];
  for (let row = Math.floor(low / columns); row <= Math.floor(high / columns); row++)
    out.push([row, Math.max(low - row * columns, 0), Math.min(high - row * columns, columns - 1)]);
  return out;
}

function cellRuns(cells: number[], columns: number): [number, number, number][] {
  const out: [number, number, number][] = [];
  for (const cell of [...cells].sort((a, b) => a - b)) {
    const [row, column] = [Math.floor(cell / columns), cell % columns];
    const last = out[out.length - 1];
    if (last && last[0] === row && last[2] === column - 1) last[2] = column;
    else out.push([row, column, column]);
  }
  return out;
}

function cellBeadMarks(facts: RenderContext, place: ReadingPlace, reading: Extract<RowReading, { kind: "beads" }>) {
  const { line, band, start, x, top, strip, y, middle } = place;
  const n = reading.lines.length;
  const y0 = line.first ? top + strip.h + 5 : y + Math.max(15 - (n * ROW_SIZES.bead - 3) / 2, n > 1 ? 1 : 0);
  const trunkX = x - 6;
  const centreY = (k: number) => y0 + k * ROW_SIZES.bead + BEAD_SIZE / 2;
  const indexText = indexTextThatFits(facts, place, reading.lines.flat());
  const out = [];
  if (line.first) out.push(beadWireMark(`M${trunkX} ${middle}V${centreY(n - 1)}`, "trunk"));
  else if (n > 1 || Math.abs(centreY(0) - middle) > 1)
    out.push(
      beadWireMark(
        `M${start} ${middle}H${trunkX}M${trunkX} ${Math.min(middle, centreY(0))}V${Math.max(middle, centreY(n - 1))}`,
        "trunk",
      ),
    );
  else out.push(beadWireMark(`M${start} ${middle}H${trunkX}`, "trunk"));
  reading.lines.forEach((beads, k) => {
    const cells = beads.map((bead) => bead.cell).sort((a, b) => a - b);
    const from = x + cells[0] * band.cw + 2;
    const to = x + (cells[cells.length - 1] + 1) * band.cw - 2;
    out.push(beadWireMark(`M${trunkX} ${centreY(k)}H${cells.length > 1 ? to : from}`, `wire ${k}`));
    for (const bead of beads) out.push(...cellBeadMark(facts, place, bead, centreY(k), indexText));
  });
  return out;
}

function beadWidth(band: CellBand, { reads }: Bead) {
  return band.cw - 4 - (reads.length > 1 ? 3 : 0);
}

/** How all beads of a handle are written: `y[0,1]`, else `[0,1]`, where one of them has no room for that `0,1`. */
function indexTextThatFits({ names }: RenderContext, { line, band }: ReadingPlace, beads: Bead[]) {
  const forms = [(index: string) => `${names.paths.get(line.uid)}[${index}]`, (index: string) => `[${index}]`];
  const isIndexed = names.paths.has(line.uid) && beads.every(({ text }) => text !== "·");
  const fits = (form: (index: string) => string) =>
    beads.every((bead) => textWidth(form(bead.text), FONT_SIZES.small) <= beadWidth(band, bead) - 6);
  return (isIndexed && forms.find(fits)) || ((index: string) => index);
}

/** One bead for all reads of a cell in a line, the others under it. */
function cellBeadMark(
  facts: RenderContext,
  { line, band, x, handle }: ReadingPlace,
  bead: Bead,
  cy: number,
  indexText: (index: string) => string,
) {
  const readCount = bead.reads.length;
  const w = beadWidth(band, bead);
  const left = x + bead.cell * band.cw + 2;
  const isWritten = facts.snap.written.get(handle.storage ?? "")?.has(`${band.dtype}:${bead.cell}`);
  const isWriter = facts.writers.has(line.uid);
  const name = facts.names.paths.get(line.uid) ?? line.uid;
  const text = indexText(bead.text);
  const hasRoom = textWidth(text, FONT_SIZES.small) <= w - 1;
  const marks = bead.reads.map((read, depth) => {
    const isTopmost = depth === readCount - 1;
    const offset = isTopmost ? 0 : 3;
    const box = { x: left + offset, y: cy - BEAD_SIZE / 2 + offset, width: w, height: BEAD_SIZE, rx: 7 };
    return h(
      "g",
      {
        key: `bead ${read.k}`,
        class: classNames("bead", isWritten && (isWriter ? "writer" : "sees"), !isTopmost && "under"),
        "data-bead": `${line.uid}:${read.k}`,
        "data-reads": `${handle.storage}:${read.cell}`,
        "data-index": read.index.join(","),
        "data-dtype": band.dtype,
        target: {
          kind: "bead",
          handle: line.uid,
          index: read.k,
          storage: handle.storage ?? "",
          cell: read.cell,
          dtype: band.dtype,
        },
      },
      h("rect", { key: "box", ...box }),
      isTopmost && hasRoom
        ? h("text", { key: "text", x: left + w / 2, y: cy + 4.3, "font-size": FONT_SIZES.small }, text)
        : null,
      titleMark(`${name}[${read.index.join(", ")}] → ${handle.storage}[${read.cell}]`),
    );
  });
  if (readCount > 1)
    marks.push(
      textMark("times", left + w + 5, cy - 4, `×${readCount}`, {
        key: `times ${bead.cell}`,
        size: FONT_SIZES.small,
        title: facts.labels.readTimes.replace("{times}", `${readCount}`),
      }),
    );
  return marks;
}

/** Bars under the cells that are read. */
function readingMarksInCollapsedRow({ handle, line, band, start, x, middle, top, strip }: ReadingPlace) {
  const span = cellExtentOfHandle(handle);
  if (line.first) return [pathMark("wire", `M${start} ${top + Math.min(8, strip.h / 2)}H${x}`, "wire")];
  if (!span || band.lines > 1 || span[0] < 0) return [];
  const list = cellReads(handle);
  const cells = list.length ? [...new Set(list.map((read) => read.cell))] : null;
  const runs = cells ? cellRuns(cells, band.n) : cellRunsBetween(span[0], span[1], band, 1);
  return [
    pathMark("wire", `M${start} ${middle}H${x + (runs[0]?.[1] ?? 0) * band.cw}`, "wire"),
    ...runs.map(([, from, to]) =>
      rectMark("map-run", x + from * band.cw + 0.5, middle - 3, Math.max(1, (to - from + 1) * band.cw - 1), 6, {
        key: `run ${from}`,
        rx: 3,
      }),
    ),
  ];
}
