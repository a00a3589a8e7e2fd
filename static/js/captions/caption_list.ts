/** Builds the list items for a step's sentences. */

import type { CaptionSentence } from "./captions.ts";

export function captionListItems(sentences: CaptionSentence[]): HTMLLIElement[] {
  return sentences.map(({ text, tone }) => {
    const item = document.createElement("li");
    item.className = tone;
    item.textContent = text;
    return item;
  });
}
