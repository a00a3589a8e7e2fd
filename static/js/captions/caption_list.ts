/** Builds the list items for a step's sentences. */

import type { CaptionSentence } from "./captions.ts";
import type { SentencePart } from "./sentence.ts";

export function captionListItems(sentences: CaptionSentence[]): HTMLLIElement[] {
  return sentences.map(({ text, parts, tone, key }) => {
    const item = document.createElement("li");
    item.className = tone;
    if (key) item.dataset.sentence = key;
    if (parts) item.append(...parts.map(partNode));
    else item.textContent = text;
    return item;
  });
}

/** A part of a sentence: a name of the program as code, what changed underlined. */
function partNode({ kind, text }: SentencePart): Node {
  if (kind === "plain") return document.createTextNode(text);
  const element = document.createElement(kind === "changed" ? "em" : "code");
  element.className = kind;
  element.textContent = text;
  return element;
}
