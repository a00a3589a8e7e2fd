/** The series in the making: what its teacher has not saved yet, in the browser. */

import { readPreference, writePreference } from "../browser/preferences.ts";

const DRAFT_KEY = "gradbox-series";

export interface DraftItem {
  program: string;
  /** of the program */
  title: string;
  note: string;
  step: number | null;
  /** the step at which it was added, for the stage to open with */
  seen: number | null;
}

export interface Draft {
  title: string;
  description: string;
  items: DraftItem[];
}

export const emptyDraft = (): Draft => ({ title: "", description: "", items: [] });

export const isEmpty = ({ title, description, items }: Draft) => !title && !description && !items.length;

/** What a browser kept, whatever it is by now. */
export function parseDraft(text: string | null): Draft {
  try {
    const { title, description, items } = JSON.parse(text ?? "{}");
    return {
      title: stringOrEmpty(title),
      description: stringOrEmpty(description),
      items: Array.isArray(items) ? items.filter((item) => typeof item?.program === "string").map(draftItem) : [],
    };
  } catch {
    return emptyDraft();
  }
}

function draftItem({ program, title, note, step, seen }: Record<keyof DraftItem, unknown>): DraftItem {
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

export const readDraft = () => parseDraft(readPreference(DRAFT_KEY));

export const writeDraft = (draft: Draft) => writePreference(DRAFT_KEY, isEmpty(draft) ? null : JSON.stringify(draft));

interface StoredSeries {
  title: string;
  description: string;
  items: { program: string; title: string; note: string; step: number | null; available: boolean }[];
}

/** A saved series as a draft. @returns without the programs that the host removed */
export function draftOf({ title, description, items }: StoredSeries): Draft {
  const available = items.filter((item) => item.available);
  return { title, description, items: available.map((item) => draftItem({ ...item, seen: item.step })) };
}

/** The items with one moved. @returns the same where it can't be */
export function movedItems(items: DraftItem[], from: number, to: number): DraftItem[] {
  if (to < 0 || to >= items.length || from === to) return items;
  const others = items.filter((_, k) => k !== from);
  return [...others.slice(0, to), items[from], ...others.slice(to)];
}

/** The body of the request that saves it. */
export function requestBody({ title, description, items }: Draft, language: string) {
  return {
    title: title.trim(),
    description,
    language,
    items: items.map(({ program, note, step }) => ({ program, note, step: note.trim() ? step : null })),
  };
}

/** The id of a saved program in what somebody pasted: its address, that of its frame, or the id itself. */
export function programId(text: string): string | null {
  const match = /^(?:.*\/(?:s|embed)\/)?([256789dfhjkmnprtvwx]{10,61})\/?(?:[?#.].*)?$/s.exec(text.trim());
  return match ? match[1] : null;
}
