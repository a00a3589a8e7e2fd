/** The path of modules to a step, as it stands above a net. */

import { createElement } from "../browser/elements.ts";
import { operationWord } from "./net_words.ts";
import type { NetFacts } from "./net_state.ts";
import type { NetPlace } from "./net_places.ts";

/** The names of the places around step `i`, or, where there are none, the line that runs. */
export function pathElements(facts: NetFacts, i: number, path: NetPlace[]): (string | HTMLElement)[] {
  const { trace, index } = facts.opened;
  const node = trace.steps[i].visit?.node;
  const known = index.nodes.get(node ?? "");
  const leaf = known?.variable && facts.leafName(known.variable, i);
  const word = node ? leaf || operationWord(known?.name ?? "") : "";
  const named = path.filter(({ isBare, parent, kind }) => !(isBare && parent) && !(word && kind === "line"));
  const names = named.map(({ name }) => name);
  if (word && word !== names.at(-1)) names.push(word);
  const line = trace.program.source.split("\n")[trace.steps[i].line - 1] ?? "";
  if (!names.length) return [line.trim()];
  return names.flatMap((name, k) => [
    ...(k ? [" › "] : []),
    createElement(k === names.length - 1 ? "b" : "span", "", name),
  ]);
}
