/** The parameters of places of a net: those of their modules, and those that their nodes read. */

import { addToList } from "../../trace/multimap.ts";
import type { NetFacts } from "../net_state.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { NetPlace } from "../net_places.ts";

interface Parameters {
  /** by module, its own and those of the modules in it */
  byModule: Map<string, string[]>;
  all: Set<string>;
}

const known = new WeakMap<OpenTrace, Parameters>();

function parametersOf(opened: OpenTrace): Parameters {
  let found = known.get(opened);
  if (!found) {
    found = readParameters(opened);
    known.set(opened, found);
  }
  return found;
}

function readParameters(opened: OpenTrace): Parameters {
  const all = new Set<string>();
  for (const { set } of opened.trace.steps)
    for (const uid in set) {
      const { type } = set[uid];
      if (type === "Parameter" || type?.endsWith(".Parameter")) all.add(uid);
    }
  const byModule = new Map<string, string[]>();
  for (const uid of all) {
    const seen = new Set<string>();
    for (let module = opened.index.moduleOfTensor.get(uid) ?? null; module && !seen.has(module); ) {
      seen.add(module);
      addToList(byModule, module, uid);
      module = opened.index.modules.get(module)?.within ?? null;
    }
  }
  return { byModule, all };
}

/** The uids of the parameters, each once. */
export function parameterUidsOf(facts: NetFacts, places: NetPlace[]): string[] {
  const { byModule, all } = parametersOf(facts.opened);
  const found = new Set<string>();
  for (const place of places) {
    for (const { uid } of place.units) for (const parameter of byModule.get(uid ?? "") ?? []) found.add(parameter);
    for (const node of place.units.length ? facts.nodes(place.units[0]) : [])
      for (const edge of facts.opened.index.nodes.get(node)?.next ?? []) {
        const leaf = edge && facts.opened.index.nodes.get(edge[0])?.variable;
        if (leaf && all.has(leaf)) found.add(leaf);
      }
  }
  return [...found];
}
