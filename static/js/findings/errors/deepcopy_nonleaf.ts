/** `deepcopy` met a tensor that was computed from others: where it was made, and through what it was reached. */

import { findMentionedEntities } from "../statements/mentioned_entities.ts";
import { fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "deepcopy_nonleaf", severity: "error", diagnose: diagnoseDeepcopyOfNonLeaf, onError: true },
];

const DEEPCOPY_ERROR = /Only Tensors created explicitly by the user.*support the deepcopy/;

function diagnoseDeepcopyOfNonLeaf(facts: RunFacts): Diagnosis[] {
  if (!DEEPCOPY_ERROR.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const mentions = findMentionedEntities(facts, step).filter(({ uid }) => "to".includes(uid[0]));
  const mentionedResult = mentions.find(({ uid }) => uid[0] === "t" && isOperationResult(facts, uid, step));
  const innerResult = mentionedResult
    ? null
    : firstOperationResultWithin(
        facts,
        mentions.map(({ uid }) => uid),
        step,
      );
  const temporaries = facts.opsAt(step).flatMap(({ outputs }) => outputs);
  const uid =
    mentionedResult?.uid ??
    innerResult ??
    temporaries.findLast((output) => isOperationResult(facts, output, step)) ??
    null;
  const x = facts.nameFact(uid, step);
  const birthStep = facts.birthStep(uid);
  const object = mentions.find(({ uid: objectUid }) => objectUid[0] === "o");
  const findingFacts = {
    x,
    y: object ? { code: object.text } : x,
    op: facts.nodeOperationName(facts.tensor(uid, step)?.grad_fn),
    code: facts.statementFact(step),
    made_line: facts.lineOf(Math.max(0, birthStep)),
  };
  const chain = [chainLink(facts.place(step), "checked", findingFacts, [uid])];
  if (birthStep >= 0 && birthStep < step)
    chain.unshift(
      chainLink(facts.place(birthStep), "made", { ...findingFacts, code: facts.statementFact(birthStep) }, [uid]),
    );
  return [
    {
      variant: innerResult ? "inside" : undefined,
      cause: facts.place(step),
      chain,
      names: namesInFacts(x, findingFacts.y),
      facts: findingFacts,
      fixes: [
        fixHint(
          mentionedResult ? "clone_for_deepcopy" : "detach_stored",
          facts.place(mentionedResult ? step : Math.max(0, birthStep)),
          {
            name: mentionedResult?.text ?? facts.nameText(uid, birthStep) ?? "",
          },
        ),
        ...(innerResult
          ? [fixHint("clear_before", facts.place(step), { name: facts.nameText(innerResult, step) ?? "" })]
          : []),
      ],
      explainsError: true,
    },
  ];
}

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
