/** The calls of modules that a trace tells of, for tests. */

import { moduleCallsOf } from "../../static/js/trace/module_calls.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function callsOf(trace) {
  const opened = openTrace(trace);
  const { calls } = moduleCallsOf(opened);
  const facts = new Map();
  for (const step of trace.steps)
    for (const [uid, fields] of Object.entries(step.set)) facts.set(uid, { ...facts.get(uid), ...fields });
  const shapesOf = (uids) => uids.map((uid) => facts.get(uid)?.shape ?? null);
  return [...calls.values()].map((call) => ({
    type: call.type,
    path: call.path,
    within: call.within,
    turn: call.turn,
    inputs: shapesOf(call.inputs),
    outputs: shapesOf(call.outputs),
    failed: call.failed,
    nodes: call.nodes.map((uid) => facts.get(uid).name).sort(),
  }));
}
