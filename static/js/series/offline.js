/** A series in its offline file: every trace lies in the document, compressed; the place in the address says which is shown. */

/**
 * @typedef {{place: number, title: string, program: string, note: string, step: number | null}} OfflineItem
 * @typedef {{series: {title: string, description: string, address: string, removed: number, items: OfflineItem[]},
 *   traces: Record<string, string>}} OfflineSeries
 *   traces: gzipped, in base64, by program; an item's place counts removed programs too
 */

const PLACE_PARAMETER = "item";

/** The item that the fragment names, else the first. @param {OfflineItem[]} items @param {string} fragment */
export function itemAt(items, fragment) {
  const place = Number(new URLSearchParams(fragment.replace(/^#/, "")).get(PLACE_PARAMETER));
  return items.find((item) => item.place === place) ?? items[0];
}

/** What the viewer is started with, and the note. @param {OfflineSeries} content @param {string} fragment */
export async function readOfflineSeries({ series, traces }, fragment) {
  const item = itemAt(series.items, fragment);
  const trace = JSON.parse(await unzip(traces[item.program]));
  const items = series.items.map(({ place, title }) => ({ place, title, url: `#${PLACE_PARAMETER}=${place}` }));
  const seriesShown = { title: series.title, url: null, place: item.place, items, removed: series.removed };
  return {
    content: { trace, step: item.step, title: item.title, address: series.address, series: seriesShown },
    note: { text: item.note, step: item.step, description: series.description },
  };
}

/** Another item is another trace: the page begins anew. @param {OfflineItem[]} items */
export function reloadOnItem(items) {
  const { place } = itemAt(items, location.hash);
  addEventListener("hashchange", () => {
    if (itemAt(items, location.hash).place !== place) location.reload();
  });
}

/** @param {string} text @returns {Promise<string>} */
async function unzip(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
