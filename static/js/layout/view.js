/** Which part of a tall picture is in sight: what lies beyond is not drawn, so that a step costs the same beside thousands. */

/** @typedef {{top: number, bottom: number}} Band   heights of the plan; the whole of it where it is low */
/** @typedef {{memory: Band, graph: Band, peeks?: Map<string, number>}} View   peeks: from where on big storages show their cells */

/** @type {Band} */
export const WHOLE_BAND = { top: -Infinity, bottom: Infinity };

/** Pictures up to this height are drawn whole. */
export const MAX_WHOLE_HEIGHT = 4000;

/** Bands begin and end at multiples of this, so that little scrolling draws nothing anew. */
const BAND_STEP = 400;

/** The band to draw for what is in sight, with room to scroll into. @param {number} top @param {number} bottom @returns {Band} */
export function visibleBand(top, bottom) {
  const margin = Math.max(bottom - top, BAND_STEP);
  return {
    top: Math.floor((top - margin / 2) / BAND_STEP) * BAND_STEP,
    bottom: Math.ceil((bottom + margin / 2) / BAND_STEP) * BAND_STEP,
  };
}

/** Whether something between these heights is in the band. @param {Band} band @param {number} from @param {number} to */
export function inBand({ top, bottom }, from, to) {
  return Math.max(from, to) >= top && Math.min(from, to) <= bottom;
}
