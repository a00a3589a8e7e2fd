/**
 * A loop over parameters, or a function that got one, that gives its variable a new value instead of writing the
 * parameter: nothing keeps the value.
 */

import type { Diagnosis, NameBinding, RunFacts } from "../diagnosis.ts";
import { rootName } from "../../syntax/expressions.ts";
import { singleAssignment } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export function diagnoseParameterReboundInLoop(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const [key, meanings] of facts.scan.meaningsByName)
    meanings.slice(1).forEach(({ uid, name, step }, k) => {
      const previous = meanings[k];
      const { line, iter } = facts.steps[step];
      if (out.has(line) || uid[0] !== "t" || previous.uid[0] !== "t") return;
      if (!isGivenFromOutside(facts, previous, step, Boolean(iter?.length))) return;
      const isAlias = isBoundByLoop(facts, previous.step) && isOtherNameOnly(facts.syntax(step), name);
      if (facts.scan.tensorsRead.has(uid) && !isAlias) return;
      const later = facts.namesAt(Math.min(step + 1, facts.steps.length - 1)).tags.get(uid) ?? [];
      const isStored =
        !isAlias &&
        (facts.bindingsOf(uid).some((binding) => `${binding.frame}/${binding.name}` !== key) ||
          later.some(({ kind }) => kind !== "var"));
      const next = meanings[k + 2]?.step ?? facts.steps.length;
      if (isStored || isMentionedBetween(facts, previous, step, next)) return;
      out.set(line, diagnosisOf(facts, previous, step, name, isAlias ? uid : null));
    });
  return [...out.values()];
}

/** Whether a statement only gives a name the meaning of another, which keeps what it is anyway. */
function isOtherNameOnly(tree: SyntaxNode | null, name: string) {
  const named = tree && singleAssignment(tree);
  const root = named?.name === name ? rootName(named.value) : null;
  return root !== null && root !== name;
}

/**
 * Whether a name stood for something that the program keeps elsewhere: a parameter or an item that a loop went to, or
 * one that a function was given.
 */
function isGivenFromOutside(facts: RunFacts, previous: NameBinding, step: number, isInLoop: boolean) {
  const history = facts.history;
  const isLeaf = history.valueAt(previous.uid, "leaf", step) && history.valueAt(previous.uid, "requires_grad", step);
  if (!isLeaf || !isWithoutJump(facts, previous.step, step)) return false;
  return isInLoop && isBoundByLoop(facts, previous.step) ? true : facts.steps[previous.step].kind === "call";
}

function isWithoutJump({ steps }: RunFacts, from: number, to: number) {
  return !steps.slice(from + 1, to + 1).some(({ skipped }) => skipped);
}

/** Whether the new value is mentioned before the name gets another meaning. */
function isMentionedBetween(facts: RunFacts, { name, frame }: NameBinding, step: number, next: number) {
  for (let i = step + 1; i <= Math.min(next, facts.steps.length - 1); i++) {
    const { kind, frame: of, skipped } = facts.steps[i];
    if (skipped) return true;
    if (kind === "visit" || kind === "call" || (i === next && kind === "head")) continue;
    if (
      (of === frame || kind !== "statement") &&
      facts.mentionsAt(i).names.has(name) &&
      facts.steps[i].stmt !== facts.steps[step].stmt
    )
      return true;
  }
  return false;
}

/** Whether a name got its meaning at the head of a loop. */
function isBoundByLoop({ steps, trace }: RunFacts, step: number) {
  return trace.program.statements?.[steps[step].stmt ?? -1]?.kind === "For";
}

/** `other` is the tensor whose second name it became, null where it is a new one. */
function diagnosisOf(
  facts: RunFacts,
  previous: NameBinding,
  step: number,
  name: string,
  other: string | null,
): Diagnosis {
  const x = { code: name };
  const path = (facts.namesAt(step).tags.get(previous.uid) ?? []).find(
    ({ text, kind }) => kind !== "var" && !text.startsWith("."),
  );
  const y = path ? { code: path.text } : x;
  const z = facts.nameFact(other, step - 1);
  return {
    variant: other ? "alias" : "rebound",
    cause: step,
    chain: [
      [previous.step, "made", [previous.uid]],
      [step, "moved", [previous.uid]],
    ],
    names: [x, y, ...(other ? [z] : [])],
    facts: { x, y, name, other: z },
    fixes: [["in_place"]],
  };
}
