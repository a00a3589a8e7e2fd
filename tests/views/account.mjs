/** What the account of a run says of kept memory, beside the state after each step, for tests. */

import { savedBytesAt, savedMemoryByNode } from "../../static/js/findings/account/saved_memory.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { moduleTable } from "../../static/js/nets/module_table.ts";
import { openTrace } from "../../static/js/trace/state.ts";

/** Bytes by step: of living slots, of the account, and of what the net and the loom show by place. */
export default function keptBytes(trace) {
  const opened = openTrace(trace);
  const facts = new NetFacts(opened, netOf(opened));
  const all = [...savedMemoryByNode(opened).values()].flat();
  const placed = [...facts.savedBytesByNode].flatMap(([node, kept]) => (placeOf(facts.net, node) ? kept : []));
  const parameters = storagesOfParameters(trace);
  const steps = trace.steps.map((_, i) => i);
  return {
    state: steps.map((i) => bytesOfSlots(opened.state(i), parameters)),
    account: steps.map((i) => savedBytesAt(all, i).holds),
    places: steps.map((i) => savedBytesAt(placed, i).holds),
    modules: moduleTable(opened).rows.map(({ path, kept }) => [path, kept]),
    total: moduleTable(opened).totals.kept,
  };
}

function placeOf(net, node) {
  let invocation = net.invocationByNode.get(node) ?? null;
  while (invocation && !net.callSiteOfInvocation.has(invocation)) invocation = invocation.parent;
  return invocation;
}

function storagesOfParameters({ steps }) {
  const fields = steps.flatMap(({ set }) => Object.values(set));
  return new Set(fields.flatMap(({ type, storage }) => (type?.endsWith("Parameter") && storage ? [storage] : [])));
}

/** Each storage once that a slot keeps, but those of parameters. */
function bytesOfSlots(entities, parameters) {
  const kept = new Set();
  for (const entity of entities.values())
    if (entity.kind === "node" && !entity.released)
      for (const { storage, state } of Object.values(entity.saved ?? {}))
        if (storage && state !== "freed") kept.add(outerStorage(entities, storage));
  const sizes = [...kept].map((uid) => (parameters.has(uid) ? 0 : (entities.get(uid)?.nbytes ?? 0)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function outerStorage(entities, uid) {
  const within = entities.get(uid)?.within;
  return within ? outerStorage(entities, within.storage) : uid;
}
