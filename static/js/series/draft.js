/** The series in the making: what its teacher has not saved yet, in the browser. */

import { readPreference, writePreference } from "../browser/preferences.js";

const DRAFT_KEY = "gradbox-series";

/**
 * @typedef {{program: string, title: string, note: string, step: number | null, seen: number | null}} DraftItem
 *   title: of the program; seen: the step at which it was added, for the stage to open with
 * @typedef {{title: string, description: string, items: DraftItem[]}} Draft
 */

/** @returns {Draft} */
export const emptyDraft = () => ({ title: "", description: "", items: [] });

/** @param {Draft} draft */
export const isEmpty = ({ title, description, items }) => !title && !description && !items.length;

/** What a browser kept, whatever it is by now. @param {string | null} text @returns {Draft} */
export function parseDraft(text) {
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

/** @param {any} item @returns {DraftItem} */
function draftItem({ program, title, note, step, seen }) {
  return {
    program,
    title: stringOrEmpty(title),
    note: stringOrEmpty(note),
    step: indexOrNull(step),
    seen: indexOrNull(seen),
  };
}

/** @param {unknown} value */
const stringOrEmpty = (value) => (typeof value === "string" ? value : "");
/** @param {unknown} value */
const indexOrNull = (value) => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null);

export const readDraft = () => parseDraft(readPreference(DRAFT_KEY));

/** @param {Draft} draft */
export const writeDraft = (draft) => writePreference(DRAFT_KEY, isEmpty(draft) ? null : JSON.stringify(draft));

/** A saved series as a draft. @param {{title: string, description: string, items: {program: string, title: string, note: string,
 *   step: number | null, available: boolean}[]}} series @returns {Draft} without the programs that the host removed */
export function draftOf({ title, description, items }) {
  const available = items.filter((item) => item.available);
  return { title, description, items: available.map((item) => draftItem({ ...item, seen: item.step })) };
}

/** The items with one moved. @param {DraftItem[]} items @param {number} from @param {number} to @returns {DraftItem[]} the same where it can't be */
export function movedItems(items, from, to) {
  if (to < 0 || to >= items.length || from === to) return items;
  const others = items.filter((_, k) => k !== from);
  return [...others.slice(0, to), items[from], ...others.slice(to)];
}

/** The body of the request that saves it. @param {Draft} draft @param {string} language */
export function requestBody({ title, description, items }, language) {
  return {
    title: title.trim(),
    description,
    language,
    items: items.map(({ program, note, step }) => ({ program, note, step: note.trim() ? step : null })),
  };
}

/** The id of a saved program in what somebody pasted: its address, that of its frame, or the id itself. @param {string} text
 * @returns {string | null} */
export function programId(text) {
  const match = /^(?:.*\/(?:s|embed)\/)?([256789dfhjkmnprtvwx]{10,61})\/?(?:[?#.].*)?$/s.exec(text.trim());
  return match ? match[1] : null;
}
