/** The series in the making: what its teacher has not saved yet, in the browser. */

import { readPreference, writePreference } from "../browser/preferences.ts";

const SERIES_DRAFT_STORAGE_KEY = "gradbox-series";

export interface SeriesDraftItem {
  program: string;
  /** of the program */
  title: string;
  note: string;
  step: number | null;
  /** the step at which it was added, for the stage to open with */
  seen: number | null;
}

export interface SeriesDraft {
  title: string;
  description: string;
  items: SeriesDraftItem[];
}

export const emptySeriesDraft = (): SeriesDraft => ({ title: "", description: "", items: [] });

export const isEmptySeriesDraft = ({ title, description, items }: SeriesDraft) =>
  !title && !description && !items.length;

/** What a browser kept, whatever it is by now. */
export function parseSeriesDraft(text: string | null): SeriesDraft {
  try {
    const { title, description, items } = JSON.parse(text ?? "{}");
    return {
      title: stringOrEmpty(title),
      description: stringOrEmpty(description),
      items: Array.isArray(items) ? items.filter((item) => typeof item?.program === "string").map(parseDraftItem) : [],
    };
  } catch {
    return emptySeriesDraft();
  }
}

function parseDraftItem({ program, title, note, step, seen }: Record<keyof SeriesDraftItem, unknown>): SeriesDraftItem {
  return {
    program: stringOrEmpty(program),
    title: stringOrEmpty(title),
    note: stringOrEmpty(note),
    step: indexOrNull(step),
    seen: indexOrNull(seen),
  };
}

const stringOrEmpty = (value: unknown) => (typeof value === "string" ? value : "");
const indexOrNull = (value: unknown) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;

export const readSeriesDraft = () => parseSeriesDraft(readPreference(SERIES_DRAFT_STORAGE_KEY));

export const writeSeriesDraft = (draft: SeriesDraft) =>
  writePreference(SERIES_DRAFT_STORAGE_KEY, isEmptySeriesDraft(draft) ? null : JSON.stringify(draft));

interface SavedSeries {
  title: string;
  description: string;
  items: { program: string; title: string; note: string; step: number | null; available: boolean }[];
}

/** A saved series as a draft, without the programs that the host removed. */
export function draftOfSavedSeries({ title, description, items }: SavedSeries): SeriesDraft {
  const available = items.filter((item) => item.available);
  return { title, description, items: available.map((item) => parseDraftItem({ ...item, seen: item.step })) };
}

/** The items with one moved; the same ones where it can't be. */
export function itemsWithOneMoved(items: SeriesDraftItem[], from: number, to: number): SeriesDraftItem[] {
  if (to < 0 || to >= items.length || from === to) return items;
  const others = items.filter((_, k) => k !== from);
  return [...others.slice(0, to), items[from], ...others.slice(to)];
}

/** The body of the request that saves it. */
export function seriesRequestBody({ title, description, items }: SeriesDraft, language: string) {
  return {
    title: title.trim(),
    description,
    language,
    items: items.map(({ program, note, step }) => ({ program, note, step: note.trim() ? step : null })),
  };
}

/** The id of a saved program in what somebody pasted: its address, that of its frame, or the id itself. */
export function savedProgramIdInText(text: string): string | null {
  const match = /^(?:.*\/(?:s|embed)\/)?([256789dfhjkmnprtvwx]{10,61})\/?(?:[?#.].*)?$/s.exec(text.trim());
  return match ? match[1] : null;
}
