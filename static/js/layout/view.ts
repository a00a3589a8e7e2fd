/**
 * Which part of a tall picture is in sight: what lies beyond is not drawn, so that a step costs the same beside
 * thousands.
 */

/** heights of the plan; the whole of it where it is low */
export interface HeightBand {
  top: number;
  bottom: number;
}

export const UNBOUNDED_BAND: HeightBand = { top: -Infinity, bottom: Infinity };

/** Pictures up to this height are drawn whole. */
export const MAX_UNCLIPPED_HEIGHT = 4000;

/** Bands begin and end at multiples of this, so that little scrolling draws nothing anew. */
const BAND_STEP = 400;

/** The band to draw for what is in sight, with room to scroll into. */
export function visibleBand(top: number, bottom: number): HeightBand {
  const margin = Math.max(bottom - top, BAND_STEP);
  return {
    top: Math.floor((top - margin / 2) / BAND_STEP) * BAND_STEP,
    bottom: Math.ceil((bottom + margin / 2) / BAND_STEP) * BAND_STEP,
  };
}

/** Whether something between these heights is in the band. */
export function isInVisibleBand({ top, bottom }: HeightBand, from: number, to: number) {
  return Math.max(from, to) >= top && Math.min(from, to) <= bottom;
}
