/** The parts of the workbench that are about series: a saved program joins one, or is shown as one of a series. */

import { startAdding } from "./add.js";
import { fetchNote, startSeries } from "./reader.js";
import { startSeriesTools } from "./tools.js";

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{saved: {id: string, title: string} | null, series: (import("./reader.js").Series & {url: string, notes: string}) | null}} page
 *   saved: the page's program, null where it is not saved; series: that it is shown of; notes: where they are
 * @param {Parameters<typeof startSeries>[1]} store
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{isSaved: (state: import("../page_state/page_state.js").PageState) => boolean, copied: (name: string) => void, failed: () => void}} how
 *   isSaved: what is shown is what was saved
 */
export function startSeriesParts(element, { saved, series }, store, say, { isSaved, copied, failed }) {
  if (saved) startAdding(element("add-to-series"), saved, () => store.state().step);
  if (!series) return;
  startSeries(series, store, say, { note: () => fetchNote(series.notes, series.place), isSaved });
  startSeriesTools(element("series-frame"), series, { copied, failed });
}
