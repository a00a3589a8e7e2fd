/** A mask that a function computes, or is given, and never reads: what it was to switch off takes part. */

import { codeFact, diagnosis, type Diagnosis, type NameBinding, type RunFacts } from "../diagnosis.ts";
import { isReadAfter, readsAllNames } from "./batch_part_unread.ts";
import { nameUses } from "../../syntax/name_uses.ts";
import { assignments, functionAround, statementsAround } from "../../syntax/statements.ts";
import { statementTrees } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "result_unused",
    severity: "note",
    when: ({ backwardCalls }) => backwardCalls.length,
    of: masks,
    once: ({ step }, facts) => facts.lineOf(step),
    say: diagnosisOf,
  }),
];

/** What tells a mask of whole numbers or fractions from labels and samples. */
const MASK_NAME = /mask|pad/i;

/** What a function's name means, where it is a tensor of zeros and ones, or of zeros and -inf. */
function* masks(facts: RunFacts): Generator<NameBinding> {
  if (statementTrees(facts.trace.program).some((tree) => tree && readsAllNames(tree))) return;
  const read = namesReadIn(facts);
  for (const [binding] of facts.scan.meaningsByName.values()) {
    const { uid, name } = binding;
    const definition = uid[0] === "t" && !name.startsWith("_") ? functionOf(facts, binding) : -1;
    if (definition >= 0 && read.get(definition)?.has(name) === false && isMask(facts, binding)) yield binding;
  }
}

/** By the statement that defines a function: the names that it reads, those of the functions within it too. */
function namesReadIn({ trace: { program } }: RunFacts): Map<number, Set<string>> {
  const names = new Map<number, Set<string>>();
  statementTrees(program).forEach((tree, stmt) => {
    for (const outer of statementsAround(program, stmt)) {
      if (!program.statements?.[outer].kind?.endsWith("FunctionDef")) continue;
      const known = names.get(outer) ?? new Set();
      names.set(outer, known);
      for (const name of tree ? nameUses(tree).read.keys() : []) known.add(name);
    }
  });
  return names;
}

/** The function whose variable it is, where the function was given it, or gave it an expression of its own. */
function functionOf(facts: RunFacts, { name, frame, step }: NameBinding): number {
  const { program } = facts.trace;
  if (facts.steps[step].kind === "call") {
    const own = facts.steps.find((each) => each.frame === frame && each.kind !== "call");
    return functionAround(program, own?.stmt ?? -1);
  }
  const tree = facts.syntax(step);
  const isAlone = tree && assignments(tree).some(({ target, value }) => value && target.value === name);
  return isAlone ? functionAround(program, facts.steps[step].stmt ?? -1) : -1;
}

function isMask(facts: RunFacts, { uid, name, step }: NameBinding): boolean {
  const values = new Set(facts.numbersOf(uid, step) ?? []);
  if (values.size !== 2 || !values.has(0)) return false;
  const isNamedSo = facts.tensor(uid, step)?.dtype === "bool" || MASK_NAME.test(name);
  return values.has(Number.NEGATIVE_INFINITY) || (values.has(1) && isNamedSo);
}

function diagnosisOf(facts: RunFacts, { uid, name, frame, step }: NameBinding): Diagnosis | null {
  const backward = facts.backwardCalls.find((call) => call.step > step);
  if (!backward || isReadAfter(facts, uid, step)) return null;
  const x = codeFact(name);
  const given = facts.steps[step].kind === "call" ? facts.frame(frame, step) : null;
  return {
    variant: given ? "mask_given" : "mask",
    cause: step,
    chain: [
      [step, "made", [uid], { x }],
      [backward, "used", [backward.roots[0]]],
    ],
    facts: { x, function: codeFact(given?.name ?? "") },
  };
}
