/** A step's sentences as the items of a list. */

/** @param {import("./telling.js").Sentence[]} told @returns {HTMLLIElement[]} */
export function listed(told) {
  return told.map(({ text, tone }) => {
    const item = document.createElement("li");
    item.className = tone;
    item.textContent = text;
    return item;
  });
}
