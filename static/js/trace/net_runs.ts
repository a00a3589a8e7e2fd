/** Whether a run has a net to show by its modules, and whether that shows more of it than its whole graph does. */

import type { OpenTrace } from "./state.ts";
import type { Delta, Step } from "./wire.ts";

/** As many nodes of a graph are read one by one. */
const MAX_READ_NODES = 25;

const known = new WeakMap<OpenTrace, boolean>();

/** Whether modules were called, or functions of the program that made nodes. */
export function hasNet(opened: OpenTrace): boolean {
  let has = known.get(opened);
  if (has === undefined) {
    has = callsModules(opened) || opened.trace.steps.some(({ depth, set }) => depth > 0 && hasNode(set));
    known.set(opened, has);
  }
  return has;
}

export function callsModules({ trace }: OpenTrace): boolean {
  return trace.steps.some(({ log }) => log?.some((entry) => entry.kind === "event" && entry.event === "module_called"));
}

const withParameters = new WeakMap<OpenTrace, boolean>();

/** Whether there is a module with parameters, or an optimizer. */
export function hasParameters(opened: OpenTrace): boolean {
  let has = withParameters.get(opened);
  if (has === undefined) {
    has = opened.trace.steps.some(({ set }) => Object.values(set ?? {}).some(isOfTraining));
    withParameters.set(opened, has);
  }
  return has;
}

function isOfTraining({ kind, type, attrs }: Delta) {
  if (kind === "tensor") return type === "Parameter" || Boolean(type?.endsWith(".Parameter"));
  return kind === "object" && Boolean(attrs && "param_groups" in attrs);
}

function hasNode(set: Step["set"]) {
  for (const uid in set) if (set[uid].kind === "node" && !set[uid].variable) return true;
  return false;
}

/** Whether the graph of a net has more nodes than are read one by one. */
export function hasLargeNet(opened: OpenTrace): boolean {
  let count = 0;
  for (const { set, log } of opened.trace.steps) {
    for (const uid in set) if (set[uid].kind === "node" && !set[uid].variable) count += 1;
    if (log?.some((entry) => entry.kind === "event" && entry.event === "optimizer_stepped")) break; // one round of it
  }
  return count > MAX_READ_NODES && callsModules(opened);
}
