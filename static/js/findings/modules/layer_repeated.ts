/** One layer at several places of a net, because a list with it was multiplied: the places share their weights. */

import { codeFact, diagnosis, gradNameOf, statementOfCandidate, type RunFacts } from "../diagnosis.ts";
import { submoduleNames, tensorsOfModule } from "../facts/module_tensors.ts";
import { callsIn, rootName } from "../../syntax/expressions.ts";
import { mentionedNames } from "../../syntax/name_uses.ts";
import { assignments } from "../../syntax/statements.ts";
import { nodesOfKind, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "layer_repeated",
    severity: "warning",
    of: repeatedParts,
    once: statementOfCandidate,
    say: (facts, { uid, part, names, step }) => {
      const tensors = tensorsOfModule(facts, part, step);
      const making = tensors.length ? multiplyingStep(facts, step) : null;
      if (!making) return null;
      const x = facts.nameFact(uid, Math.min(step + 1, facts.steps.length - 1));
      const layer = codeFact(facts.scan.initialFields(part)?.type ?? "");
      const trained = facts.eventsOfKind("grad_accumulated").find(({ tensor }) => tensors.includes(tensor));
      return {
        severity: making.isMadeThere ? "warning" : "note",
        cause: making.step,
        chain: [
          [making.step, "shares", [uid, part]],
          trained && [
            trained.step,
            "gradient",
            [trained.tensor],
            { grad: gradNameOf(facts.nameFact(trained.tensor, trained.step)) },
          ],
        ],
        names: [x, layer],
        facts: { x, layer, n: names.length, places: names.map(codeFact), count: tensors.length },
        fixes: [["list_of_new"]],
      };
    },
  }),
];

/** a module that another has by several names */
interface RepeatedPart {
  uid: string;
  part: string;
  names: string[];
  step: number;
}

/** Of one object the last first. */
function* repeatedParts(facts: RunFacts): Generator<RepeatedPart> {
  for (const { uid, step, fields } of facts.index.objectChanges)
    if (fields.attrs && !("param_groups" in fields.attrs))
      for (const [part, names] of [...submoduleNames(facts, uid, step)].reverse())
        if (names.length > 1) yield { uid, part, names, step };
}

interface Multiplication {
  step: number;
  /** a call within the list makes the layer, so nothing else leads to it */
  isMadeThere: boolean;
}

/** The statement that multiplied a list, of those that led to the module. */
function multiplyingStep(facts: RunFacts, step: number): Multiplication | null {
  const own = facts.syntax(step);
  if (!own) return null;
  const names = mentionedNames(own);
  for (let i = step; i >= Math.max(0, step - 30); i--) {
    const tree = facts.syntax(i);
    const list = multipliedList(tree);
    if (tree && list && (tree === own || assignments(tree).some(({ target }) => names.has(rootName(target) ?? ""))))
      return { step: i, isMadeThere: callsIn(list).length > 0 };
  }
  return null;
}

/** A list that a statement multiplies. */
function multipliedList(tree: SyntaxNode | null): SyntaxNode | undefined {
  return nodesOfKind(tree, "BinOp")
    .filter(({ value }) => value === "*")
    .flatMap(({ children }) => children)
    .find(({ kind }) => kind === "List");
}
