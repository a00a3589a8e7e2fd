/** A loss that is a Python number when `backward()` is asked of it: it left the graph, or never came into it. */

import { code, fix, link, namesOf } from "./finding.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

const NO_BACKWARD = /^'(int|float|bool|complex|numpy\.\w+)' object has no attribute 'backward'$/;
const CONVERSIONS = new Set(["item", "numpy", "copy"]);

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function numberLoss(facts) {
  const type = NO_BACKWARD.exec(facts.error?.message ?? "")?.[1];
  const step = facts.errorStep;
  const name = /(\w+)\.backward\(/.exec(facts.code(step))?.[1];
  const frameUid = facts.steps[step]?.frame;
  const bound = facts.scan.meanings.get(`${frameUid}/${name}`)?.findLast((meaning) => meaning.step < step);
  if (!type || !name || !bound) return [];
  const left = lastConversion(facts, bound.step);
  const at = left?.step ?? bound.step;
  const y = code(name);
  const x = left ? facts.nameFact(left.tensor, at) : y;
  const said = { x, y, type: code(type), code: facts.codeFact(at) };
  const bind = { x: y, code: facts.codeFact(bound.step) };
  return [
    {
      variant: left ? "number" : "plain_number",
      cause: facts.place(at),
      chain: [
        ...(left ? [link(facts.place(at), "cut", { ...said, code: facts.codeFact(at) }, [left.tensor])] : []),
        ...(bound.step === at && left ? [] : [link(facts.place(bound.step), "moved", bind)]),
        link(facts.place(step), "checked", { ...said, code: facts.codeFact(step) }),
      ],
      names: namesOf(y, x),
      facts: said,
      fixes: left ? [fix("cut_item", facts.place(at), { name })] : [],
      explainsError: true,
    },
  ];
}

/** The last time that a tensor was made a number or an array, of which a statement makes its value. @param {RunFacts} facts
 * @param {number} step of that statement */
export function lastConversion(facts, step) {
  const names = new Set(facts.code(step).match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []);
  return facts.events("path_cut").findLast((event) => {
    if (!CONVERSIONS.has(event.reason)) return false;
    if (event.step === step) return true;
    const bound = Object.keys(facts.steps[event.step].set?.[facts.steps[event.step].frame ?? ""]?.vars ?? {});
    const filled = /([\p{L}_][\p{L}\p{N}_]*)(?:\.(?:append|extend|insert)\(|\[[^\]]*\]\s*=)/u.exec(
      facts.code(event.step),
    );
    if (filled) bound.push(filled[1]);
    return event.step < step && bound.some((name) => names.has(name));
  });
}
