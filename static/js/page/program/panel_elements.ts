/** What the answers in the place of the picture are made of. */

import type { Translate } from "../../words/sentences.ts";

export function textElement(tag: string, text: string) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

/** A command for one's own machine, with a button that copies it. */
export function commandElement(say: Translate, command: string) {
  const row = document.createElement("p");
  row.className = "own-command";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = say("copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = say("copied");
    } catch {
      getSelection()?.selectAllChildren(code); // then it can be copied by hand
    }
  });
  const code = textElement("code", command);
  row.append(code, button);
  return row;
}
