/** A program of a series to read: the strip above it, and its note at the step that the note is about. */

import { element } from "../browser/elements.js";
import { createOrderStrip } from "../browser/order_strip.js";
import { differs } from "../browser/store.js";
import { noteNodes } from "./note_nodes.js";

/** More places than this stand in rows of their own. */
const MAX_IN_ONE_ROW = 6;

/**
 * @typedef {{place: number, title: string, url: string}} Item   place: in the series, from 1, removed programs included
 * @typedef {{text: string, step: number | null, description: string}} Note
 *   step: null for a note about the whole program; description: of the series
 * @typedef {{title: string, url: string | null, place: number, items: Item[], removed: number}} Series
 *   items: the programs that there are; removed: how many others the host removed
 * @typedef {import("../page_state/page_state.js").PageState} PageState
 */

/**
 * The step of a note where a page may show it: of the saved run alone, and of no step that its reader has not seen.
 * @param {Note | null} note @param {Pick<PageState, "opened">} state `opened` ends with what its reader has seen
 * @returns {number | null}
 */
export function shownNoteStep(note, { opened }) {
  if (!note?.text || note.step === null || !opened) return null;
  return note.step < opened.count ? note.step : null;
}

/** What the strip shows of a series. @param {Series} series @param {Note | null} note null until it is there
 * @param {import("../words/locale.js").Locale["say"]} say @returns {import("../browser/order_strip.js").Order} */
export function orderOf(series, note, say) {
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

/**
 * @param {Series} series
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/actions.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {{note: () => Promise<Note>, isSaved: (state: PageState) => boolean}} how isSaved: what is shown is what was saved
 */
export function startSeries(series, store, say, { note: loadNote, isSaved }) {
  const host = document.getElementById("series") ?? element("section", "");
  host.id = "series";
  if (!host.isConnected) document.querySelector(".program")?.prepend(host);
  host.toggleAttribute("data-many", series.items.length > MAX_IN_ONE_ROW);
  const strip = createOrderStrip(host, say);
  strip.show(orderOf(series, null, say));
  if (series.removed)
    strip.announce(say(series.removed === 1 ? "series_removed_one" : "series_removed", { n: series.removed }));

  const noteBox = element("aside", "series-note");
  noteBox.setAttribute("aria-label", say("series_note"));
  noteBox.tabIndex = 0;
  noteBox.hidden = true;
  const noteMark = /** @type {HTMLButtonElement} */ (element("button", "series-mark"));
  noteMark.type = "button";
  noteMark.hidden = true;
  document.getElementById("sentences")?.before(noteBox);
  const track = document.querySelector("#timeline .track");
  track?.append(noteMark);
  /** @type {Note | null} */
  let note = null;

  noteMark.addEventListener("click", () => {
    const step = shownNoteStep(note, store.state());
    if (step !== null) store.dispatch({ type: "stepChosen", step });
  });

  /** @param {PageState} state */
  function render(state) {
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
    if (differs(state, before, "opened", "step", "text", "settings", "predict")) render(state);
  });
  loadNote().then(
    (loaded) => {
      note = loaded;
      strip.show(orderOf(series, note, say));
      render(store.state());
    },
    () => strip.announce(say("error_network")),
  );
}

/** The note of a program, from a server. @param {string} url of the series as JSON @param {number} place from 1
 * @returns {Promise<Note>} */
export async function fetchNote(url, place) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status}`);
  const { description, items } = await response.json();
  const { note: text, step } = items[place - 1];
  return { text, step, description };
}

/** An address that names no step opens at the note's. @param {import("../page_state/url.js").Address} address @param {number | null} step
 * @returns {import("../page_state/url.js").Address} */
export function atNote(address, step) {
  const isOpen = address.step === null && address.source === null && !address.predict;
  return isOpen ? { ...address, step } : address;
}
