/** The path of modules to a step, as it stands above a net. */

import { createElement } from "../browser/elements.ts";
import { operationLabel } from "./net_words.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";

/** The names of the call sites around step `i`, or, where there are none, the line that runs. */
export function modulePathElements(facts: NetFacts, i: number, path: CallSite[]): (string | HTMLElement)[] {
  const { trace, index } = facts.opened;
  const node = trace.steps[i].visit?.node;
  const known = index.nodes.get(node ?? "");
  const leaf = known?.variable && facts.leafName(known.variable, i);
  const word = node ? leaf || operationLabel(known?.name ?? "") : "";
  const named = path.filter(
    ({ isTransparent, parent, kind }) => !(isTransparent && parent) && !(word && kind === "line"),
  );
  const names = named.map(({ name }) => name);
  if (word && word !== names.at(-1)) names.push(word);
  const line = trace.program.source.split("\n")[trace.steps[i].line - 1] ?? "";
  if (!names.length) return [line.trim()];
  return names.flatMap((name, k) => [
    ...(k ? [" › "] : []),
    createElement(k === names.length - 1 ? "b" : "span", "", name),
  ]);
}
