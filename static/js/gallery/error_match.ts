/** Which programs end with an error that somebody pasted. Their own symptoms say it, word by word in their order; the
 * numbers, names and shapes in a message may be others. */

import { searchScenarios, textOfLastError, type ScenarioIndex, type ScenarioTexts } from "./search.ts";

/** exact: those that end so, the best first. similar: others that share words with it. */
interface ErrorMatches {
  exact: string[];
  similar: string[];
}

/** So much of a symptom has to stand in the message, in its order. */
const MIN_SHARE_OF_SYMPTOM = 0.8;
/** Symptoms of fewer words say too little of a message. */
const MIN_WORDS_OF_SYMPTOM = 4;
/** And so much of what the message says first has to stand in the symptom. */
const MIN_SHARE_OF_MESSAGE = 0.6;
const MAX_SIMILAR = 3;

/** What begins as errors and warnings do, or is a sentence of torch's without its type. */
const TYPE_OF_ERROR = /^\s*(?:[\w.]*\.)?\w*(?:Error|Exception|Warning):\s*/;

export function looksLikeError(text: string) {
  return /\b\w+(?:Error|Exception|Warning)\b(?::|\s*$)/m.test(text) || /Traceback \(most recent/.test(text);
}

/** The words of a message, without numbers, shapes and what stands in quotes. */
function wordsOfMessage(text: string): string[] {
  const plain = text
    .replace(TYPE_OF_ERROR, "")
    .replace(/\[[^\][]*\]|\([\d, x×]*\)|'[^']*'|"[^"]*"|`[^`]*`/g, " ")
    .toLowerCase();
  return [...plain.matchAll(/[a-z_][a-z0-9_]+|[\u4e00-\u9fff]/g)].map(([word]) => word);
}

/** How many words of one list stand in the other, in the same order. */
function commonInOrder(a: string[], b: string[]) {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (let k = 0; k < b.length; k++) next.push(word === b[k] ? row[k] + 1 : Math.max(row[k + 1], next[k]));
    row = next;
  }
  return row[b.length];
}

/** What a message says before its hints, and before the place in torch's own source. */
const firstSentence = (text: string) =>
  text.split(/\.\s|\bHint:|\bSpecify\b|\bPlease\b|\bIf\b|\n\n|\sat \/|\nCUDA kernel errors/)[0];

/** How well a symptom is the message; 0 where it is another one. */
function symptomScore(message: string[], opening: string[], symptom: string) {
  const words = wordsOfMessage(symptom);
  if (words.length < MIN_WORDS_OF_SYMPTOM) return 0;
  const shared = commonInOrder(words, message);
  if (shared < words.length * MIN_SHARE_OF_SYMPTOM) return 0;
  const sharedOpening = commonInOrder(words, opening);
  return sharedOpening >= Math.min(opening.length, words.length) * MIN_SHARE_OF_MESSAGE &&
    (sharedOpening >= opening.length * 0.35 || sharedOpening >= MIN_WORDS_OF_SYMPTOM * 2)
    ? shared / words.length + sharedOpening / Math.max(opening.length, 1)
    : 0;
}

/** `text` is a message or a whole traceback. */
export function matchError(entries: ScenarioTexts[], index: ScenarioIndex, text: string): ErrorMatches {
  const last = textOfLastError(text).slice(0, 2000);
  const message = wordsOfMessage(last);
  const opening = wordsOfMessage(firstSentence(last.replace(TYPE_OF_ERROR, "")));
  const ordered = searchScenarios(index, last);
  const scored = entries
    .map(({ name, symptoms }) => ({
      name,
      score: Math.max(0, ...symptoms.map((symptom) => symptomScore(message, opening, symptom))),
      at: ordered.indexOf(name),
    }))
    .filter(({ score }) => score > 0);
  scored.sort((a, b) => b.score - a.score || (a.at + 1 || 99) - (b.at + 1 || 99));
  const exact = scored.map(({ name }) => name);
  return { exact, similar: ordered.filter((name) => !exact.includes(name)).slice(0, MAX_SIMILAR) };
}
