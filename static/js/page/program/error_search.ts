/** Looks an error message up among the gallery's programs, for the box that opens from the first screen. */

import { looksLikeError, matchError } from "../../gallery/error_match.ts";
import { buildScenarioIndex, searchScenarios, type ScenarioTexts } from "../../gallery/search.ts";
import { ROOT } from "../../requests/root.ts";
import type { Say } from "../../words/sentences.ts";

const MAX_SHOWN_HITS = 4;
const SEARCH_AFTER_MS = 120;

export type Entry = ScenarioTexts;

let entries: Promise<Entry[]> | null = null;
const startedFields = new WeakSet<HTMLElement>();

/** Fetched once; again after it failed. */
export function loadEntries(): Promise<Entry[]> {
  entries ??= fetch(`${ROOT}/gallery/search.json`)
    .then(async (response) => {
      if (!response.ok) throw new Error(String(response.status));
      return (await response.json()).entries as Entry[];
    })
    .catch((error) => {
      entries = null;
      throw error;
    });
  return entries;
}

export function startErrorSearch(
  { field, status, hits }: { field: HTMLTextAreaElement; status: HTMLElement; hits: HTMLElement },
  say: Say,
) {
  void loadEntries().catch(() => {}); // the search says it when it matters
  if (startedFields.has(field)) return;
  startedFields.add(field);
  let timer = 0;
  let searchId = 0;

  async function search() {
    const id = ++searchId;
    const query = field.value.trim();
    if (!query) return show(say("error_search_hint"), []);
    try {
      const all = await loadEntries();
      if (id !== searchId) return;
      const index = buildScenarioIndex(all);
      const { exact, similar } = matchError(all, index, query);
      const isUnknownError = looksLikeError(query) && !exact.length;
      const names = (exact.length ? exact : isUnknownError ? similar : searchScenarios(index, query)).slice(
        0,
        MAX_SHOWN_HITS,
      );
      const found = names.flatMap((name) => all.find((entry) => entry.name === name) ?? []);
      const sentence = isUnknownError
        ? say("error_search_none")
        : found.length
          ? say("error_search_found", { n: found.length })
          : say("error_search_none");
      show(sentence, found);
    } catch {
      if (id === searchId) show(say("error_search_failed"), []);
    }
  }

  function show(sentence: string, found: Entry[]) {
    status.textContent = sentence;
    hits.replaceChildren(...found.map(hitElement));
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(search, SEARCH_AFTER_MS);
  });
  if (field.value.trim()) void search();
}

/** A link to a program, with its question. */
export function hitElement({ name, title, question }: Entry) {
  const { lang } = document.documentElement;
  const inLanguage = (texts: string[]) => texts[lang === "zh" ? texts.length - 1 : 0];
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${ROOT}/?s=${encodeURIComponent(name)}&lang=${lang}`;
  link.textContent = inLanguage(title);
  const why = document.createElement("span");
  why.textContent = inLanguage(question);
  item.append(link, why);
  return item;
}
