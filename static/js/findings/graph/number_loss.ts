/** A loss that is a Python number when `backward()` is asked of it: it left the graph, or never came into it. */

import { codeFact, fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";

const NO_BACKWARD_ERROR = /^'(int|float|bool|complex|numpy\.\w+)' object has no attribute 'backward'$/;
const NUMBER_CONVERSIONS = new Set(["item", "numpy", "copy"]);

export function diagnoseLossAsNumber(facts: RunFacts): Diagnosis[] {
  const type = NO_BACKWARD_ERROR.exec(facts.error?.message ?? "")?.[1];
  const step = facts.errorStep;
  const name = /(\w+)\.backward\(/.exec(facts.statementCode(step))?.[1];
  const frameUid = facts.steps[step]?.frame;
  const binding = facts.scan.meaningsByName.get(`${frameUid}/${name}`)?.findLast((meaning) => meaning.step < step);
  if (!type || !name || !binding) return [];
  const conversion = lastNumberConversion(facts, binding.step);
  const conversionStep = conversion?.step ?? binding.step;
  const y = codeFact(name);
  const x = conversion ? facts.nameFact(conversion.tensor, conversionStep) : y;
  const findingFacts = { x, y, type: codeFact(type), code: facts.statementFact(conversionStep) };
  const bindingFacts = { x: y, code: facts.statementFact(binding.step) };
  return [
    {
      variant: conversion ? "number" : "plain_number",
      cause: facts.place(conversionStep),
      chain: [
        ...(conversion
          ? [
              chainLink(
                facts.place(conversionStep),
                "cut",
                { ...findingFacts, code: facts.statementFact(conversionStep) },
                [conversion.tensor],
              ),
            ]
          : []),
        ...(binding.step === conversionStep && conversion
          ? []
          : [chainLink(facts.place(binding.step), "moved", bindingFacts)]),
        chainLink(facts.place(step), "checked", { ...findingFacts, code: facts.statementFact(step) }),
      ],
      names: namesInFacts(y, x),
      facts: findingFacts,
      fixes: conversion ? [fixHint("cut_item", facts.place(conversionStep), { name })] : [],
      explainsError: true,
    },
  ];
}

/** The last time that a tensor was made a number or an array, of which the statement at a step makes its value. */
export function lastNumberConversion(facts: RunFacts, step: number) {
  const names = new Set(facts.statementCode(step).match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []);
  return facts.eventsOfKind("path_cut").findLast((event) => {
    if (!NUMBER_CONVERSIONS.has(event.reason)) return false;
    if (event.step === step) return true;
    const boundNames = Object.keys(facts.steps[event.step].set?.[facts.steps[event.step].frame ?? ""]?.vars ?? {});
    const filledContainer = /([\p{L}_][\p{L}\p{N}_]*)(?:\.(?:append|extend|insert)\(|\[[^\]]*\]\s*=)/u.exec(
      facts.statementCode(event.step),
    );
    if (filledContainer) boundNames.push(filledContainer[1]);
    return event.step < step && boundNames.some((name) => names.has(name));
  });
}
