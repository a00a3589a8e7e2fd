/** A message about a line of the program, as the editor and the cards show it. */

import { isShapeText } from "../program/repair.ts";
import type { RepairOffer, LineMessage } from "../program/line_message.ts";

export function lineMessageElement(message: LineMessage) {
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
  for (const offer of message.offers ?? []) box.append(repairOfferForm(offer));
  return box;
}

/** A sentence, a field for the shape and the button. */
function repairOfferForm({ why, label, shape, shapeLabel, run }: RepairOffer) {
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
    const isValid = shape === undefined || isShapeText(field.value);
    field.setAttribute("aria-invalid", String(!isValid));
    if (isValid) run(shape === undefined ? undefined : field.value);
    else field.focus();
  });
  return row;
}
