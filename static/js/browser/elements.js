/** Elements of the document made from texts. */

/** @param {string} name @param {string} className @param {string} [text] */
export function element(name, className, text = "") {
  const created = document.createElement(name);
  if (className) created.className = className;
  if (text) created.textContent = text;
  return created;
}

/** A sentence whose names stand in backticks, as nodes. @param {string} text @returns {(string | HTMLElement)[]} */
export function codeNodes(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", "", part) : part));
}

/** A paragraph whose names stand in backticks. @param {string} className @param {string} text */
export function codeParagraph(className, text) {
  const paragraph = element("p", className);
  paragraph.append(...codeNodes(text));
  return paragraph;
}

/** @param {string} className @param {string} text @param {() => void} [onClick] none where the list around it listens
 * @param {{key?: string, label?: string}} [more] key: shown behind the text; label: what it is called where its text is a sign
 * @returns {HTMLButtonElement} */
export function button(className, text, onClick, { key = "", label = "" } = {}) {
  const created = /** @type {HTMLButtonElement} */ (element("button", className, text));
  created.type = "button";
  if (key) created.append(" ", element("kbd", "", key));
  if (label) {
    created.title = label;
    created.setAttribute("aria-label", label);
  }
  if (onClick) created.addEventListener("click", onClick);
  return created;
}
