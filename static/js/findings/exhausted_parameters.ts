/** An optimizer that got nothing because the generator of parameters had been gone through before. */

import { code, fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { mentionsAt } from "./program_text.ts";
import type { RunFacts } from "./run_facts.ts";

export function exhaustedParameters(facts: RunFacts): Diagnosis[] {
  if (!/empty parameter list/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const name = /\(\s*(?:params\s*=\s*)?(\w+)\s*[,)]/.exec(facts.code(step))?.[1];
  if (!name) return [];
  const { frame } = facts.steps[step];
  const generatorPattern = new RegExp(`^${name}\\s*=.*\\.(?:named_)?parameters\\(`);
  const stepsOfFrame = [...facts.steps.keys()].filter((i) => i < step && facts.steps[i].frame === frame);
  const iteratorStep = stepsOfFrame.findLast((i) => generatorPattern.test(facts.code(i)));
  const firstUseStep = stepsOfFrame.find(
    (i) => iteratorStep !== undefined && i > iteratorStep && mentionsAt(facts, i).names.has(name),
  );
  if (iteratorStep === undefined || firstUseStep === undefined) return [];
  const x = code(name);
  const findingFacts = {
    x,
    code: facts.codeFact(firstUseStep),
    made: facts.steps[iteratorStep].line,
    effect: facts.steps[step].line,
  };
  return [
    {
      variant: "exhausted",
      severity: "error",
      cause: facts.place(firstUseStep),
      chain: [
        link(facts.place(iteratorStep), "made", { x }),
        link(facts.place(firstUseStep), "read", findingFacts),
        link(facts.place(step), "none", { ...findingFacts, code: facts.codeFact(step) }),
      ],
      names: namesOf(x),
      facts: findingFacts,
      fixes: [fix("list_parameters", facts.place(iteratorStep))],
      explainsError: true,
    },
  ];
}
