/**
 * Hooks made in a loop that look its variable up when they run: by then the loop is over, and all of them see its last
 * value.
 */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { hookRegistrations } from "./hook_registration.ts";
import { nameUses, functionParameters } from "../../syntax/name_uses.ts";
import { functionAround, loopHead, statementsAround } from "../../syntax/statements.ts";
import { nodesOfKind, childOf, statementTree, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { Program } from "../../trace/wire.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "hook_keeps_last",
    severity: "warning",
    of: (facts) =>
      groupBy(
        facts.findInStatements((tree) => hookRegistrations(tree).slice(0, 1)),
        ({ stmt }) => stmt,
      ),
    say: (facts, registrations) =>
      diagnosisOf(
        facts,
        registrations[0].stmt,
        registrations.map(({ step }) => step),
      ),
  }),
];

function diagnosisOf(facts: RunFacts, stmt: number, steps: number[]): Diagnosis | null {
  const { program } = facts.trace;
  const loop = enclosingLoop(program, stmt);
  const [registration] = hookRegistrations(statementTree(program, stmt));
  const hook = loop === null ? null : hookDefinition(program, registration.hook, stmt, loop);
  if (loop === null || hook === null || steps.length < 2) return null;
  const { target = null } = loopHead(statementTree(program, loop)) ?? {};
  const variable = nodesOfKind(target, "Name")
    .map(({ value }) => String(value))
    .find((name) => isLookedUpLate(hook, name));
  const use = firstUseAfter(facts, steps[steps.length - 1]);
  if (
    !variable ||
    use === null ||
    firstUseAfter(facts, steps[0]) !== use ||
    isWithin(program, facts.steps[use].stmt, loop)
  )
    return null;
  const x = codeFact(variable);
  const definition = program.statements?.[hook.stmt]?.line ?? facts.steps[steps[0]].line;
  return {
    variant: "late",
    cause: { line: definition, step: steps[0] },
    chain: [
      [{ line: definition, step: steps[0] }, "hooked"],
      [use, "read"],
    ],
    facts: {
      x,
      name: variable,
      n: steps.length,
      code: facts.statementFact(steps[0]),
      effect: facts.steps[use].line,
    },
    fixes: [["bind_in_hook", { name: variable }]],
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
function enclosingLoop(program: Program, stmt: number): number | null {
  for (const around of statementsAround(program, stmt)) {
    const kind = program.statements?.[around]?.kind ?? "";
    if (kind === "For") return around;
    if (kind.endsWith("FunctionDef")) return null;
  }
  return null;
}

/** a lambda, or a function that is defined in the loop; body: its expression or statements, null for unknown ones */
interface HookDefinition {
  stmt: number;
  definition: SyntaxNode;
  body: (SyntaxNode | null)[];
}

/** Where a hook is written that a statement registers; null for one that the loop doesn't make. */
function hookDefinition(program: Program, hook: SyntaxNode, stmt: number, loop: number): HookDefinition | null {
  if (hook.kind === "Lambda") return { stmt, definition: hook, body: [childOf(hook, "body")] };
  const trees = statementTrees(program);
  const own = trees.findIndex(
    (tree, k) =>
      tree?.kind === "FunctionDef" && hook.kind === "Name" && tree.value === hook.value && isWithin(program, k, loop),
  );
  const definition = trees[own];
  return definition
    ? { stmt: own, definition, body: trees.filter((_, k) => functionAround(program, k) === own) }
    : null;
}

/** Whether a hook reads a name that it neither gets nor gives a value to. */
function isLookedUpLate({ definition, body }: HookDefinition, name: string) {
  if (body.includes(null) || functionParameters(definition).some(({ value }) => value === name)) return false;
  const uses = body.flatMap((tree) => (tree ? [nameUses(tree)] : []));
  return uses.some(({ read }) => read.has(name)) && !uses.some(({ bound }) => bound.has(name));
}

/** Whether a statement is a loop's, or the loop itself. */
function isWithin(program: Program, stmt: number | null | undefined, loop: number) {
  return stmt === loop || (stmt != null && [...statementsAround(program, stmt)].includes(loop));
}
