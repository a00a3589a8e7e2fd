/** A program of a series to read: the strip above it, and its note at the step that the note is about. */

import { createElement } from "../browser/elements.ts";
import { createOrderStrip, type OrderedPages } from "../browser/order_strip.ts";
import { hasChangedField } from "../browser/store.ts";
import { noteNodes } from "../browser/note_nodes.ts";
import type { Action } from "../page_state/actions.ts";
import type { Address } from "../page_state/url.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

/** More places than this stand in rows of their own. */
const MAX_PLACES_IN_ONE_ROW = 6;

interface SeriesItem {
  /** in the series, from 1, removed programs included */
  place: number;
  title: string;
  url: string;
}

export interface SeriesNote {
  text: string;
  /** null for a note about the whole program */
  step: number | null;
  /** of the series */
  description: string;
}

export interface Series {
  title: string;
  url: string | null;
  place: number;
  /** the programs that there are */
  items: SeriesItem[];
  /** how many others the host removed */
  removed: number;
}

/**
 * The step of a note where a page may show it: of the saved run alone, and of no step that its reader has not seen.
 * `opened` ends with what he has seen.
 */
export function shownNoteStep(note: SeriesNote | null, { opened }: Pick<PageState, "opened">): number | null {
  if (!note?.text || note.step === null || !opened) return null;
  return note.step < opened.count ? note.step : null;
}

/** What the strip shows of a series; the note is null until it is there. */
export function orderedPagesOfSeries(series: Series, note: SeriesNote | null, say: Locale["say"]): OrderedPages {
  const shownIndex = series.items.findIndex(({ place }) => place === series.place);
  const texts = note
    ? [shownIndex === 0 ? note.description : "", note.step === null ? note.text : ""].filter(Boolean)
    : [];
  const items = series.items.map(({ place, title, url }, k) => ({
    title: title || say("series_program", { n: place }),
    url,
    ...(k === shownIndex && { note: noteNodes(texts.join("\n\n")) }),
  }));
  return { title: series.title, url: series.url, items, at: shownIndex };
}

interface SeriesStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

/** `isSaved`: what is shown is what was saved. */
export function startSeriesReader(
  series: Series,
  store: SeriesStore,
  say: Locale["say"],
  { note: loadNote, isSaved }: { note: () => Promise<SeriesNote>; isSaved: (state: PageState) => boolean },
) {
  const host = document.getElementById("series") ?? createElement("section", "");
  host.id = "series";
  if (!host.isConnected) document.querySelector(".program")?.prepend(host);
  host.toggleAttribute("data-many", series.items.length > MAX_PLACES_IN_ONE_ROW);
  const strip = createOrderStrip(host, say);
  strip.show(orderedPagesOfSeries(series, null, say));
  if (series.removed)
    strip.announce(say(series.removed === 1 ? "series_removed_one" : "series_removed", { n: series.removed }));

  const noteBox = createElement("aside", "series-note");
  noteBox.setAttribute("aria-label", say("series_note"));
  noteBox.tabIndex = 0;
  noteBox.hidden = true;
  const noteMark = createElement("button", "series-mark") as HTMLButtonElement;
  noteMark.type = "button";
  noteMark.hidden = true;
  document.getElementById("timeline")?.append(noteBox);
  const track = document.querySelector("#timeline .track");
  track?.append(noteMark);
  let note: SeriesNote | null = null;

  noteMark.addEventListener("click", () => {
    const step = shownNoteStep(note, store.state());
    if (step !== null) store.dispatch({ type: "stepChosen", step });
  });

  function render(state: PageState) {
    const step = isSaved(state) ? shownNoteStep(note, state) : null;
    noteMark.hidden = step === null;
    track?.classList.toggle("has-note", step !== null);
    noteBox.hidden = step === null || state.step !== step;
    if (step === null) return;
    const last = (state.opened?.count ?? 1) - 1;
    noteMark.style.setProperty("--at", String(last > 0 ? step / last : 0));
    noteMark.title = noteMark.ariaLabel = say("series_note_at", { n: step + 1 });
    if (!noteBox.hidden && note && !noteBox.childNodes.length) noteBox.replaceChildren(...noteNodes(note.text));
    if (noteBox.hidden) noteBox.replaceChildren();
  }

  store.subscribe((state, before) => {
    if (hasChangedField(state, before, "opened", "step", "text", "settings", "predict")) render(state);
  });
  loadNote().then(
    (loaded) => {
      note = loaded;
      strip.show(orderedPagesOfSeries(series, note, say));
      render(store.state());
    },
    () => strip.announce(say("error_network")),
  );
}

/** The note of the program at a place of a series, from 1; `url` gives the series as JSON. */
export async function fetchSeriesNote(url: string, place: number): Promise<SeriesNote> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status}`);
  const { description, items } = await response.json();
  const { note: text, step } = items[place - 1];
  return { text, step, description };
}

/** An address that names no step opens at the note's. */
export function addressAtNoteStep(address: Address, step: number | null): Address {
  const isOpen = address.step === null && address.source === null && !address.predict;
  return isOpen ? { ...address, step } : address;
}
