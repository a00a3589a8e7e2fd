/** A series in its offline file: every trace lies in the document, compressed; the place in the address says which is shown. */

interface OfflineItem {
  place: number;
  title: string;
  program: string;
  note: string;
  step: number | null;
}

export interface OfflineSeries {
  series: { title: string; description: string; address: string; removed: number; items: OfflineItem[] };
  /** gzipped, in base64, by program; an item's place counts removed programs too */
  traces: Record<string, string>;
}

const PLACE_PARAMETER = "item";

/** The item that the fragment names, else the first. */
export function itemAt(items: OfflineItem[], fragment: string) {
  const place = Number(new URLSearchParams(fragment.replace(/^#/, "")).get(PLACE_PARAMETER));
  return items.find((item) => item.place === place) ?? items[0];
}

/** What the viewer is started with, and the note. */
export async function readOfflineSeries({ series, traces }: OfflineSeries, fragment: string) {
  const item = itemAt(series.items, fragment);
  const trace = JSON.parse(await unzip(traces[item.program]));
  const items = series.items.map(({ place, title }) => ({ place, title, url: `#${PLACE_PARAMETER}=${place}` }));
  const seriesShown = { title: series.title, url: null, place: item.place, items, removed: series.removed };
  return {
    content: { trace, step: item.step, title: item.title, address: series.address, series: seriesShown },
    note: { text: item.note, step: item.step, description: series.description },
  };
}

/** Another item is another trace: the page begins anew. */
export function reloadOnItem(items: OfflineItem[]) {
  const { place } = itemAt(items, location.hash);
  addEventListener("hashchange", () => {
    if (itemAt(items, location.hash).place !== place) location.reload();
  });
}

async function unzip(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
