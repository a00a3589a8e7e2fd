/**
 * A `load_state_dict` that wrote no parameter, since no key matched; and one with `assign=True` that parted what was
 * tied.
 */

import { lineOfCandidate, codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { callArgument, literalValue, methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { Value } from "../../trace/wire.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: stateDictLoads,
    once: lineOfCandidate,
    say: (facts, { step, call, path, module }) => {
      return nothingLoadedDiagnosis(facts, step, path, module) ?? brokenTieDiagnosis(facts, step, path, call);
    },
  }),
];

/** a call of `load_state_dict`, and the module that it loads into, with the path that leads to it */
export interface StateDictLoad {
  step: number;
  call: SyntaxNode;
  path: string;
  module: string;
}

/** Where a program loads a state dict into what a path leads to. */
export function stateDictLoads(facts: RunFacts): StateDictLoad[] {
  const calls = facts.findInStatements((tree) => methodCalls(tree, "load_state_dict").slice(0, 1));
  return calls.flatMap(({ step, found: call }) => {
    const into = receiver(call);
    const module = into && facts.resolve(into, step);
    return into && module?.[0] === "o" ? [{ step, call, path: pathText(into) ?? into.text, module }] : [];
  });
}

function nothingLoadedDiagnosis(facts: RunFacts, step: number, path: string, module: string): Diagnosis | null {
  if (facts.steps[step].skipped) return null;
  const tensors = new Set(tensorsOfModule(facts, module, step));
  if (!tensors.size) return null;
  const isWritten = facts
    .opsAt(step)
    .some(({ outputs, inputs }) => [...outputs, ...inputs].some((uid) => tensors.has(uid)));
  const isReplaced = facts.attributeChanges.some((change) => change.step === step && change.after?.[0] === "t");
  if (isWritten || isReplaced) return null;
  const [missing, unexpected] = incompatibleKeys(facts, step);
  const prefix = prefixBetween(missing, unexpected);
  const x = codeFact(path);
  return {
    variant: prefix ? (prefix.isGiven ? "prefix" : "no_prefix") : missing.length && unexpected.length ? "keys" : "none",
    cause: step,
    chain: [
      [facts.birthStep(module), "made", [module]],
      [step, "none", [module]],
    ],
    facts: {
      x,
      n: tensors.size,
      expected: codeFact(missing[0] ?? ""),
      given: codeFact(unexpected[0] ?? ""),
      prefix: codeFact(prefix?.text ?? ""),
    },
    fixes: prefix ? [[prefix.isGiven ? "strip_prefix" : "add_prefix", { prefix: prefix.text }]] : [],
  };
}

/** The keys that were missing and those that nobody expected, as the call's value lists them. */
function incompatibleKeys(facts: RunFacts, step: number): [string[], string[]] {
  const entities = facts.stateAt(step);
  const listed = Object.entries(facts.steps[step].set).find(([, fields]) => fields.type === "_IncompatibleKeys");
  const uid = listed?.[0] ?? referencedUid(facts.steps[step].value);
  const object = listed?.[1] ?? findEntity(entities, uid, "object");
  const keys = ((object?.items ?? []) as Value[]).map((item) => {
    const ref = referencedUid(item);
    const list = findEntity(entities, ref, "object")?.items ?? facts.steps[step].set[ref ?? ""]?.items ?? [];
    return (list as Value[]).filter((key): key is string => typeof key === "string");
  });
  return [keys[0] ?? [], keys[1] ?? []];
}

/** What stands before the keys of one side and not before those of the other. */
function prefixBetween(missing: string[], unexpected: string[]): { text: string; isGiven: boolean } | null {
  for (const [inner, outer, isGiven] of [
    [missing, unexpected, true],
    [unexpected, missing, false],
  ] as const) {
    const long = outer.find((key) => inner[0] && key.endsWith(`.${inner[0]}`));
    const text = long?.slice(0, long.length - inner[0].length);
    if (text && inner.every((key) => outer.includes(text + key))) return { text, isGiven };
  }
  return null;
}

/** Two names of one parameter that mean two after a load that exchanged the tensors. */
function brokenTieDiagnosis(facts: RunFacts, step: number, path: string, call: SyntaxNode): Diagnosis | null {
  if (literalValue(callArgument(call, "assign", 2)) !== true) return null;
  const changes = facts.attributeChanges.filter((change) => change.step === step && change.before && change.after);
  for (const change of changes) {
    const other = changes.find(({ before, after }) => before === change.before && after !== change.after);
    if (!other) continue;
    const [x, y] = [change, other].map(({ after }) => facts.nameFact(after, step));
    return {
      variant: "untied",
      cause: step,
      chain: [[step, "moved", [change.after, other.after]]],
      names: [x, y, codeFact(path)],
      facts: { x, y, module: codeFact(path) },
    };
  }
  return null;
}
