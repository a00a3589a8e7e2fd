/** Builds the list items for a step's sentences. */

/** @param {import("./captions.js").Sentence[]} sentences @returns {HTMLLIElement[]} */
export function captionItems(sentences) {
  return sentences.map(({ text, tone }) => {
    const item = document.createElement("li");
    item.className = tone;
    item.textContent = text;
    return item;
  });
}
