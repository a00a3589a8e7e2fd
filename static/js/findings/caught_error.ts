/** Errors of torch that the program caught itself, and went on: each is explained as if it had ended the run. */

import { codeFact, completeDiagnosis, diagnosis, phrase } from "./diagnosis.ts";
import type { Diagnosis, EventOccurrence, RunFacts } from "./diagnosis.ts";
import { ERROR_DIAGNOSES } from "./error_registry.ts";
import { unexplainedError } from "./errors/unexplained_error.ts";
import { groupBy } from "../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "caught_error",
    severity: "note",
    of: (facts) => groupBy(caughtErrors(facts), ({ event }) => `${facts.steps[event.step].line} ${event.exception}`),
    say: diagnosisOfCaught,
  }),
];

interface CaughtError {
  event: EventOccurrence<"raised">;
  /** the step with which the program went on */
  handled: number;
}

/** What torch raises and no program uses to choose its way. */
const TORCH_ERRORS = /^(Runtime|OutOfMemory|_?LinAlg|Value|Index|Type)Error$/;

function caughtErrors(facts: RunFacts): CaughtError[] {
  const out: CaughtError[] = [];
  let last = -2;
  for (const event of facts.eventsOfKind("raised")) {
    const isSameException = event.step === last + 1; // it passed a handler or a `finally` of another function
    last = event.step;
    if (isSameException || !isOfTorch(facts, event)) continue;
    let handled = event.step + 1;
    while (facts.steps[handled]?.kind === "raise") handled++;
    if (handled < facts.steps.length && !isRaisedAgain(facts, event)) out.push({ event, handled });
  }
  return out;
}

function isOfTorch(facts: RunFacts, { step, exception, in_torch: inTorch }: EventOccurrence<"raised">) {
  if (!TORCH_ERRORS.test(exception)) return false;
  return facts.opsAt(step).some(({ failed }) => failed) || (inTorch && /^(Runtime|OutOfMemory)Error$/.test(exception));
}

/** Whether the same error ended the run after all: its handler raised it again. */
function isRaisedAgain(facts: RunFacts, { exception, message }: EventOccurrence<"raised">) {
  return facts.error?.type === exception && facts.error.message.startsWith(message);
}

function diagnosisOfCaught(facts: RunFacts, caught: CaughtError[]): Diagnosis {
  const [{ event, handled }] = caught;
  const { exception: type, message, step, place } = event;
  const { line } = facts.steps[step];
  const factsOfError = facts.withError({ type, message, line, step, place });
  const { kind, ...explanation } = explanationOfError(factsOfError) ?? {
    ...(unexplainedError(factsOfError) as Diagnosis),
    kind: "unexplained_error",
  };
  const found = completeDiagnosis(factsOfError, explanation);
  const { variant, cause, chain } = found;
  const sentence = (part: string) =>
    phrase(`finding.${kind}.${variant}.${part}`, { line: cause.line, ...found.facts }, `finding.${kind}.${part}`);
  return {
    severity: "note",
    cause,
    chain: [
      ...chain.map((link) => ({ ...link, words: { kind, variant }, facts: { ...found.facts, ...link.facts } })),
      [handled, "released"],
    ],
    names: found.names,
    facts: {
      type,
      n: caught.length,
      raised_line: line,
      caught_line: facts.steps[handled].line,
      code: codeFact(facts.statementCode(step)),
      explanation: sentence("what"),
      reason: sentence("why"),
      advice: sentence("todo"),
    },
    fixes: found.fixes,
  };
}

/** Why a run raised: the best of the diagnoses. */
function explanationOfError(facts: RunFacts): (Diagnosis & { kind: string }) | null {
  for (const { kind, diagnose } of ERROR_DIAGNOSES) {
    const found = diagnose(facts).find(({ explainsError }) => explainsError);
    if (found) return { ...found, kind };
  }
  return null;
}
