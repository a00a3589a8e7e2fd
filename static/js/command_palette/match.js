/** Finding by a few letters: which entries a query matches, and how well. */

/**
 * @typedef {object} Entry what the palette lists
 * @property {string} id
 * @property {string} label in the page's language
 * @property {string[]} [names] what else it is found by, like its English label
 * @property {string} [note] one sentence
 * @property {string} [keys] as they are shown
 * @property {string} [thumbnail] its address, without the theme
 * @property {() => unknown} run
 */
/** @typedef {{name: string, entries: Entry[]}} Group */

/** What the beginning of a word is worth, the inside of one, and letters that stand in order. */
const WORD_START_SCORE = 100;
const INSIDE_WORD_SCORE = 60;
const IN_ORDER_SCORE = 30;
/** A match that is not seen in the label counts less: of another name, and of the sentence. */
const NAME_WEIGHT = 0.9;
const NOTE_WEIGHT = 0.3;

/** How well a text matches a query, each word of it; 0: not at all. @param {string} query @param {string} text @returns {number} */
export function score(query, text) {
  const whole = text.toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return 1;
  let sum = 0;
  for (const word of words) {
    const value = wordScore(word, whole);
    if (!value) return 0;
    sum += value;
  }
  const isWhole = whole === words.join(" ");
  return sum / words.length - Math.min(whole.length, 80) / 20 + (isWhole ? WORD_START_SCORE : 0);
}

/** @param {string} word @param {string} text both in small letters */
function wordScore(word, text) {
  let inside = -1;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return WORD_START_SCORE - Math.min(at, 40) / 4;
    if (inside < 0) inside = at;
  }
  if (inside >= 0) return INSIDE_WORD_SCORE - Math.min(inside, 40) / 4;
  return scoreInOrder(word, text);
}

/** Letters that stand in this order, the first of them at the beginning of a word. @param {string} word @param {string} text */
function scoreInOrder(word, text) {
  let best = 0;
  for (let start = text.indexOf(word[0]); start >= 0; start = text.indexOf(word[0], start + 1)) {
    if (start > 0 && /[\p{L}\p{N}]/u.test(text[start - 1])) continue;
    let at = start;
    for (const letter of word.slice(1)) {
      at = text.indexOf(letter, at + 1);
      if (at < 0) return best;
    }
    const gaps = at - start + 1 - word.length;
    if (gaps <= word.length * 2) best = Math.max(best, IN_ORDER_SCORE - gaps);
  }
  return best;
}

/** @param {string} query @param {Entry} entry */
export function entryScore(query, { label, names = [], note = "" }) {
  const inNote = note.toLowerCase().includes(query.trim().toLowerCase()) ? WORD_START_SCORE * NOTE_WEIGHT : 0;
  return Math.max(score(query, label), ...names.map((name) => score(query, name) * NAME_WEIGHT), inNote);
}

/** The groups that a query finds, the one with the best hit first, and in each the best hits first; all in their order where nothing is asked.
 * @param {string} query @param {Group[]} groups @returns {Group[]} */
export function search(query, groups) {
  if (!query.trim()) return groups.filter(({ entries }) => entries.length);
  const found = groups.map(({ name, entries }) => {
    const hits = entries.map((entry) => ({ entry, value: entryScore(query, entry) })).filter(({ value }) => value > 0);
    hits.sort((a, b) => b.value - a.value);
    return { name, entries: hits.map(({ entry }) => entry), best: hits[0]?.value ?? 0 };
  });
  return found
    .filter(({ best }) => best)
    .sort((a, b) => b.best - a.best)
    .map(({ name, entries }) => ({ name, entries }));
}
