/** Whether a run has a net to show by its modules, and whether that shows more of it than its whole graph does. */

import type { OpenTrace } from "./state.ts";

/** As many nodes of a graph are read one by one. */
const MAX_READ_NODES = 25;

/** Whether modules were called. */
export function hasNet({ trace }: OpenTrace): boolean {
  return trace.steps.some(({ log }) => log?.some((entry) => entry.kind === "event" && entry.event === "module_called"));
}

/** Whether the graph of a net has more nodes than are read one by one. */
export function hasLargeNet(opened: OpenTrace): boolean {
  let count = 0;
  for (const { set, log } of opened.trace.steps) {
    for (const uid in set) if (set[uid].kind === "node" && !set[uid].variable) count += 1;
    if (log?.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped")) break; // one round of it
  }
  return count > MAX_READ_NODES && hasNet(opened);
}
