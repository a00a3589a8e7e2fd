/** Finding by a few letters: which entries a query matches, and how well. */

/** what the palette lists */
export interface PaletteEntry {
  id: string;
  /** in the page's language */
  label: string;
  /** what else it is found by, like its English label */
  names?: string[];
  /** one sentence */
  note?: string;
  /** as they are shown */
  keys?: string;
  /** its address, without the theme */
  thumbnail?: string;
  run: () => unknown;
}

export interface PaletteEntryGroup {
  name: string;
  entries: PaletteEntry[];
}

/** What the beginning of a word is worth, the inside of one, and letters that stand in order. */
const WORD_START_SCORE = 100;
const INSIDE_WORD_SCORE = 60;
const LETTERS_IN_ORDER_SCORE = 30;
/** A match that is not seen in the label counts less: of another name, and of the sentence. */
const OTHER_NAME_WEIGHT = 0.9;
const NOTE_MATCH_WEIGHT = 0.3;

/** How well a text matches a query, each word of it; 0: not at all. */
export function queryMatchScore(query: string, text: string): number {
  const lowerText = text.toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return 1;
  let total = 0;
  for (const word of words) {
    const value = wordMatchScore(word, lowerText);
    if (!value) return 0;
    total += value;
  }
  const isWhole = lowerText === words.join(" ");
  return total / words.length - Math.min(lowerText.length, 80) / 20 + (isWhole ? WORD_START_SCORE : 0);
}

/** Both texts are in small letters. */
function wordMatchScore(word: string, text: string) {
  let firstInside = -1;
  for (let position = text.indexOf(word); position >= 0; position = text.indexOf(word, position + 1)) {
    if (position === 0 || !/[\p{L}\p{N}]/u.test(text[position - 1]))
      return WORD_START_SCORE - Math.min(position, 40) / 4;
    if (firstInside < 0) firstInside = position;
  }
  if (firstInside >= 0) return INSIDE_WORD_SCORE - Math.min(firstInside, 40) / 4;
  return lettersInOrderScore(word, text);
}

/** Letters that stand in this order, the first of them at the beginning of a word. */
function lettersInOrderScore(word: string, text: string) {
  let bestScore = 0;
  for (let start = text.indexOf(word[0]); start >= 0; start = text.indexOf(word[0], start + 1)) {
    if (start > 0 && /[\p{L}\p{N}]/u.test(text[start - 1])) continue;
    let position = start;
    for (const letter of word.slice(1)) {
      position = text.indexOf(letter, position + 1);
      if (position < 0) return bestScore;
    }
    const gaps = position - start + 1 - word.length;
    if (gaps <= word.length * 2) bestScore = Math.max(bestScore, LETTERS_IN_ORDER_SCORE - gaps);
  }
  return bestScore;
}

function paletteEntryScore(query: string, { label, names = [], note = "" }: PaletteEntry) {
  const noteScore = note.toLowerCase().includes(query.trim().toLowerCase()) ? WORD_START_SCORE * NOTE_MATCH_WEIGHT : 0;
  return Math.max(
    queryMatchScore(query, label),
    ...names.map((name) => queryMatchScore(query, name) * OTHER_NAME_WEIGHT),
    noteScore,
  );
}

/** The groups that a query finds, the one with the best hit first, and in each the best hits first; all in their
 * order where nothing is asked. */
export function searchPaletteEntries(query: string, groups: PaletteEntryGroup[]): PaletteEntryGroup[] {
  if (!query.trim()) return groups.filter(({ entries }) => entries.length);
  const matchingGroups = groups.map(({ name, entries }) => {
    const hits = entries
      .map((entry) => ({ entry, value: paletteEntryScore(query, entry) }))
      .filter(({ value }) => value > 0);
    hits.sort((a, b) => b.value - a.value);
    return { name, entries: hits.map(({ entry }) => entry), best: hits[0]?.value ?? 0 };
  });
  return matchingGroups
    .filter(({ best }) => best)
    .sort((a, b) => b.best - a.best)
    .map(({ name, entries }) => ({ name, entries }));
}
