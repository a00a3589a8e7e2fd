/** Elements of the document made from texts. */

/** @param {string} name @param {string} className @param {string} [text] */
export function element(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

/** A sentence whose names stand in backticks, as nodes. @param {string} text @returns {(string | HTMLElement)[]} */
export function codeNodes(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", "", part) : part));
}
