/** The page on which a series is made: its programs in an order, a note to each, and the request that saves it. */

import { loadSeriesLocale } from "../words/page_locale.ts";
import { ROOT } from "../requests/root.ts";
import { startThemeButton } from "../browser/theme.ts";
import {
  draftOf,
  emptyDraft,
  isEmpty,
  movedItems,
  programId,
  readDraft,
  requestBody,
  writeDraft,
  type Draft,
} from "./draft.ts";
import { createNoteEditor } from "./note_editor.ts";
import { createOrderList } from "./order_list.ts";

const { say } = await loadSeriesLocale(document.documentElement.lang);
const elementById = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const { max_programs: maxPrograms }: { max_programs: number } = JSON.parse(elementById("first").textContent ?? "{}");
const query = new URLSearchParams(location.search);

let draft = readDraft();
let chosenIndex = 0;

const list = createOrderList(elementById("items"), say, {
  onChoose: chooseItem,
  onMove: moveItem,
  onRemove: removeItem,
});
const editor = createNoteEditor(elementById, say, (change) => {
  draft.items[chosenIndex] = { ...draft.items[chosenIndex], ...change };
  writeDraft(draft);
  list.show(draft.items, chosenIndex);
  editor.show(draft.items[chosenIndex]);
});

/** @param text "" for none */
function showProblem(text: string) {
  elementById("problem").textContent = text;
  elementById("problem").hidden = !text;
}

/** Show the draft, and another item on the stage where that is asked for. */
function render(isOther: boolean) {
  writeDraft(draft);
  list.show(draft.items, chosenIndex);
  elementById("none").hidden = draft.items.length > 0;
  elementById("shown").hidden = !draft.items.length;
  (elementById("discard") as HTMLButtonElement).hidden = isEmpty(draft);
  if (isOther && draft.items.length) editor.open(draft.items[chosenIndex], chosenIndex);
}

function chooseItem(k: number) {
  chosenIndex = k;
  render(true);
  list.focus(k);
}

function moveItem(from: number, to: number) {
  const items = movedItems(draft.items, from, to);
  if (items === draft.items) return;
  const item = draft.items[chosenIndex];
  draft = { ...draft, items };
  chosenIndex = items.indexOf(item);
  render(false);
  elementById("shown-title").textContent = `${chosenIndex + 1}. ${item.title || item.program}`;
  list.focus(to);
  elementById("moved").textContent = say("series_moved", { title: items[to].title || items[to].program, n: to + 1 });
}

function removeItem(k: number) {
  draft = { ...draft, items: draft.items.filter((_, index) => index !== k) };
  const isOther = k === chosenIndex;
  if (k < chosenIndex || chosenIndex >= draft.items.length) chosenIndex = Math.max(0, chosenIndex - 1);
  render(isOther);
  if (draft.items.length) list.focus(Math.min(k, draft.items.length - 1));
  else elementById("address").focus();
}

function showDraft(next: Draft) {
  draft = next;
  chosenIndex = 0;
  for (const name of ["title", "description"] as const) field(name).value = draft[name];
  render(true);
}

const field = (name: "title" | "description"): HTMLInputElement => elementById(`series-${name}`);

for (const name of ["title", "description"] as const)
  field(name).addEventListener("input", () => {
    draft = { ...draft, [name]: field(name).value };
    writeDraft(draft);
    elementById("discard").hidden = isEmpty(draft);
  });

elementById("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const address = elementById("address") as HTMLInputElement;
  const id = programId(address.value);
  if (!id) return showProblem(say("series_no_address"));
  try {
    const response = await fetch(`${ROOT}/s/${id}.json`);
    const reply = await response.json();
    if (!response.ok) return showProblem(reply.error.message);
    showProblem("");
    draft.items.push({ program: id, title: reply.title, note: "", step: null, seen: null });
    address.value = "";
    chooseItem(draft.items.length - 1);
  } catch {
    showProblem(say("series_network"));
  }
});

elementById("discard").addEventListener("click", () => {
  showDraft(emptyDraft());
  field("title").focus();
});

elementById("save-series").addEventListener("click", async () => {
  showProblem("");
  if (!draft.title.trim()) return refuseAt(say("series_needs_title"), field("title"));
  if (!draft.items.length) return refuseAt(say("series_needs_program"), elementById("address"));
  if (draft.items.length > maxPrograms) return showProblem(say("series_too_many", { n: maxPrograms }));
  const save = elementById("save-series") as HTMLButtonElement;
  save.disabled = true;
  try {
    const body = JSON.stringify(requestBody(draft, document.documentElement.lang));
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${ROOT}/api/series`, { method: "POST", headers, body });
    const reply = await response.json();
    if (!response.ok) return refuseItem(reply.error);
    writeDraft(emptyDraft());
    location.assign(`${ROOT}/series/${reply.id}?lang=${document.documentElement.lang}`);
  } catch {
    showProblem(say("series_network"));
  } finally {
    save.disabled = false;
  }
});

function refuseAt(text: string, focusTarget: HTMLElement) {
  showProblem(text);
  focusTarget.focus();
}

/** Says why the server refuses, at the program that it is about. */
function refuseItem({ message, field: path = "" }: { message: string; field?: string }) {
  const [part, place] = path.split(".");
  if (part === "items" && Number(place) < draft.items.length) chooseItem(Number(place));
  showProblem(say("series_refused", { message }));
}

/** A saved series as the draft; asks first where that would replace another. */
async function copySeries(id: string) {
  const response = await fetch(`${ROOT}/series/${encodeURIComponent(id)}.json`).catch(() => null);
  if (!response) return showProblem(say("series_network"));
  const reply = await response.json();
  if (!response.ok) return showProblem(reply.error.message);
  const copy = draftOf(reply);
  if (isEmpty(draft)) return showDraft(copy);
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
showDraft(draft);
if (draft.items.length) chooseItem(Math.max(0, Math.min(Number(query.get("item") ?? 1) || 1, draft.items.length) - 1));
const copiedSeriesId = query.get("from");
if (copiedSeriesId) await copySeries(copiedSeriesId);
elementById("series-new").dataset.ready = "true";
