/** The parts of the workbench that are about series: a saved program joins one, or is shown as one of a series. */

import { startAddToSeriesButton } from "./add.ts";
import { fetchSeriesNote, startSeriesReader, type Series } from "./reader.ts";
import { startSeriesTools } from "./tools.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

interface SeriesPartsPage {
  /** the page's program, null where it is not saved */
  saved: { id: string; title: string } | null;
  /** that it is shown of; notes: where they are */
  series: (Series & { url: string; notes: string }) | null;
}

interface SeriesPartsOptions {
  /** what is shown is what was saved */
  isSaved: (state: PageState) => boolean;
  copied: (name: string) => void;
  failed: () => void;
}

/** @param element an element of the page, by its id */
export function startSeriesParts(
  element: <T extends HTMLElement>(id: string) => T,
  { saved, series }: SeriesPartsPage,
  store: Parameters<typeof startSeriesReader>[1],
  say: Locale["say"],
  { isSaved, copied, failed }: SeriesPartsOptions,
) {
  if (saved) startAddToSeriesButton(element("add-to-series"), saved, () => store.state().step);
  if (!series) return;
  startSeriesReader(series, store, say, { note: () => fetchSeriesNote(series.notes, series.place), isSaved });
  startSeriesTools(element("series-frame"), series, { copied, failed });
}
