/** The parts of the workbench that are about series: a saved program joins one, or is shown as one of a series. */

import { fetchSeriesNote, startSeriesReader, type Series } from "../page/series_reader.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { readSeriesDraft, writeSeriesDraft } from "./series_draft.ts";
import { iframeCode } from "../sharing/share_menu.ts";
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

/** `elementById` gives an element of the page, by its id. */
export function startSeriesParts(
  elementById: <T extends HTMLElement>(id: string) => T,
  { saved, series }: SeriesPartsPage,
  store: Parameters<typeof startSeriesReader>[1],
  say: Locale["say"],
  { isSaved, copied, failed }: SeriesPartsOptions,
) {
  if (saved) startAddToSeriesButton(elementById("add-to-series"), saved, () => store.state().step);
  if (!series) return;
  startSeriesReader(series, store, say, { note: () => fetchSeriesNote(series.notes, series.place), isSaved });
  startSeriesTools(elementById("series-frame"), series, { copied, failed });
}

/** The button on a saved program's page that puts it into the series in the making, at the step that is shown. */
function startAddToSeriesButton(button: HTMLElement, { id, title }: { id: string; title: string }, step: () => number) {
  button.addEventListener("click", () => {
    const draft = readSeriesDraft();
    draft.items.push({ program: id, title, note: "", step: null, seen: step() });
    writeSeriesDraft(draft);
    location.assign(`${SERVER_ROOT}/series/new?lang=${document.documentElement.lang}&item=${draft.items.length}`);
  });
}

/** It fits the column of an article. */
const EMBED_FRAME_SIZE = { width: 700, height: 560 };

/** `url` is the absolute one of the series. */
export const embedFrameAddress = (url: string) => url.replace(/\/series\/([^/?#]+).*$/, "/embed/series/$1");

/** The button that copies the code of a frame for another site's page; `url` is that of the series' page. */
function startSeriesTools(
  button: HTMLElement,
  { url, title }: { url: string; title: string },
  { copied, failed }: { copied: (name: string) => void; failed: () => void },
) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(
        iframeCode(embedFrameAddress(new URL(url, location.href).href), title, EMBED_FRAME_SIZE),
      );
      copied(button.textContent ?? "");
    } catch {
      failed();
    }
  });
}
