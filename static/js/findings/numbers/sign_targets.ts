/** Targets of 0 and 1 for a loss whose targets are 1 and -1: what is 0 counts for neither. */

import { codeFact, diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { tensorBehindViews } from "./activation_twice.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "sign_targets",
    severity: "warning",
    of: ({ scan, steps }) => groupBy(scan.operationsNamed(LOSS), ({ step }) => steps[step].stmt),
    say: (facts, ops) => {
      const numbers = ops.map((op) => targetNumbers(facts, op));
      const all = numbers.flatMap((each) => each ?? []);
      const n = all.filter((number) => number === 0).length;
      if (numbers.includes(null) || n < MIN_ZEROS || n < MIN_SHARE * all.length || n === all.length) return null;
      if (!all.every((number) => number === 0 || number === 1)) return null;
      const { step, name, inputs } = ops[numbers.findIndex((each) => each?.includes(0))];
      const target = inputs[inputs.length - 1];
      const op = operationName(name);
      return {
        variant: op === "hinge_embedding_loss" ? "both" : undefined,
        cause: step,
        chain: [[step, "used", [target]]],
        facts: { x: facts.nameFact(target, step), n, total: all.length, op: codeFact(op) },
      };
    },
  }),
];

/** By loss: how many tensors it takes, the targets last. */
const OPERANDS: Record<string, number> = {
  margin_ranking_loss: 3,
  cosine_embedding_loss: 3,
  hinge_embedding_loss: 2,
  soft_margin_loss: 2,
};
const LOSS = new RegExp(`^(?:${Object.keys(OPERANDS).join("|")})$`);
/** Fewer are ties of a ranking. */
const MIN_ZEROS = 4;
const MIN_SHARE = 0.25;
/** What gives a 0 that is meant: ties, and what a mask leaves out. */
const MEANT = /^(?:sign|sgn|mul_?|where|masked_fill_?|index_put_?|clamp\w*|zero_)$/;

/** The targets of a loss that is one number and trains; null where one may leave samples out by a 0. */
function targetNumbers(facts: RunFacts, op: Operation): number[] | null {
  const { inputs, outputs, step } = op;
  const target = inputs[inputs.length - 1];
  if (inputs.length !== OPERANDS[operationName(op.name)] || facts.handle(outputs[0], step)?.shape?.length) return null;
  const maker = facts.producingOperation(tensorBehindViews(facts, target));
  const written = facts.writesTo(tensorBehindViews(facts, target), step).some((write) => write.step <= step);
  return written || MEANT.test(operationName(maker?.name ?? "")) ? null : facts.numbersOf(target, step);
}
