/** The page on which a series is made: its programs in an order, a note to each, and the request that saves it. */

import { loadSeriesLocale } from "../words/page_locale.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { startThemeButton } from "../browser/theme.ts";
import {
  draftOfSavedSeries,
  emptySeriesDraft,
  isEmptySeriesDraft,
  itemsWithOneMoved,
  savedProgramIdInText,
  readSeriesDraft,
  seriesRequestBody,
  writeSeriesDraft,
  type SeriesDraft,
} from "./series_draft.ts";
import { createNoteEditor } from "./note_editor.ts";
import { createOrderList } from "./order_list.ts";

const { say } = await loadSeriesLocale(document.documentElement.lang);
const elementById = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const { max_programs: maxPrograms }: { max_programs: number } = JSON.parse(elementById("first").textContent ?? "{}");
const urlQuery = new URLSearchParams(location.search);

let seriesDraft = readSeriesDraft();
let chosenIndex = 0;

const orderList = createOrderList(elementById("items"), say, {
  onChoose: chooseItem,
  onMove: moveDraftItem,
  onRemove: removeDraftItem,
});
const noteEditor = createNoteEditor(elementById, say, (change) => {
  seriesDraft.items[chosenIndex] = { ...seriesDraft.items[chosenIndex], ...change };
  writeSeriesDraft(seriesDraft);
  orderList.show(seriesDraft.items, chosenIndex);
  noteEditor.show(seriesDraft.items[chosenIndex]);
});

/** An empty text clears it. */
function showProblem(text: string) {
  elementById("problem").textContent = text;
  elementById("problem").hidden = !text;
}

/** Show the draft, and another item on the stage where that is asked for. */
function render(isOther: boolean) {
  writeSeriesDraft(seriesDraft);
  orderList.show(seriesDraft.items, chosenIndex);
  elementById("none").hidden = seriesDraft.items.length > 0;
  elementById("shown").hidden = !seriesDraft.items.length;
  (elementById("discard") as HTMLButtonElement).hidden = isEmptySeriesDraft(seriesDraft);
  if (isOther && seriesDraft.items.length) noteEditor.open(seriesDraft.items[chosenIndex], chosenIndex);
}

function chooseItem(k: number) {
  chosenIndex = k;
  render(true);
  orderList.focus(k);
}

function moveDraftItem(from: number, to: number) {
  const items = itemsWithOneMoved(seriesDraft.items, from, to);
  if (items === seriesDraft.items) return;
  const item = seriesDraft.items[chosenIndex];
  seriesDraft = { ...seriesDraft, items };
  chosenIndex = items.indexOf(item);
  render(false);
  elementById("shown-title").textContent = `${chosenIndex + 1}. ${item.title || item.program}`;
  orderList.focus(to);
  elementById("moved").textContent = say("series_moved", { title: items[to].title || items[to].program, n: to + 1 });
}

function removeDraftItem(k: number) {
  seriesDraft = { ...seriesDraft, items: seriesDraft.items.filter((_, index) => index !== k) };
  const isOther = k === chosenIndex;
  if (k < chosenIndex || chosenIndex >= seriesDraft.items.length) chosenIndex = Math.max(0, chosenIndex - 1);
  render(isOther);
  if (seriesDraft.items.length) orderList.focus(Math.min(k, seriesDraft.items.length - 1));
  else elementById("address").focus();
}

function showDraft(next: SeriesDraft) {
  seriesDraft = next;
  chosenIndex = 0;
  for (const name of ["title", "description"] as const) field(name).value = seriesDraft[name];
  render(true);
}

const field = (name: "title" | "description"): HTMLInputElement => elementById(`series-${name}`);

for (const name of ["title", "description"] as const)
  field(name).addEventListener("input", () => {
    seriesDraft = { ...seriesDraft, [name]: field(name).value };
    writeSeriesDraft(seriesDraft);
    elementById("discard").hidden = isEmptySeriesDraft(seriesDraft);
  });

elementById("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = elementById("address") as HTMLInputElement;
  const id = savedProgramIdInText(address.value);
  if (!id) return showProblem(say("series_no_address"));
  try {
    const response = await fetch(`${SERVER_ROOT}/s/${id}.json`);
    const reply = await response.json();
    if (!response.ok) return showProblem(reply.error.message);
    showProblem("");
    seriesDraft.items.push({ program: id, title: reply.title, note: "", step: null, seen: null });
    address.value = "";
    chooseItem(seriesDraft.items.length - 1);
  } catch {
    showProblem(say("series_network"));
  }
});

elementById("discard").addEventListener("click", () => {
  showDraft(emptySeriesDraft());
  field("title").focus();
});

elementById("save-series").addEventListener("click", async () => {
  showProblem("");
  if (!seriesDraft.title.trim()) return showProblemAndFocus(say("series_needs_title"), field("title"));
  if (!seriesDraft.items.length) return showProblemAndFocus(say("series_needs_program"), elementById("address"));
  if (seriesDraft.items.length > maxPrograms) return showProblem(say("series_too_many", { n: maxPrograms }));
  const save = elementById("save-series") as HTMLButtonElement;
  save.disabled = true;
  try {
    const body = JSON.stringify(seriesRequestBody(seriesDraft, document.documentElement.lang));
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${SERVER_ROOT}/api/series`, { method: "POST", headers, body });
    const reply = await response.json();
    if (!response.ok) return showProblemAtItem(reply.error);
    writeSeriesDraft(emptySeriesDraft());
    location.assign(`${SERVER_ROOT}/series/${reply.id}?lang=${document.documentElement.lang}`);
  } catch {
    showProblem(say("series_network"));
  } finally {
    save.disabled = false;
  }
});

function showProblemAndFocus(text: string, focusTarget: HTMLElement) {
  showProblem(text);
  focusTarget.focus();
}

/** Says why the server refuses, at the program that it is about. */
function showProblemAtItem({ message, field: path = "" }: { message: string; field?: string }) {
  const [part, place] = path.split(".");
  if (part === "items" && Number(place) < seriesDraft.items.length) chooseItem(Number(place));
  showProblem(say("series_refused", { message }));
}

/** A saved series as the draft; asks first where that would replace another. */
async function copySavedSeriesToDraft(id: string) {
  const response = await fetch(`${SERVER_ROOT}/series/${encodeURIComponent(id)}.json`).catch(() => null);
  if (!response) return showProblem(say("series_network"));
  const reply = await response.json();
  if (!response.ok) return showProblem(reply.error.message);
  const copy = draftOfSavedSeries(reply);
  if (isEmptySeriesDraft(seriesDraft)) return showDraft(copy);
  const offer = elementById("offer");
  const text = offer.querySelector("span") as HTMLElement;
  text.textContent = say("series_offer", { title: copy.title });
  offer.hidden = false;
  offer.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    offer.hidden = true;
    if (target.dataset.replace !== undefined) showDraft(copy);
    field("title").focus();
  });
}

startThemeButton(elementById("theme"));
showDraft(seriesDraft);
if (seriesDraft.items.length)
  chooseItem(Math.max(0, Math.min(Number(urlQuery.get("item") ?? 1) || 1, seriesDraft.items.length) - 1));
const copiedSeriesId = urlQuery.get("from");
if (copiedSeriesId) await copySavedSeriesToDraft(copiedSeriesId);
elementById("series-new").dataset.ready = "true";
