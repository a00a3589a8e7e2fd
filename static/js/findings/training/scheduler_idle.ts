/** A scheduler that is made and never stepped: the learning rate stays what it was. */

import { codeFact, diagnosis, type RunFacts } from "../diagnosis.ts";
import { schedulerAssignments } from "./schedule_in_vain.ts";
import { learningRateAt } from "./scheduler_first.ts";
import { roundedNumber } from "./training_facts.ts";
import { pathText } from "../../syntax/expressions.ts";
import { statementTrees, walk, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "scheduler_idle",
    severity: "note",
    when: ({ ranToItsEnd }) => ranToItsEnd,
    of: (facts) => facts.findInStatements(schedulerAssignments),
    once: ({ step }, facts) => facts.lineOf(step),
    say: (facts, { step, found: { target, optimizer: given } }) => {
      const name = pathText(target);
      const optimizer = facts.optimizers.find(({ uid }) => uid === facts.resolve(given, step));
      if (!name || !optimizer || isUsed(facts, name)) return null;
      const rates = optimizer.steps.map((each) => learningRateAt(facts, optimizer.uid, each - 1));
      const [rate] = rates;
      if (rates.length < MIN_STEPS || rate === null || rates.some((each) => each !== rate)) return null;
      return {
        cause: step,
        chain: [
          [step, "made", [optimizer.uid]],
          [optimizer.steps[rates.length - 1], "used", [optimizer.uid]],
        ],
        names: [codeFact(name)],
        facts: {
          x: codeFact(name),
          optimizer: facts.nameFact(optimizer.uid, step),
          rate: roundedNumber(rate),
          n: rates.length,
        },
      };
    },
  }),
];

const MIN_STEPS = 3;
/** What only asks a scheduler. */
const QUESTION = /^(?:get_last_lr|get_lr|state_dict|last_epoch|base_lrs|print_lr)$/;

/** Whether a path, or an attribute of its name, is more than assigned and asked for what it leads to. */
function isUsed({ trace: { program } }: RunFacts, name: string): boolean {
  const [, attribute] = /\.(\w+)$/u.exec(name) ?? [];
  const isOther = (node: SyntaxNode) =>
    (attribute ? node.kind === "Attribute" && node.value === attribute : pathText(node) === name) &&
    node.field !== "targets" &&
    !(node.parent?.kind === "Attribute" && QUESTION.test(String(node.parent.value)));
  return statementTrees(program).some((tree) => tree === null || [...walk(tree)].some(isOther));
}
