/**
 * A tensor that was asked for what it can't do: to start a backward though it has several numbers, to become a numpy
 * array though it requires grad, to be copied deeply though it was computed, to require grad though it is of integers.
 */

import { declareErrorDiagnosis, madeBefore, type Fix, type RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { numel } from "../../trace/reads.ts";
import { fittingReceiverOrMention, findMentionedEntities } from "../statements/mentioned_entities.ts";
import { nameBoundAt } from "../graph/no_graph.ts";
import { pathText } from "../../syntax/expressions.ts";
import { assignments } from "../../syntax/statements.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "not_scalar",
    message: /grad can be implicitly created only for (?:scalar|real scalar)/,
    say: (facts, step) => {
      const hasSeveral = (uid: string) => {
        const tensor = facts.tensor(uid, step);
        return Boolean(tensor?.requires_grad) && numel(tensor?.shape ?? []) !== 1;
      };
      const mention = fittingReceiverOrMention(facts, step, "backward", hasSeveral);
      const uid = mention?.uid ?? facts.opsAt(step).at(-1)?.outputs[0] ?? null;
      const shape = facts.tensor(uid, step)?.shape ?? [];
      if (numel(shape) === 1) return null; // a complex number
      const y = facts.nameFact(uid, step);
      return {
        cause: step,
        chain: [madeBefore(facts, uid, step, { x: y }), [step, "checked", [uid]]],
        names: [y],
        facts: { y, n: numel(shape), shape: tupleText(shape) },
        fixes: [
          ["sum_first", { name: mention?.text ?? "" }],
          ["mean_first", { name: mention?.text ?? "" }],
        ],
      };
    },
  }),
  declareErrorDiagnosis({
    kind: "numpy_requires_grad",
    message: /Can't call numpy\(\) on Tensor that requires grad/,
    say: (facts, step) => {
      const requiresGrad = (uid: string) => facts.tensor(uid, step)?.requires_grad;
      const mention = fittingReceiverOrMention(facts, step, "numpy", requiresGrad);
      const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(requiresGrad))?.outputs[0] ?? null;
      const tensor = facts.tensor(uid, step);
      const x = facts.nameFact(uid, step);
      return {
        variant: tensor?.leaf ? "leaf" : undefined,
        cause: step,
        chain: [madeBefore(facts, uid, step), [step, "checked", [uid]]],
        facts: { x, op: tensor?.grad_fn ? facts.nodeOperationName(tensor.grad_fn) : "" },
        fixes: [["detach_before_numpy", { name: mention?.text ?? "" }]],
      };
    },
  }),
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
  declareErrorDiagnosis({
    kind: "int_requires_grad",
    message: /only Tensors of floating point (?:and complex )?dtype can require gradients/i,
    say: (facts, step) => {
      const isIntegral = (uid: string) => /int|bool/.test(facts.tensor(uid, step)?.dtype ?? "");
      const mention = fittingReceiverOrMention(facts, step, "requires_grad_", isIntegral);
      const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(isIntegral))?.outputs[0] ?? null;
      const tree = facts.syntax(step);
      const name = mention?.text ?? (tree && pathText(assignments(tree)[0]?.target ?? null));
      const x = name ? { code: name } : (nameBoundAt(facts, step) ?? facts.nameFact(uid, step));
      const made = mention ? madeBefore(facts, uid, step) : null;
      return {
        cause: step,
        chain: [made, [step, "checked", [uid]]],
        facts: { x, dtype: facts.tensor(uid, step)?.dtype ?? "int64" },
        fixes: [
          ["float_dtype", {}, made?.[0] ?? step],
          ["float_before", { name: mention?.text ?? "" }],
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
