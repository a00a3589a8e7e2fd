/** A tensor whose name came to mean another one, from which the loss was computed. */

import { dataflowOf } from "../facts/dataflow.ts";
import { attributeChanges } from "../facts/object_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { BackwardCall } from "../facts/scan.ts";

/** The tensor that came to be called what this one was, where the loss was computed from that one. */
export function replacementInLoss(
  facts: RunFacts,
  uid: string,
  call: BackwardCall,
): { name: string; after: string; step: number } | null {
  const renamings = (facts.scan.bindingsByUid.get(uid) ?? []).flatMap(({ name, frame, step }) => {
    const nextMeaning = (facts.scan.meaningsByName.get(`${frame}/${name}`) ?? []).find(
      (meaning) => meaning.step > step,
    );
    return nextMeaning ? [{ name, after: nextMeaning.uid, step: nextMeaning.step }] : [];
  });
  const replacements = attributeChanges(facts).flatMap(({ before, after, name, step }) =>
    before === uid && after ? [{ name, after, step }] : [],
  );
  return (
    [...renamings, ...replacements].find(
      ({ after, step }) =>
        after !== uid &&
        after[0] === "t" &&
        step < call.step &&
        dataflowOf(facts).shortestPath(after, call.roots, call.step),
    ) ?? null
  );
}
