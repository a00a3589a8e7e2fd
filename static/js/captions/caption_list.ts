/** Builds the list items for a step's sentences. */

import type { Sentence } from "./captions.ts";

export function captionItems(sentences: Sentence[]): HTMLLIElement[] {
  return sentences.map(({ text, tone }) => {
    const item = document.createElement("li");
    item.className = tone;
    item.textContent = text;
    return item;
  });
}
