/** A learning rate or the like set on the optimizer itself, which reads its groups: nothing changes. */

import { codeFact, diagnosis, type RunFacts } from "../diagnosis.ts";
import { attributeRead, pathText } from "../../syntax/expressions.ts";
import { isAssignmentTarget } from "../../syntax/name_uses.ts";
import { assignments } from "../../syntax/statements.ts";
import { statementTrees, walk, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "module_flag",
    severity: "warning",
    when: (facts) => facts.optimizers.length,
    of: (facts) => facts.findInStatements(optionsSet),
    once: ({ found }) => found.target,
    say: (facts, { step, found }) => {
      const { target, value } = found;
      const path = pathText(target.children[0]);
      const set = facts.optimizer(facts.resolve(target.children[0], step));
      const later = set?.steps.find((other) => other > step);
      if (!path || !set || !value || later === undefined) return null;
      const attribute = String(target.value);
      const isOfTorch = TORCH_OPTIMIZERS.has(facts.scan.initialFields(set.uid)?.type ?? "");
      if (!isOfTorch || isAttributeReadByProgram(facts, path, attribute)) return null;
      const name = attribute === "learning_rate" ? "lr" : attribute;
      const optimizer = codeFact(path);
      return {
        variant: "optimizer",
        cause: step,
        chain: [
          [step, "made"],
          [later, "none"],
        ],
        names: [optimizer, codeFact(attribute)],
        facts: {
          optimizer,
          attribute: codeFact(attribute),
          group: codeFact(`group['${name}']`),
          path,
          name,
          value: codeFact(value.text),
          effect: facts.place(later).line,
        },
        fixes: [["group_option", { path, name, value: value.text }]],
      };
    },
  }),
];

const OPTIONS = new Set(["lr", "learning_rate", "momentum", "weight_decay", "betas"]);
/** Those of torch; another's may read its own attributes. */
const TORCH_OPTIMIZERS = new Set(
  `SGD ASGD Rprop RMSprop LBFGS Adadelta Adagrad Adafactor Adam AdamW Adamax NAdam RAdam SparseAdam Muon`.split(" "),
);

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
