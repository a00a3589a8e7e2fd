/** The columns of the memory pane: names, handles, counters, storages and, where a run has gradients, theirs. */

import type { FirstNames } from "./first_names.ts";
import { USUAL_ROW_CELLS, type RowCells } from "../cells/row_strip.ts";

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
  /** how cells are drawn */
  row: RowCells;
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
export function minContentWidth(firstNames: FirstNames, hasBrokenPins = false): number {
  const names = Math.max(MIN_NAMES_WIDTH, Math.min(160, firstNames.widestName));
  const strip = Math.max(MIN_STRIP_WIDTH, Math.min(CONTENT_CELLS.most, firstNames.mostCells) * CONTENT_CELLS.w);
  const cards = MEMORY_LEFT_MARGIN + names + 8 + CARD_WIDTH + 3 + RAIL_WIDTH + 12;
  const strips = strip + 14 + (firstNames.hasGrads ? GRADIENT_GAP + strip : 0);
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
function phoneCardWidth(firstNames: FirstNames, besideNames: number, row: RowCells): number {
  const strips = Math.max(MIN_STRIPS_WIDTH, Math.min(MAX_CELLS_IN_LINE, firstNames.mostCells) * row.w);
  const spare = besideNames - 8 - 3 - PHONE_RAIL_WIDTH - 12 - strips - 14;
  return Math.round(Math.max(MIN_PHONE_CARD_WIDTH, Math.min(CARD_WIDTH, spare)));
}

export function layoutMemoryColumns(firstNames: FirstNames, w: number, row: RowCells = USUAL_ROW_CELLS): MemoryColumns {
  const isPhone = w < Math.min(PHONE_PANE_WIDTH, minContentWidth(firstNames));
  const least = w < USUAL_PANE_WIDTH ? MIN_NAMES_WIDTH : 84;
  const [minNames, maxNames] = isPhone ? [MIN_NAMES_WIDTH, 104] : [least, Math.max(132, Math.min(160, w * 0.2))];
  const widestName = firstNames.widestName + (firstNames.sectionByKey.size && !isPhone ? 12 : 0);
  const namesW = Math.round(Math.min(maxNames, Math.max(minNames, widestName)));
  const cardW = isPhone ? phoneCardWidth(firstNames, w - MEMORY_LEFT_MARGIN - namesW, row) : CARD_WIDTH;
  const railW = isPhone ? PHONE_RAIL_WIDTH : RAIL_WIDTH;
  const card = MEMORY_LEFT_MARGIN + namesW + 8;
  const rail = card + cardW + 3;
  const strip = rail + railW + 12;
  const stripsWidth = Math.max(isPhone ? MIN_STRIPS_WIDTH : MIN_STRIP_WIDTH, w - strip - 14);
  const stripW = firstNames.hasGrads ? Math.floor((stripsWidth - GRADIENT_GAP) / 2) : stripsWidth;
  const gradW = firstNames.hasGrads ? stripsWidth - GRADIENT_GAP - stripW : 0;
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
    row: cellsOfOneSize(row, stripW, firstNames.mostCells),
  };
}
