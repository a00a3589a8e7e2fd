/** A tensor of integers or booleans was to require grad. */

import { mentionedTensors, receiverOf } from "./expressions.ts";
import { nameBoundAt } from "./no_graph.ts";
import { fix, link, namesOf, type Diagnosis } from "./finding.ts";
import type { RunFacts } from "./run_facts.ts";

const MESSAGE = /only Tensors of floating point (?:and complex )?dtype can require gradients/i;

export function intRequiresGrad(facts: RunFacts): Diagnosis[] {
  if (!MESSAGE.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const isIntegral = (uid: string) => /int|bool/.test(facts.tensor(uid, step)?.dtype ?? "");
  const askedTensor = receiverOf(facts, step, "requires_grad_") ?? null;
  const mention =
    askedTensor && isIntegral(askedTensor.uid)
      ? askedTensor
      : mentionedTensors(facts, step).find(({ uid }) => isIntegral(uid));
  const uid = mention?.uid ?? facts.opsAt(step).findLast((op) => op.outputs.some(isIntegral))?.outputs[0] ?? null;
  const target = /^\s*([\p{L}_][\p{L}\p{N}_.]*)\s*(?::[^=]*)?=[^=]/u.exec(facts.code(step))?.[1];
  const x = mention
    ? { code: mention.text }
    : target
      ? { code: target }
      : (nameBoundAt(facts, step) ?? facts.nameFact(uid, step));
  const creationStep = facts.birth(uid);
  const birthStep = mention && creationStep >= 0 ? creationStep : step;
  const findingFacts = { x, dtype: facts.tensor(uid, step)?.dtype ?? "int64", code: facts.codeFact(step) };
  const chain = [link(facts.place(step), "checked", findingFacts, [uid])];
  if (birthStep < step)
    chain.unshift(link(facts.place(birthStep), "made", { ...findingFacts, code: facts.codeFact(birthStep) }, [uid]));
  return [
    {
      cause: facts.place(step),
      chain,
      names: namesOf(x),
      facts: findingFacts,
      fixes: [
        fix("float_dtype", facts.place(birthStep)),
        fix("float_before", facts.place(step), { name: mention?.text ?? "" }),
      ],
      explainsError: true,
    },
  ];
}
