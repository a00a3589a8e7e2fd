/** Backward was asked of a tensor of several numbers, without the gradient to start with. */

import { mentionedTensors, receiver } from "./expressions.js";
import { fix, link, namesOf } from "./finding.js";

/** @param {import("./run_facts.js").RunFacts} facts @returns {import("./finding.js").Diagnosis[]} */
export function notScalar(facts) {
  if (!/grad can be implicitly created only for (?:scalar|real scalar)/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const several = (/** @type {string} */ uid) => {
    const tensor = facts.tensor(uid, step);
    return Boolean(tensor?.requires_grad) && count(tensor?.shape) !== 1;
  };
  const asked = receiver(facts, step, "backward");
  const mention = asked && several(asked.uid) ? asked : mentionedTensors(facts, step).find(({ uid }) => several(uid));
  const inner = mention ? null : facts.opsAt(step).at(-1)?.outputs[0];
  const uid = mention?.uid ?? inner ?? null;
  const shape = facts.tensor(uid, step)?.shape ?? [];
  const birthStep = facts.birth(uid);
  const y = facts.nameFact(uid, step);
  const all = {
    y,
    n: count(shape),
    shape: `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`,
    code: facts.codeFact(step),
  };
  const chain = [link(facts.place(step), "checked", all, [uid])];
  if (birthStep >= 0 && birthStep < step)
    chain.unshift(link(facts.place(birthStep), "made", { ...all, x: y, code: facts.codeFact(birthStep) }, [uid]));
  return [
    {
      cause: facts.place(step),
      chain,
      names: namesOf(y),
      facts: all,
      fixes: [
        fix("sum_first", facts.place(step), { name: mention?.text ?? "" }),
        fix("mean_first", facts.place(step), { name: mention?.text ?? "" }),
      ],
      explainsError: true,
    },
  ];
}

/** @param {number[] | null | undefined} shape */
function count(shape) {
  return (shape ?? []).reduce((product, size) => product * size, 1);
}
