/** `deepcopy` met a tensor that was computed from others: where it was made, and through what it was reached. */

import { declareErrorDiagnosis, madeBefore, type Fix, type RunFacts } from "../diagnosis.ts";
import { findMentionedEntities } from "../statements/mentioned_entities.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "deepcopy_nonleaf",
    message: /Only Tensors created explicitly by the user.*support the deepcopy/,
    say: (facts, step) => {
      const mentions = findMentionedEntities(facts, step).filter(({ uid }) => "to".includes(uid[0]));
      const mentioned = mentions.find(({ uid }) => uid[0] === "t" && isOperationResult(facts, uid, step));
      const roots = mentions.map(({ uid }) => uid);
      const inner = mentioned ? null : firstOperationResultWithin(facts, roots, step);
      const temporaries = facts.opsAt(step).flatMap(({ outputs }) => outputs);
      const temporary = temporaries.findLast((output) => isOperationResult(facts, output, step));
      const uid = mentioned?.uid ?? inner ?? temporary ?? null;
      const x = facts.nameFact(uid, step);
      const birthStep = facts.birthStep(uid);
      const object = mentions.find(({ uid: objectUid }) => objectUid[0] === "o");
      const y = object ? { code: object.text } : x;
      return {
        variant: inner ? "inside" : undefined,
        cause: step,
        chain: [madeBefore(facts, uid, step), [step, "checked", [uid]]],
        facts: {
          x,
          y,
          op: facts.nodeOperationName(facts.tensor(uid, step)?.grad_fn),
          made_line: facts.lineOf(Math.max(0, birthStep)),
        },
        fixes: mentioned
          ? [["clone_for_deepcopy", { name: mentioned.text }]]
          : [
              ["detach_stored", { name: facts.nameText(uid, birthStep) ?? "" }, Math.max(0, birthStep)],
              ...(inner ? [["clear_before", { name: facts.nameText(inner, step) ?? "" }] satisfies Fix] : []),
            ],
      };
    },
  }),
];

function isOperationResult(facts: RunFacts, uid: string, step: number) {
  const tensor = facts.tensor(uid, step);
  return Boolean(tensor?.requires_grad && tensor.leaf === false);
}

/** The first computed tensor that an object holds, through any depth. */
function firstOperationResultWithin(facts: RunFacts, roots: string[], step: number) {
  const state = facts.stateAt(step);
  const seen = new Set(roots);
  for (const uid of seen) {
    if (uid[0] === "t" && isOperationResult(facts, uid, step)) return uid;
    const object = state.get(uid);
    if (object?.kind !== "object") continue;
    for (const value of [...(object.items ?? []).flat(), ...Object.values(object.attrs ?? {})])
      if (value && typeof value === "object" && "ref" in value) seen.add(value.ref);
  }
  return null;
}
