/** An optimizer that got nothing because the generator of parameters had been gone through before. */

import { code, fix, link, namesOf } from "./finding.js";
import { mentionsAt } from "./program_text.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function exhaustedParameters(facts) {
  if (!/empty parameter list/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const name = /\(\s*(?:params\s*=\s*)?(\w+)\s*[,)]/.exec(facts.code(step))?.[1];
  if (!name) return [];
  const { frame } = facts.steps[step];
  const isMaking = new RegExp(`^${name}\\s*=.*\\.(?:named_)?parameters\\(`);
  const own = [...facts.steps.keys()].filter((i) => i < step && facts.steps[i].frame === frame);
  const iteratorStep = own.findLast((i) => isMaking.test(facts.code(i)));
  const used = own.find((i) => iteratorStep !== undefined && i > iteratorStep && mentionsAt(facts, i).names.has(name));
  if (iteratorStep === undefined || used === undefined) return [];
  const x = code(name);
  const said = { x, code: facts.codeFact(used), made: facts.steps[iteratorStep].line, effect: facts.steps[step].line };
  return [
    {
      variant: "exhausted",
      severity: "error",
      cause: facts.place(used),
      chain: [
        link(facts.place(iteratorStep), "made", { x }),
        link(facts.place(used), "read", said),
        link(facts.place(step), "none", { ...said, code: facts.codeFact(step) }),
      ],
      names: namesOf(x),
      facts: said,
      fixes: [fix("list_parameters", facts.place(iteratorStep))],
      explainsError: true,
    },
  ];
}
