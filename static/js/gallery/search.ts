/**
 * Which scenarios a reader means: by an operation, by words, by a symptom, by an error message that is pasted whole.
 */

/** a scenario's texts, in every language */
export interface ScenarioTexts {
  name: string;
  symptoms: string[];
  /** what the kinds of its findings are called */
  findings: string[];
  title: string[];
  question: string[];
  look_at: string[];
  source: string;
}

interface IndexedScenario {
  name: string;
  /** what each of its words is worth, by the best field that has it */
  fields: Map<string, number>;
  /** the words of each, and of what its findings are called */
  symptoms: Set<string>[];
}

export interface ScenarioIndex {
  entries: IndexedScenario[];
  /** of a word; what all have is worth little */
  rarity: Map<string, number>;
}

/** What a word is worth where it stands. */
const WORD_WEIGHT_BY_FIELD = {
  symptoms: 3,
  title: 3,
  name: 2.5,
  findings: 2,
  question: 1.5,
  source: 1.2,
  look_at: 0.6,
};
/** A symptom counts as a whole when so much of it is asked for. */
const WHOLE_SYMPTOM_SHARE = 0.55;
const WHOLE_SYMPTOM_BONUS = 2;
/** A word that only begins as a known one does, or stands within it. */
const PREFIX_WEIGHT = 0.7;
const SUBSTRING_WEIGHT = 0.4;
/** Hits that are worth less than this part of the best one are left out. */
const MIN_RELATIVE_SCORE = 0.34;
const MAX_SEARCH_HITS = 24;
/** This part of the words has to be known, or nothing is found. */
const MIN_SHARE_OF_KNOWN_WORDS = 0.6;
/** So many words are a message that is pasted: words that nobody knows are overlooked then. */
const MIN_WORDS_OF_PASTED_MESSAGE = 5;

const COMMON_WORDS = new Set(
  "a an and are as at be been but by can do does for from get got had has have how i if in into is it its me my no of on or so that the their then there this to was what when where which while who why with you your did will would should could after before".split(
    " ",
  ),
);

/** The words of a text: names with their parts, without a plural or a number at the end, and Chinese in pairs. */
function splitIntoSearchWords(text: string): string[] {
  const found = [];
  for (const [token] of text.toLowerCase().matchAll(/\.?[a-z_][a-z0-9_]*\(?|[\u4e00-\u9fff]+/g)) {
    const bareWord = token.replace(/^\.|\($/g, "");
    if (token !== bareWord && COMMON_WORDS.has(bareWord)) found.push(`${bareWord}()`); // an operation, as `.to()`
    if (/[\u4e00-\u9fff]/.test(bareWord)) {
      for (let k = 0; k + 1 < bareWord.length; k++) found.push(bareWord.slice(k, k + 2));
      if (bareWord.length === 1) found.push(bareWord);
      continue;
    }
    const parts = bareWord.split("_").filter(Boolean);
    for (const word of parts.length > 1 ? [parts.join("_"), ...parts] : parts)
      if (!COMMON_WORDS.has(word)) found.push(wordStem(word));
  }
  return found;
}

function wordStem(word: string) {
  const bare = word.replace(/(?<=[a-z]{3})\d+$/, "");
  return bare.length > 3 && /[^su]s$/.test(bare) ? bare.slice(0, -1) : bare;
}

export function buildScenarioIndex(entries: ScenarioTexts[]): ScenarioIndex {
  const indexed = entries.map((entry) => {
    const fields = new Map();
    for (const [field, weight] of Object.entries(WORD_WEIGHT_BY_FIELD))
      for (const word of splitIntoSearchWords([entry[field as keyof ScenarioTexts]].flat().join("\n")))
        fields.set(word, Math.max(weight, fields.get(word) ?? 0));
    const symptoms = [...entry.symptoms, ...entry.findings].map((text) => new Set(splitIntoSearchWords(text)));
    return { name: entry.name, fields, symptoms };
  });
  const rarity = new Map();
  for (const { fields } of indexed) for (const word of fields.keys()) rarity.set(word, (rarity.get(word) ?? 0) + 1);
  for (const [word, count] of rarity) rarity.set(word, Math.log(1 + indexed.length / count));
  return { entries: indexed, rarity };
}

/** The names of the scenarios that a query means, the best first; all of them, in their order, where nothing is
 * asked. */
export function searchScenarios(index: ScenarioIndex, query: string): string[] {
  const queryWords = [...new Set(splitIntoSearchWords(textOfLastError(query)))];
  if (!queryWords.length) return query.trim() ? [] : index.entries.map(({ name }) => name);
  const matches = queryWords.flatMap((word) => matchingKnownWords(index, word, queryWords.length));
  if (
    queryWords.length < MIN_WORDS_OF_PASTED_MESSAGE &&
    new Set(matches.map(({ of: queryWord }) => queryWord)).size < queryWords.length * MIN_SHARE_OF_KNOWN_WORDS
  )
    return [];
  const scored = index.entries.map((entry) => ({ name: entry.name, value: scenarioScore(index, entry, matches) }));
  scored.sort((a, b) => b.value - a.value);
  const minScore = (scored[0]?.value ?? 0) * MIN_RELATIVE_SCORE;
  return scored
    .filter(({ value }) => value > 0 && value >= minScore)
    .slice(0, MAX_SEARCH_HITS)
    .map(({ name }) => name);
}

/** A traceback is about what stands behind its last `…Error:`. */
export function textOfLastError(query: string) {
  const lastErrorIndex = [...query.matchAll(/\b\w+(?:Error|Exception|Warning): /g)].at(-1)?.index ?? 0;
  return query.slice(lastErrorIndex);
}

/** The known words that one of the `count` words that are asked for stands for, and what each is worth. */
function matchingKnownWords(
  { rarity }: ScenarioIndex,
  word: string,
  count: number,
): { of: string; word: string; worth: number }[] {
  const ownRarity = rarity.get(word);
  if (ownRarity !== undefined) return [{ of: word, word, worth: ownRarity }];
  if (count >= MIN_WORDS_OF_PASTED_MESSAGE || word.length < 2) return [];
  const found = [...rarity].filter(([other]) => other.includes(word));
  return found.map(([other, worth]) => ({
    of: word,
    word: other,
    worth: worth * (other.startsWith(word) ? PREFIX_WEIGHT : SUBSTRING_WEIGHT),
  }));
}

function scenarioScore(
  { rarity }: ScenarioIndex,
  { fields, symptoms }: IndexedScenario,
  matches: { of: string; word: string; worth: number }[],
) {
  /** by the word that was asked for */
  const bestByWord = new Map<string, number>();
  for (const { of: queryWord, word, worth } of matches)
    bestByWord.set(queryWord, Math.max(bestByWord.get(queryWord) ?? 0, worth * (fields.get(word) ?? 0)));
  const sum = [...bestByWord.values()].reduce((total, value) => total + value, 0);
  const matchedWords = new Set(matches.map(({ word }) => word));
  const totalRarity = (some: Iterable<string>) => [...some].reduce((total, word) => total + (rarity.get(word) ?? 0), 0);
  let bonus = 0;
  for (const symptom of symptoms) {
    const wholeWeight = totalRarity(symptom);
    const matchedWeight = totalRarity([...symptom].filter((word) => matchedWords.has(word)));
    if (wholeWeight && matchedWeight / wholeWeight >= WHOLE_SYMPTOM_SHARE)
      bonus = Math.max(bonus, (matchedWeight * matchedWeight) / wholeWeight);
  }
  return sum + WHOLE_SYMPTOM_BONUS * bonus;
}
