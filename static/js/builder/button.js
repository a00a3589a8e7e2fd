/** A button of the builder, with its key. */

import { element } from "../elements.js";

/** @param {string} className @param {string} text @param {string} key @param {() => void} onClick @param {string} [label] */
export function button(className, text, key, onClick, label) {
  const made = /** @type {HTMLButtonElement} */ (element("button", className, text));
  made.type = "button";
  if (key) made.append(" ", element("kbd", "", key));
  if (label) made.setAttribute("aria-label", label);
  if (label) made.title = label;
  made.addEventListener("click", onClick);
  return made;
}
