/** A tensor whose name came to mean another one, from which the loss was computed. */

import type { BackwardCall, RunFacts } from "../diagnosis.ts";

/** The tensor that came to be called what this one was, where the loss was computed from that one. */
export function replacementInLoss(
  facts: RunFacts,
  uid: string,
  call: BackwardCall,
): { name: string; after: string; step: number } | null {
  const renamings = facts.bindingsOf(uid).flatMap(({ name, frame, step }) => {
    const nextMeaning = facts.meaningsOf(frame, name).find((meaning) => meaning.step > step);
    return nextMeaning ? [{ name, after: nextMeaning.uid, step: nextMeaning.step }] : [];
  });
  const replacements = facts.attributeChanges.flatMap(({ before, after, name, step }) =>
    before === uid && after ? [{ name, after, step }] : [],
  );
  return (
    [...renamings, ...replacements].find(
      ({ after, step }) =>
        after !== uid &&
        after[0] === "t" &&
        step < call.step &&
        facts.dataflow.shortestPath(after, call.roots, call.step),
    ) ?? null
  );
}
