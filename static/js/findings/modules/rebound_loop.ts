/**
 * A loop over parameters, or a function that got one, that gives its variable a new value instead of writing the
 * parameter: nothing keeps the value.
 */

import { diagnosis, type Diagnosis, type NameBinding, type RunFacts } from "../diagnosis.ts";
import { rootName } from "../../syntax/expressions.ts";
import { singleAssignment } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "parameter_detached",
    severity: "warning",
    lookedFor: "cut",
    of: rebindings,
    once: ({ meaning }, facts) => facts.steps[meaning.step].line,
    say: (facts, { previous, meaning: { uid, name, frame, step }, next }) => {
      if (uid[0] !== "t" || previous.uid[0] !== "t" || !isGivenFromOutside(facts, previous, step)) return null;
      const isAlias = isBoundByLoop(facts, previous.step) && isOtherNameOnly(facts.syntax(step), name);
      if (!isAlias && (facts.usesOf(uid).length || isStored(facts, { uid, name, frame, step }))) return null;
      if (isMentionedBetween(facts, previous, step, next)) return null;
      return diagnosisOf(facts, previous, step, name, isAlias ? uid : null);
    },
  }),
];

/** Each name that was given another meaning, with the step that gives it the next. */
function rebindings({ scan, steps }: RunFacts) {
  return [...scan.meaningsByName.values()].flatMap((meanings) =>
    meanings.slice(1).map((meaning, k) => ({
      previous: meanings[k],
      meaning,
      next: meanings[k + 2]?.step ?? steps.length,
    })),
  );
}

/** Whether a tensor has another name, or a place in a container. */
function isStored(facts: RunFacts, { uid, name, frame, step }: NameBinding) {
  const later = facts.namesAt(Math.min(step + 1, facts.steps.length - 1)).tags.get(uid) ?? [];
  const isOther = (binding: NameBinding) => binding.name !== name || binding.frame !== frame;
  return facts.bindingsOf(uid).some(isOther) || later.some(({ kind }) => kind !== "var");
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
function isGivenFromOutside(facts: RunFacts, previous: NameBinding, step: number) {
  const { history } = facts;
  const isLeaf = history.valueAt(previous.uid, "leaf", step) && history.valueAt(previous.uid, "requires_grad", step);
  if (!isLeaf || !isWithoutJump(facts, previous.step, step)) return false;
  const isInLoop = Boolean(facts.steps[step].iter?.length);
  return (isInLoop && isBoundByLoop(facts, previous.step)) || facts.steps[previous.step].kind === "call";
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
