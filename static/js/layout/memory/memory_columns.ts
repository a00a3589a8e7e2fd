/** The columns of the memory pane: names, handles, counters, storages and, where a run has gradients, theirs. */

import type { Homes } from "./homes.ts";
import { USUAL_ROW_CELLS, type FocusCells, type RowCells } from "../cells/row_strip.ts";

export interface MemoryColumns {
  w: number;
  phone: boolean;
  names: number;
  namesW: number;
  card: number;
  cardW: number;
  rail: number;
  railW: number;
  strip: number;
  /** stripW, gradW: of closed rows; gradW is 0 without gradients */
  stripW: number;
  grad: number;
  gradW: number;
  /** fullStripW, fullGradW: of open ones, which have the gradient below the value on a phone */
  fullStripW: number;
  fullGradW: number;
  /** of names under a heading */
  indent: number;
  /** where in the pane all of them begin */
  left: number;
  /** how cells are drawn where they stand below their names; null elsewhere */
  cells: FocusCells | null;
  /** how cells are drawn where they stand beside their names */
  row: RowCells;
  /** cells stand below the names and the tensor that reads them */
  stacked: boolean;
  /** of rows that are lines, where the others are stacked */
  line: MemoryColumns | null;
}

/** A narrower pane has the layout of a phone. */
const PHONE_PANE_WIDTH = 500;
const MEMORY_LEFT_MARGIN = 10;
/** The least room of storages and their gradients: a pane that is enlarged beyond it is cut at its right. */
const MIN_STRIPS_WIDTH = 130;
/** By how much a gradient stands further right than its value, above it, so that its counter has room. */
export const GRADIENT_COUNTER_INDENT = 18;
/** Of a tensor, in words. */
const CARD_WIDTH = 112;
/** A version, or the step that it made: `v12`, `9→10`. */
const RAIL_WIDTH = 34;
/** The same on a phone, and the least that a tensor has there. */
const PHONE_RAIL_WIDTH = 26;
const MIN_PHONE_CARD_WIDTH = 50;
/** Between a value and its gradient, with the gradient's version. */
const GRADIENT_GAP = 36;
/** The same in a row that is a line. */
const LINE_GRADIENT_GAP = 30;

/** Names that are all short have less room in a pane that is narrower than usual. */
const MIN_NAMES_WIDTH = 44;
const USUAL_PANE_WIDTH = 540;
/** No phone is so wide. */
const MIN_CONTENT_WIDTH = 400;
/** Cells with a number in them, and how many of them beside each other are the most that a run is enlarged for. */
const CONTENT_CELLS = { w: 40, most: 10 };
/** A storage has so much room however few its cells are. */
const MIN_STRIP_WIDTH = 76;

/** Of more cells, a line has colours, or several lines have the numbers. */
const MAX_CELLS_IN_LINE = 8;
/** A number of 20 has room in it. */
const MIN_LARGE_CELL_WIDTH = 60;

/** What a broken pin says above its strip. */
const BROKEN_PIN_WIDTH = 210;

/**
 * How wide a pane is at least in which all of a run stands beside each other, with numbers. `hasBrokenPins`: a saved
 * value of the run is overwritten.
 */
export function leastContentWidth(homes: Homes, hasBrokenPins = false): number {
  const names = Math.max(MIN_NAMES_WIDTH, Math.min(160, homes.widestName));
  const strip = Math.max(MIN_STRIP_WIDTH, Math.min(CONTENT_CELLS.most, homes.mostCells) * CONTENT_CELLS.w);
  const cards = MEMORY_LEFT_MARGIN + names + 8 + CARD_WIDTH + 3 + RAIL_WIDTH + 12;
  const strips = strip + 14 + (homes.hasGrads ? GRADIENT_GAP + strip : 0);
  const w = cards + Math.max(strips, hasBrokenPins ? BROKEN_PIN_WIDTH + 8 : 0);
  return Math.max(MIN_CONTENT_WIDTH, Math.min(USUAL_PANE_WIDTH, w));
}

/** A row of few cells has no wider ones than a row beside it that needs its whole line. */
function cellsOfOneSize(row: RowCells, stripW: number, mostCells: number): RowCells {
  if (mostCells > MAX_CELLS_IN_LINE) return row;
  return { ...row, w: Math.min(row.w, Math.max(MIN_LARGE_CELL_WIDTH, stripW / Math.max(1, mostCells))) };
}

/**
 * On a phone a card has what cells leave: where they are few, its words fit. `besideNames` is how many pixels right of
 * the names there are.
 */
function phoneCardWidth(homes: Homes, besideNames: number, row: RowCells): number {
  const strips = Math.max(MIN_STRIPS_WIDTH, Math.min(MAX_CELLS_IN_LINE, homes.mostCells) * row.w);
  const spare = besideNames - 8 - 3 - PHONE_RAIL_WIDTH - 12 - strips - 14;
  return Math.round(Math.max(MIN_PHONE_CARD_WIDTH, Math.min(CARD_WIDTH, spare)));
}

export function layoutMemoryColumns(homes: Homes, w: number, row: RowCells = USUAL_ROW_CELLS): MemoryColumns {
  const isPhone = w < Math.min(PHONE_PANE_WIDTH, leastContentWidth(homes));
  const least = w < USUAL_PANE_WIDTH ? MIN_NAMES_WIDTH : 84;
  const [minNames, maxNames] = isPhone ? [MIN_NAMES_WIDTH, 104] : [least, Math.max(132, Math.min(160, w * 0.2))];
  const widestName = homes.widestName + (homes.sectionByKey.size && !isPhone ? 12 : 0);
  const namesW = Math.round(Math.min(maxNames, Math.max(minNames, widestName)));
  const cardW = isPhone ? phoneCardWidth(homes, w - MEMORY_LEFT_MARGIN - namesW, row) : CARD_WIDTH;
  const railW = isPhone ? PHONE_RAIL_WIDTH : RAIL_WIDTH;
  const card = MEMORY_LEFT_MARGIN + namesW + 8;
  const rail = card + cardW + 3;
  const strip = rail + railW + 12;
  const stripsWidth = Math.max(isPhone ? MIN_STRIPS_WIDTH : MIN_STRIP_WIDTH, w - strip - 14);
  const stripW = homes.hasGrads ? Math.floor((stripsWidth - GRADIENT_GAP) / 2) : stripsWidth;
  const gradW = homes.hasGrads ? stripsWidth - GRADIENT_GAP - stripW : 0;
  return {
    w,
    phone: isPhone,
    names: MEMORY_LEFT_MARGIN,
    namesW,
    card,
    cardW,
    rail,
    railW,
    strip,
    stripW,
    grad: strip + stripW + GRADIENT_GAP,
    gradW,
    fullStripW: isPhone ? stripsWidth : stripW,
    fullGradW: isPhone ? stripsWidth - GRADIENT_COUNTER_INDENT : gradW,
    indent: isPhone ? 0 : 12,
    left: 0,
    cells: null,
    row: cellsOfOneSize(row, stripW, homes.mostCells),
    stacked: false,
    line: null,
  };
}

/** Cells of a focus: of one or two small things, of those with what made them, of three things or fewer, of more. */
export const FOCUS_CELLS = {
  large: { w: 68, h: 48, lines: 3, columns: 6 },
  roomy: { w: 60, h: 36, lines: 4, columns: 6 },
  usual: { w: 50, h: 24, lines: 8, columns: 6 },
  many: { w: 50, h: 24, lines: 4, columns: 6 },
  tight: { w: 50, h: 20, lines: 2, columns: 6 },
};
const FOCUS_NAMES_WIDTHS = { least: 84, most: 170 };
const FOCUS_CARD_WIDTH = 112;
const FOCUS_STRIP_INDENT = 14;
/** A wider focus has gradients beside their values. */
const FOCUS_WIDTH_FOR_GRADIENTS_BESIDE = 560;
const MIN_LINE_STRIP_WIDTH = 24;
/** With less beside it, a line says nothing of a gradient. */
const MIN_LINE_WIDTH_WITH_GRADIENTS = 90;
/** The shape alone. */
const FOCUS_LINE_CARD_WIDTH = 70;

/**
 * The columns of what a step touched, beside the list of names: its cells stand below its names. They begin at `left`.
 * `usualWidth` is what they have where the graph has a focus, too: names and tensors stand at one place in both.
 */
export function layoutFocusColumns(homes: Homes, left: number, w: number, usualWidth: number): MemoryColumns {
  const names = 12;
  const namesW = Math.round(
    Math.max(FOCUS_NAMES_WIDTHS.least, Math.min(FOCUS_NAMES_WIDTHS.most, Math.min(w, usualWidth) * 0.36)),
  );
  const card = names + namesW + 8;
  const rail = w - RAIL_WIDTH - 8;
  const strip = names + FOCUS_STRIP_INDENT;
  const room = Math.max(MIN_STRIPS_WIDTH, rail - 10 - strip);
  const isBeside = homes.hasGrads && w >= FOCUS_WIDTH_FOR_GRADIENTS_BESIDE;
  const stripW = isBeside ? Math.floor((room - GRADIENT_GAP) * 0.52) : room;
  const columns: MemoryColumns = {
    w,
    phone: !isBeside,
    names,
    namesW,
    card,
    cardW: FOCUS_CARD_WIDTH,
    rail,
    railW: RAIL_WIDTH,
    strip,
    stripW,
    grad: strip + stripW + GRADIENT_GAP,
    gradW: homes.hasGrads ? (isBeside ? room - GRADIENT_GAP - stripW : room - GRADIENT_COUNTER_INDENT) : 0,
    fullStripW: stripW,
    fullGradW: isBeside ? room - GRADIENT_GAP - stripW : room - GRADIENT_COUNTER_INDENT,
    indent: 0,
    left,
    cells: FOCUS_CELLS.usual,
    row: USUAL_ROW_CELLS,
    stacked: true,
    line: null,
  };
  const lineRail = card + FOCUS_LINE_CARD_WIDTH + 3;
  const lineStrip = lineRail + RAIL_WIDTH + 7;
  const lineRoom = Math.max(MIN_LINE_STRIP_WIDTH, w - 8 - lineStrip);
  const hasLineGrads = homes.hasGrads && lineRoom >= MIN_LINE_WIDTH_WITH_GRADIENTS;
  const lineStripW = hasLineGrads ? Math.floor((lineRoom - LINE_GRADIENT_GAP) * 0.52) : lineRoom;
  columns.line = {
    ...columns,
    cells: null,
    stacked: false,
    phone: false,
    cardW: FOCUS_LINE_CARD_WIDTH,
    rail: lineRail,
    strip: lineStrip,
    stripW: lineStripW,
    fullStripW: lineStripW,
    grad: lineStrip + lineStripW + LINE_GRADIENT_GAP,
    gradW: hasLineGrads ? lineRoom - LINE_GRADIENT_GAP - lineStripW : 0,
    fullGradW: hasLineGrads ? lineRoom - LINE_GRADIENT_GAP - lineStripW : 0,
  };
  return columns;
}

/** The columns of a row: those of lines where it is one. */
export function columnsOfRow(columns: MemoryColumns, { level, low }: { level: string; low: boolean }): MemoryColumns {
  return columns.line && (level === "slim" || low) ? columns.line : columns;
}

/** The columns of a row without names: what its memory is for has the room up to its tensor, at the right. */
export function columnsOfNameless(columns: MemoryColumns): MemoryColumns {
  if (!columns.stacked) return columns;
  const card = Math.max(columns.names + 60, columns.rail - 4 - columns.cardW);
  return { ...columns, card, namesW: card - columns.names - 8 };
}
