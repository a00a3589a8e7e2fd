/**
 * What the page says of a run without an error or a warning: one line, what is not in order all the same, and behind it
 * what was looked for and what was not. The mark that nothing is wrong stands only where that is so.
 */

import { createElement, nodesWithCode } from "../browser/elements.ts";
import { noFindingsIcon } from "./finding_icons.ts";
import type { LookedForText } from "../findings/finding_text.ts";
import type { Translate } from "../words/sentences.ts";

/** `checks` offer what else can be done, like the check of the gradients. */
export function lookedForElement(
  { calm, line, remarks, rows, not_looked: notLooked }: LookedForText,
  say: Translate,
  checks: HTMLElement[],
) {
  const card = createElement("details", "looked-for");
  const summary = createElement("summary", "");
  const sentence = createElement("span", "looked-for-line");
  sentence.append(...nodesWithEmphasis([line, ...remarks].join(" ")));
  if (calm) summary.append(noFindingsIcon());
  summary.append(sentence, createElement("span", "looked-for-toggle", say("finding.looked_for.toggle")));
  const list = createElement("ul", "looked-for-rows");
  for (const row of rows) {
    const item = createElement("li", "");
    item.append(...nodesWithEmphasis(row));
    list.append(item);
  }
  card.append(summary, list);
  if (notLooked) {
    const rest = createElement("p", "looked-for-rest");
    rest.append(...nodesWithEmphasis(notLooked));
    card.append(rest);
  }
  card.append(...checks);
  return card;
}

/** A text in which `**words**` are strong and names stand in backticks. */
function nodesWithEmphasis(text: string): (string | HTMLElement)[] {
  return text.split("**").flatMap((part, k): (string | HTMLElement)[] => {
    if (k % 2 === 0) return nodesWithCode(part);
    const strong = createElement("b", "");
    strong.append(...nodesWithCode(part));
    return [strong];
  });
}
