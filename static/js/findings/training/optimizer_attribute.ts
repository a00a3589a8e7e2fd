/** A learning rate or the like set on the optimizer itself, which reads its groups: nothing changes. */

import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import { findInStatements } from "../statements/executed_statements.ts";
import { resolveExpression } from "../facts/resolve.ts";
import { attributeRead, pathText } from "../../syntax/expressions.ts";
import { isAssignmentTarget } from "../../syntax/name_uses.ts";
import { assignments } from "../../syntax/statements.ts";
import { statementTrees, walk, type SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "module_flag", severity: "warning", diagnose: diagnoseOptimizerAttribute },
];

const OPTIONS = new Set(["lr", "learning_rate", "momentum", "weight_decay", "betas"]);
/** Those of torch; another's may read its own attributes. */
const TORCH_OPTIMIZERS = new Set(
  `SGD ASGD Rprop RMSprop LBFGS Adadelta Adagrad Adafactor Adam AdamW Adamax NAdam RAdam SparseAdam Muon`.split(" "),
);

function diagnoseOptimizerAttribute(facts: RunFacts): Diagnosis[] {
  /** by target */
  const out = new Map<SyntaxNode, Diagnosis>();
  const optimizers = optimizersOf(facts);
  if (!optimizers.size) return [];
  for (const { step, found } of findInStatements(facts, optionsSet)) {
    const { target, value } = found;
    const path = pathText(target.children[0]);
    const optimizer = optimizers.get(resolveExpression(facts, target.children[0], step) ?? "");
    const later = optimizer?.steps.find((other) => other > step);
    if (!path || !optimizer || !value || later === undefined || out.has(target)) continue;
    const type = facts.scan.initialFields(optimizer.uid)?.type ?? "";
    const name = String(target.value);
    if (TORCH_OPTIMIZERS.has(type) && !isAttributeReadByProgram(facts, path, name))
      out.set(target, diagnosisOf(facts, step, later, path, name, value.text));
  }
  return [...out.values()];
}

function optionsSet(tree: SyntaxNode) {
  return assignments(tree).filter(({ target }) => target.kind === "Attribute" && OPTIONS.has(String(target.value)));
}

/** Whether the program reads the attribute, as to hand it on to the groups; also where a statement is unknown. */
function isAttributeReadByProgram(facts: RunFacts, path: string, name: string) {
  const isRead = (node: SyntaxNode) => {
    const read = attributeRead(node);
    return read?.attribute === name && pathText(read.object) === path && !isAssignmentTarget(node);
  };
  return statementTrees(facts.trace.program).some((tree) => !tree || [...walk(tree)].some(isRead));
}

function diagnosisOf(facts: RunFacts, step: number, later: number, path: string, name: string, value: string) {
  const optimizer = codeFact(path);
  const findingFacts = {
    optimizer,
    attribute: codeFact(name),
    group: codeFact(`group['${name === "learning_rate" ? "lr" : name}']`),
    path,
    name: name === "learning_rate" ? "lr" : name,
    value: codeFact(value),
    code: facts.statementFact(step),
    effect: facts.place(later).line,
  };
  return {
    variant: "optimizer",
    cause: facts.place(step),
    chain: [
      chainLink(facts.place(step), "made", findingFacts, []),
      chainLink(facts.place(later), "none", { ...findingFacts, code: facts.statementFact(later) }, []),
    ],
    names: namesInFacts(optimizer, findingFacts.attribute),
    facts: findingFacts,
    fixes: [fixHint("group_option", facts.place(step), { path, name: findingFacts.name, value: value })],
  };
}
