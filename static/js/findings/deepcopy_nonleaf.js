/** `deepcopy` met a tensor that was computed from others: where it was made, and through what it was reached. */

import { findMentions } from "./expressions.js";
import { fix, link, namesOf } from "./finding.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */

const MESSAGE = /Only Tensors created explicitly by the user.*support the deepcopy/;

/** @param {RunFacts} facts @returns {import("./finding.js").Diagnosis[]} */
export function deepcopyNonleaf(facts) {
  if (!MESSAGE.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const copied = findMentions(facts, step).filter(({ uid }) => "to".includes(uid[0]));
  const direct = copied.find(({ uid }) => uid[0] === "t" && isResult(facts, uid, step));
  const inner = direct
    ? null
    : resultWithin(
        facts,
        copied.map(({ uid }) => uid),
        step,
      );
  const brief = facts.opsAt(step).flatMap(({ outputs }) => outputs);
  const uid = direct?.uid ?? inner ?? brief.findLast((output) => isResult(facts, output, step)) ?? null;
  const x = facts.nameFact(uid, step);
  const birthStep = facts.birth(uid);
  const object = copied.find(({ uid: of }) => of[0] === "o");
  const all = {
    x,
    y: object ? { code: object.text } : x,
    op: facts.operation(facts.tensor(uid, step)?.grad_fn),
    code: facts.codeFact(step),
    made_line: facts.place(Math.max(0, birthStep)).line,
  };
  const chain = [link(facts.place(step), "checked", all, [uid])];
  if (birthStep >= 0 && birthStep < step)
    chain.unshift(link(facts.place(birthStep), "made", { ...all, code: facts.codeFact(birthStep) }, [uid]));
  return [
    {
      variant: inner ? "inside" : undefined,
      cause: facts.place(step),
      chain,
      names: namesOf(x, all.y),
      facts: all,
      fixes: [
        fix(direct ? "clone_for_deepcopy" : "detach_stored", facts.place(direct ? step : Math.max(0, birthStep)), {
          name: direct?.text ?? facts.nameText(uid, birthStep) ?? "",
        }),
      ],
      explainsError: true,
    },
  ];
}

/** @param {RunFacts} facts @param {string} uid @param {number} step */
function isResult(facts, uid, step) {
  const tensor = facts.tensor(uid, step);
  return Boolean(tensor?.requires_grad && tensor.leaf === false);
}

/** The first computed tensor that an object holds, through any depth. @param {RunFacts} facts @param {string[]} roots @param {number} step */
function resultWithin(facts, roots, step) {
  const state = facts.state(step);
  const seen = new Set(roots);
  for (const uid of seen) {
    if (uid[0] === "t" && isResult(facts, uid, step)) return uid;
    const object = state.get(uid);
    if (object?.kind !== "object") continue;
    for (const value of [...(object.items ?? []).flat(), ...Object.values(object.attrs ?? {})])
      if (value && typeof value === "object" && "ref" in value) seen.add(value.ref);
  }
  return null;
}
