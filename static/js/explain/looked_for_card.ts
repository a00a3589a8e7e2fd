/**
 * What the page says of a run without an error or a warning: one line, what is not in order all the same, and behind it
 * what was looked for and what was not. The mark that nothing is wrong stands only where that is so.
 */

import { element, nodesWithCode } from "../browser/elements.ts";
import { calmIcon } from "./finding_icons.ts";
import type { LookedForText } from "../findings/text.ts";
import type { Say } from "../words/sentences.ts";

/** `checks` offer what else can be done, like the check of the gradients. */
export function lookedForElement(
  { calm, line, remarks, rows, not_looked: notLooked }: LookedForText,
  say: Say,
  checks: HTMLElement[],
) {
  const card = element("details", "looked-for");
  const summary = element("summary", "");
  const sentence = element("span", "looked-for-line");
  sentence.append(...nodesWithEmphasis([line, ...remarks].join(" ")));
  if (calm) summary.append(calmIcon());
  summary.append(sentence, element("span", "looked-for-toggle", say("finding.looked_for.toggle")));
  const list = element("ul", "looked-for-rows");
  for (const row of rows) {
    const item = element("li", "");
    item.append(...nodesWithEmphasis(row));
    list.append(item);
  }
  card.append(summary, list);
  if (notLooked) {
    const rest = element("p", "looked-for-rest");
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
    const strong = element("b", "");
    strong.append(...nodesWithCode(part));
    return [strong];
  });
}
