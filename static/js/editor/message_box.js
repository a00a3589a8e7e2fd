/** A message about a line of the program, as the editor and the cards show it. */

import { isShape } from "../program/repair.js";

/**
 * @typedef {{why: string, label: string, shape?: string, shapeLabel: string, run: (shape?: string) => void}} Offer
 *   shape: what the reader may change before
 * @typedef {{line: number, kind: "error" | "notice" | "output", text: string, offers?: Offer[], inline?: boolean,
 *   lineOnly?: boolean, render?: () => HTMLElement, gloss?: string}} Message
 *   render: draws what `text` stands for; inline: at the end of the line, not under it; lineOnly: the line alone is marked; gloss: the text in plain words
 */

/** @param {Message} message */
export function messageBox(message) {
  if (message.render) return message.render();
  const box = document.createElement("div");
  box.className = `message ${message.kind}`;
  box.setAttribute("role", message.kind === "error" ? "alert" : "note");
  box.append(message.text);
  if (message.gloss) {
    const gloss = document.createElement("p");
    gloss.className = "gloss";
    gloss.textContent = message.gloss;
    box.append(gloss);
  }
  for (const offer of message.offers ?? []) box.append(offerForm(offer));
  return box;
}

/** A sentence, a field for the shape and the button. @param {Offer} offer */
function offerForm({ why, label, shape, shapeLabel, run }) {
  const row = document.createElement("form");
  row.className = "offer";
  const button = document.createElement("button");
  button.textContent = label;
  row.append(why);
  const field = document.createElement("input");
  if (shape !== undefined) {
    field.value = shape;
    field.size = Math.max(shape.length, 8);
    field.setAttribute("aria-label", shapeLabel);
    row.append(field);
  }
  row.append(button);
  row.addEventListener("submit", (event) => {
    event.preventDefault();
    const isValid = shape === undefined || isShape(field.value);
    field.setAttribute("aria-invalid", String(!isValid));
    if (isValid) run(shape === undefined ? undefined : field.value);
    else field.focus();
  });
  return row;
}
