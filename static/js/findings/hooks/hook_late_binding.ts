/**
 * Hooks made in a loop that look its variable up when they run: by then the loop is over, and all of them see its last
 * value.
 */

import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import type { RunFacts } from "../facts/run_facts.ts";

/** a function without a name, or one defined in the loop */
interface HookText {
  parameters: string;
  body: string;
  /** the statement that defines it */
  stmt: number;
}

const REGISTRATION = /\.register_\w*hook\(\s*(.*)$/s;
const LAMBDA = /^lambda\b([^:]*):(.*)$/s;
const NAME = /^([A-Za-z_]\w*)\s*[,)]/;

export function diagnoseLateBoundHooks(facts: RunFacts): Diagnosis[] {
  /** by statement */
  const registrations = new Map<number, number[]>();
  facts.steps.forEach(({ kind, stmt }, i) => {
    if (kind === "statement" && stmt != null && REGISTRATION.test(facts.statementCode(i)))
      registrations.set(stmt, [...(registrations.get(stmt) ?? []), i]);
  });
  return [...registrations].flatMap(([stmt, steps]) => diagnosisOf(facts, stmt, steps) ?? []);
}

function diagnosisOf(facts: RunFacts, stmt: number, steps: number[]): Diagnosis | null {
  const loop = enclosingLoop(facts, stmt);
  const hook = loop === null ? null : hookRegisteredBy(facts, stmt, loop, steps[0]);
  if (loop === null || !hook || steps.length < 2) return null;
  const variable = loopVariables(facts, loop).find((name) => isLookedUpLate(hook, name));
  const use = firstUseAfter(facts, steps[steps.length - 1]);
  if (!variable || use === null || firstUseAfter(facts, steps[0]) !== use || isWithin(facts, use, loop)) return null;
  const x = codeFact(variable);
  const definition = facts.trace.program.statements?.[hook.stmt]?.line ?? facts.steps[steps[0]].line;
  const findingFacts = {
    x,
    name: variable,
    n: steps.length,
    code: facts.statementFact(steps[0]),
    effect: facts.steps[use].line,
  };
  return {
    variant: "late",
    severity: "warning",
    cause: { line: definition, step: steps[0] },
    chain: [
      chainLink({ line: definition, step: steps[0] }, "hooked", findingFacts),
      chainLink(facts.place(use), "read", { ...findingFacts, code: facts.statementFact(use) }),
    ],
    names: namesInFacts(x),
    facts: findingFacts,
    fixes: [fixHint("bind_in_hook", { line: definition, step: steps[0] }, { name: variable })],
  };
}

/** The first step after one that calls a module or runs backward: then hooks run. */
function firstUseAfter(facts: RunFacts, step: number): number | null {
  const called = facts.eventsOfKind("module_called").find((event) => event.step > step)?.step ?? Infinity;
  const walked = facts.backwardCalls.find((call) => call.step > step)?.step ?? Infinity;
  const first = Math.min(called, walked);
  return Number.isFinite(first) ? first : null;
}

/** The `for` around a statement, within its function; null where there is none. */
function enclosingLoop({ trace }: RunFacts, stmt: number): number | null {
  const statements = trace.program.statements ?? [];
  for (let around = statements[stmt]?.parent ?? null; around !== null; around = statements[around].parent ?? null) {
    if (statements[around].kind === "For") return around;
    if (/FunctionDef$/.test(statements[around].kind)) return null;
  }
  return null;
}

/** The names that a loop gives values to. */
function loopVariables(facts: RunFacts, loop: number): string[] {
  const row = facts.trace.program.statements?.[loop];
  const target = /^\s*for\s+(.*?)\s+in\s/.exec(facts.source[(row?.line ?? 0) - 1] ?? "")?.[1] ?? "";
  return target.match(/[A-Za-z_]\w*/g) ?? [];
}

/** The hook that a statement registers, where it is a lambda or a function that the loop defines. */
function hookRegisteredBy(facts: RunFacts, stmt: number, loop: number, step: number): HookText | null {
  const argument = REGISTRATION.exec(facts.statementCode(step))?.[1] ?? "";
  const lambda = LAMBDA.exec(argument);
  if (lambda) return { parameters: lambda[1], body: lambda[2], stmt };
  const name = NAME.exec(argument)?.[1];
  const statements = facts.trace.program.statements ?? [];
  const definition = statements.findIndex(
    ({ kind, parent, line }) =>
      kind === "FunctionDef" && parent === loop && name && new RegExp(`def ${name}\\(`).test(facts.source[line - 1]),
  );
  if (definition < 0) return null;
  const { line, end_line: end } = statements[definition];
  const text = facts.source.slice(line - 1, end).join("\n");
  const [, parameters, body] = /def \w+\(([^)]*)\)[^:]*:(.*)$/s.exec(text) ?? [];
  return body === undefined ? null : { parameters, body, stmt: definition };
}

/** Whether a hook reads a name that it neither gets nor gives a value to. */
function isLookedUpLate({ parameters, body }: HookText, name: string) {
  const word = new RegExp(`(?<![.\\w])${name}\\b(?!\\s*=[^=])`);
  const isGiven = new RegExp(`(?:^|[\\s,*(])${name}\\b(?=\\s*(?:[,:=]|$))`).test(parameters);
  return (
    !isGiven &&
    !new RegExp(`(?:^|\\n)\\s*${name}\\s*=[^=]`).test(body) &&
    word.test(body.replace(/(["'])(?:\\.|(?!\1).)*\1/g, '""'))
  );
}

/** Whether a step is of a statement within a loop. */
function isWithin({ trace, steps }: RunFacts, step: number, loop: number) {
  const statements = trace.program.statements ?? [];
  for (let stmt = steps[step].stmt ?? null; stmt !== null; stmt = statements[stmt]?.parent ?? null)
    if (stmt === loop) return true;
  return false;
}
