/** The call of a custom function: its name, and its `forward` with what that got. */

import type { RunFacts } from "./run_facts.ts";

/** The call of `forward` that made a node: its frame, its steps, and the tensors that it got. */
export function forwardCall(facts: RunFacts, nodeUid: string, birth: number) {
  for (const [uid, fields] of Object.entries(facts.steps[birth]?.set ?? {})) {
    const vars = Object.values(fields.vars ?? {});
    const refs = vars.flatMap((value) => (value && typeof value === "object" && "ref" in value ? [value.ref] : []));
    if (fields.kind !== "frame" || !refs.includes(nodeUid)) continue;
    const end = facts.index.lifetimes.get(uid)?.death ?? birth;
    return {
      frame: uid,
      start: birth,
      end: Math.min(end + 1, facts.steps.length - 1),
      inputs: refs.filter((ref) => ref[0] === "t"),
    };
  }
  return null;
}

export function customFunctionName(facts: RunFacts, nodeUid: string) {
  return (facts.index.nodes.get(nodeUid)?.name ?? "").replace(/Backward$/, "");
}
