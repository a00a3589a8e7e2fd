/** The columns of the memory pane: names, handles, counters, storages and, where a run has gradients, theirs. */

import type { Homes } from "./homes.ts";

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
}

/** A narrower pane has the layout of a phone. */
const PHONE_PANE_WIDTH = 500;
const MEMORY_LEFT_MARGIN = 10;
/** The least room of storages and their gradients: a pane that is enlarged beyond it is cut at its right. */
const MIN_STRIPS_WIDTH = 130;
/** By how much a gradient stands further right than its value, above it, so that its counter has room. */
export const GRADIENT_COUNTER_INDENT = 14;

export function layoutMemoryColumns(homes: Homes, w: number): MemoryColumns {
  const isPhone = w < PHONE_PANE_WIDTH;
  const [minNames, maxNames] = isPhone ? [62, 104] : [84, Math.max(132, Math.min(160, w * 0.2))];
  const widestName = homes.widestName + (homes.sectionByKey.size && !isPhone ? 12 : 0);
  const namesW = Math.round(Math.min(maxNames, Math.max(minNames, widestName)));
  const cardW = isPhone ? 50 : 104;
  const railW = isPhone ? 24 : 30;
  const card = MEMORY_LEFT_MARGIN + namesW + 8;
  const rail = card + cardW + 3;
  const strip = rail + railW + 12;
  const stripsWidth = Math.max(MIN_STRIPS_WIDTH, w - strip - 14);
  const stripW = homes.hasGrads ? Math.floor((stripsWidth - 34) * 0.52) : stripsWidth;
  const gradW = homes.hasGrads ? stripsWidth - 30 - stripW : 0;
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
    grad: strip + stripW + 30,
    gradW,
    fullStripW: isPhone ? stripsWidth : stripW,
    fullGradW: isPhone ? stripsWidth - GRADIENT_COUNTER_INDENT : gradW,
    indent: isPhone ? 0 : 12,
  };
}
