/**
 * A series in its offline file: every trace lies in the document, compressed; the place in the address says which is
 * shown.
 */

interface OfflineItem {
  place: number;
  title: string;
  program: string;
  note: string;
  step: number | null;
}

interface OfflineSeries {
  series: { title: string; description: string; address: string; removed: number; items: OfflineItem[] };
  /** gzipped, in base64, by program; an item's place counts removed programs too */
  traces: Record<string, string>;
}

const ITEM_PARAMETER = "item";

/** The item that the fragment names, else the first. */
export function itemOfFragment(items: OfflineItem[], fragment: string) {
  const place = Number(new URLSearchParams(fragment.replace(/^#/, "")).get(ITEM_PARAMETER));
  return items.find((item) => item.place === place) ?? items[0];
}

/** What the viewer is started with, and the note. */
export async function readOfflineSeries({ series, traces }: OfflineSeries, fragment: string) {
  const item = itemOfFragment(series.items, fragment);
  const trace = JSON.parse(await gunzipBase64(traces[item.program]));
  const items = series.items.map(({ place, title }) => ({ place, title, url: `#${ITEM_PARAMETER}=${place}` }));
  const seriesShown = { title: series.title, url: null, place: item.place, items, removed: series.removed };
  return {
    content: { trace, step: item.step, title: item.title, address: series.address, series: seriesShown },
    note: { text: item.note, step: item.step, description: series.description },
  };
}

/** Another item is another trace: the page begins anew. */
export function reloadWhenFragmentNamesOtherItem(items: OfflineItem[]) {
  const { place } = itemOfFragment(items, location.hash);
  addEventListener("hashchange", () => {
    if (itemOfFragment(items, location.hash).place !== place) location.reload();
  });
}

async function gunzipBase64(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
