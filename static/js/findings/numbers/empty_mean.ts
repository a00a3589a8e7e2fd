/**
 * Averages over nothing, which are 0 divided by 0: no target counts, a selection is empty, the spread of a single
 * element.
 */

import { operationName, type Fact, type Operation, type RunFacts } from "../diagnosis.ts";
import { numel } from "../../trace/reads.ts";
import { callArgument, callsIn, literalValue } from "../../syntax/expressions.ts";

interface EmptyMean {
  variant: "ignored" | "empty" | "single";
  /** what was to be averaged, or the targets */
  uid: string;
  facts: Record<string, Fact>;
}

const TARGET_LOSSES = /^(cross_entropy_loss|nll_loss|nll_loss_nd|nll_loss2d)$/;
const AVERAGES = /^(mean|nanmean|median|.*_loss|binary_cross_entropy.*|kl_div)$/;
const SPREADS = /^(var|std)(_mean)?$/;
const DEFAULT_IGNORE_INDEX = -100;

/** What an operation that gave a NaN had nothing to average of; null where it had something. */
export function emptyMeanCause(facts: RunFacts, op: Operation): EmptyMean | null {
  const name = operationName(op.name);
  const [first, target] = op.inputs;
  if (TARGET_LOSSES.test(name) && target) {
    const targets = facts.numbersOf(target, op.step);
    const index = ignoreIndexOf(facts, op);
    if (index !== null && targets?.length && targets.every((cell) => cell === index))
      return { variant: "ignored", uid: target, facts: { index, n: targets.length } };
  }
  const shape = first ? facts.tensor(first, op.step)?.shape : undefined;
  const size = shape && numel(shape);
  if (size === 0 && AVERAGES.test(name)) return { variant: "empty", uid: first, facts: {} };
  if (size === 1 && SPREADS.test(name)) return { variant: "single", uid: first, facts: {} };
  return null;
}

/**
 * The target that a loss does not count: its node says, else the statement, else it is torch's own; null where the
 * statement is unknown, or has no number there.
 */
function ignoreIndexOf(facts: RunFacts, op: Operation): number | null {
  const nodeUid = facts.tensor(op.outputs[0], op.step)?.grad_fn;
  const ofNode = facts.node(nodeUid, op.step)?.attrs?.ignore_index;
  if (typeof ofNode === "number") return ofNode;
  if (typeof ofNode === "object" && ofNode && "$i" in ofNode)
    return Number(BigInt.asIntN(64, BigInt(String(ofNode.$i))));
  const tree = facts.syntax(op.step);
  if (!tree) return null;
  const [written] = callsIn(tree).flatMap((call) => callArgument(call, "ignore_index") ?? []);
  const index = written ? literalValue(written) : DEFAULT_IGNORE_INDEX;
  return typeof index === "number" ? index : null;
}
