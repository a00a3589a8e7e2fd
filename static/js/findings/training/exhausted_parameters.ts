/** An optimizer that got nothing because the generator of parameters had been gone through before. */

import { codeFact, fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { mentionsAt } from "../statements/program_text.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export function diagnoseExhaustedParameters(facts: RunFacts): Diagnosis[] {
  if (!/empty parameter list/.test(facts.error?.message ?? "")) return [];
  const step = facts.errorStep;
  const name = /\(\s*(?:params\s*=\s*)?(\w+)\s*[,)]/.exec(facts.statementCode(step))?.[1];
  if (!name) return [];
  const { frame } = facts.steps[step];
  const generatorPattern = new RegExp(`^${name}\\s*=.*\\.(?:named_)?parameters\\(`);
  const stepsOfFrame = [...facts.steps.keys()].filter((i) => i < step && facts.steps[i].frame === frame);
  const iteratorStep = stepsOfFrame.findLast((i) => generatorPattern.test(facts.statementCode(i)));
  const firstUseStep = stepsOfFrame.find(
    (i) => iteratorStep !== undefined && i > iteratorStep && mentionsAt(facts, i).names.has(name),
  );
  if (iteratorStep === undefined || firstUseStep === undefined) return [];
  const x = codeFact(name);
  const findingFacts = {
    x,
    code: facts.statementFact(firstUseStep),
    made: facts.steps[iteratorStep].line,
    effect: facts.steps[step].line,
  };
  return [
    {
      variant: "exhausted",
      severity: "error",
      cause: facts.place(firstUseStep),
      chain: [
        chainLink(facts.place(iteratorStep), "made", { x }),
        chainLink(facts.place(firstUseStep), "read", findingFacts),
        chainLink(facts.place(step), "none", { ...findingFacts, code: facts.statementFact(step) }),
      ],
      names: namesInFacts(x),
      facts: findingFacts,
      fixes: [fixHint("list_parameters", facts.place(iteratorStep))],
      explainsError: true,
    },
  ];
}
