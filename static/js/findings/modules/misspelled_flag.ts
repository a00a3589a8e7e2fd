/**
 * `require_grad`, `requires_grad_`, `trainable`: a flag under a name that torch does not know, so nothing is frozen.
 */

import { codeFact, diagnosis, gradNameOf, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { literalValue, pathText } from "../../syntax/expressions.ts";
import { isAssignmentTarget } from "../../syntax/name_uses.ts";
import { assignments } from "../../syntax/statements.ts";
import { statementTrees, walk, type Literal, type SyntaxNode } from "../../syntax/tree.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "module_flag",
    severity: "warning",
    of: (facts) => groupBy(misspelledFlags(facts), ({ step }) => facts.steps[step].line),
    say: diagnosisOf,
  }),
];

const FLAG = "requires_grad";
/** Names that other libraries have for it. */
const OTHER_NAMES = new Set(["trainable", "requires_gradient", "require_gradient", "needs_grad"]);
const MAX_EDITS = 2;

/** Of one line: the parameters that were meant, with the first step that ran it. */
interface MisspelledFlag {
  step: number;
  path: string;
  name: string;
  value: boolean;
  isModule: boolean;
  uids: string[];
}

function misspelledFlags(facts: RunFacts): MisspelledFlag[] {
  return facts.steps.flatMap(({ kind }, step) => {
    const tree = kind === "statement" ? facts.syntax(step) : null;
    return (tree ? assignments(tree) : []).flatMap(
      ({ target, value }) => misspelledFlag(facts, step, target, literalValue(value)) ?? [],
    );
  });
}

function misspelledFlag(
  facts: RunFacts,
  step: number,
  { kind, value: attribute, children: [object] }: SyntaxNode,
  value: Literal | undefined,
): MisspelledFlag | null {
  const name = String(attribute);
  if (kind !== "Attribute" || typeof value !== "boolean" || name === FLAG) return null;
  if (!OTHER_NAMES.has(name) && editsBetween(name, FLAG) > MAX_EDITS) return null;
  const uid = facts.resolve(object, step);
  if (!uid || statementTrees(facts.trace.program).some((tree) => mayReadAttribute(tree, name))) return null;
  const isModule = uid[0] === "o";
  const uids = isModule ? tensorsOfModule(facts, uid, step) : uid[0] === "t" ? [uid] : [];
  return uids.length ? { step, path: pathText(object) ?? object.text, name, value, isModule, uids } : null;
}

/** Whether a statement reads an attribute of that name, as one of the program's own, or is unknown. */
function mayReadAttribute(tree: SyntaxNode | null, name: string) {
  return (
    tree === null ||
    [...walk(tree)].some(
      (node) =>
        node.value === name &&
        (node.kind === "Constant" || (node.kind === "Attribute" && !isAssignmentTarget(node) && node.field !== "func")),
    )
  );
}

/** None where the tensors are as the flag says all the same, or where it makes no difference that they are not. */
function diagnosisOf(facts: RunFacts, flags: MisspelledFlag[]): Diagnosis | null {
  const [{ step, path, name, value, isModule }] = flags;
  const uids = [...new Set(flags.flatMap((flag) => flag.uids))];
  if (uids.some((uid) => facts.history.valueAt(uid, "requires_grad", facts.steps.length) === value)) return null;
  const gradient = facts
    .eventsOfKind("grad_accumulated")
    .find((event) => event.step > step && uids.includes(event.tensor));
  if (value ? !facts.backwardCalls.some((call) => call.step > step) : !gradient) return null;
  const x = facts.nameFact(gradient?.tensor ?? uids[0], gradient?.step ?? step);
  const text = value ? "True" : "False";
  const names = {
    x,
    grad: gradNameOf(x),
    n: uids.length,
    attribute: codeFact(name),
    right: codeFact(isModule ? `${path}.requires_grad_(${text})` : `${path}.${FLAG} = ${text}`),
  };
  return {
    variant: name === `${FLAG}_` ? "flag_over_method" : value ? "misspelled_true" : "misspelled",
    cause: step,
    chain: [
      [step, "made", [uids[0]]],
      gradient
        ? [gradient.step, "gradient", [gradient.tensor, gradient.grad]]
        : [facts.steps.length - 1, "none", [uids[0]]],
    ],
    names: [x, names.attribute, codeFact(FLAG)],
    facts: names,
    fixes: [["spell_requires_grad", isModule ? { module: 1 } : {}]],
  };
}

/** The letters to insert, drop or exchange between two words. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++)
      next.push(Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}
