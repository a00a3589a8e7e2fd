/** A backward after the loop whose losses it was for: only the last batch of each round trains. */

import { codeFact, diagnosis, type BackwardCall, type Diagnosis, type Operation, type RunFacts } from "../diagnosis.ts";
import { reachableNodes } from "../facts/graph_walk.ts";
import { methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { assignments, bareExpression } from "../../syntax/statements.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "loss_of_last_batch",
    severity: "warning",
    when: ({ optimizers }) => optimizers.some(({ steps }) => steps.length),
    of: ({ backwardCalls }) => groupBy(backwardCalls, ({ stmt }) => stmt),
    /** Of one statement; nothing where it is meant once. */
    say: (facts, calls) => {
      const lost = calls.flatMap((call) => lastLossOf(facts, call) ?? []);
      const count = lost.reduce((sum, { dropped }) => sum + dropped.length, 0);
      return lost.length === calls.length ? diagnosisOf(facts, lost[0], count) : null;
    },
  }),
];

const MIN_DROPPED = 2;

/** the loss that trained, and those of the same statement before it that did not */
interface LastLoss {
  name: string;
  call: BackwardCall;
  last: Operation;
  dropped: Operation[];
}

/**
 * None where the loss is of the loop that runs backward, or where the backward also went through the losses before it.
 */
function lastLossOf(facts: RunFacts, call: BackwardCall): LastLoss | null {
  const [root] = call.roots;
  const tree = facts.syntax(call.step);
  const [backward] = methodCalls(tree && bareExpression(tree), "backward");
  const name = backward ? pathText(receiver(backward)) : null;
  const last = root ? facts.producingOperation(root) : undefined;
  if (!name || !last || call.roots.length !== 1) return null;
  const [at, outer] = [facts.steps[last.step], facts.steps[call.step]];
  const [inner, round] = [at.iter ?? [], outer.iter ?? []];
  if (at.frame !== outer.frame || inner.length !== round.length + 1 || round.some((k, i) => inner[i] !== k))
    return null;
  const made = facts.syntax(last.step);
  if (!made || !assignments(made).some(({ target, operator }) => !operator && pathText(target) === name)) return null;
  const dropped: Operation[] = [];
  for (let step = last.step - 1; step >= 0; step--) {
    const { stmt, frame, iter = [], skipped } = facts.steps[step];
    if (skipped) return null;
    if (stmt !== at.stmt || frame !== at.frame) continue;
    if (iter?.length !== inner.length || round.some((k, i) => iter[i] !== k)) break;
    const op = facts
      .opsAt(step)
      .find((other) => other.name === last.name && other.inputs.length === last.inputs.length);
    if (!op || !isUnusedLoss(facts, op, last)) return null;
    dropped.push(op);
  }
  return dropped.length >= MIN_DROPPED ? { name, call, last, dropped } : null;
}

/** Whether a loss of other data has a graph through which no backward ever went. */
function isUnusedLoss(facts: RunFacts, op: Operation, last: Operation) {
  if (op.inputs.length < 2 || op.inputs[1] === last.inputs[1]) return false;
  const node = facts.gradFnOf(op.outputs[0], op.step);
  const isVisited = (uid: string) => !facts.index.nodes.get(uid)?.variable && facts.visitsOf(uid).length > 0;
  return node !== null && ![...reachableNodes(facts, node)].some(isVisited);
}

function diagnosisOf(facts: RunFacts, { name, call, last, dropped }: LastLoss, count: number): Diagnosis {
  const x = codeFact(name);
  const [earlier] = dropped.slice(-1);
  return {
    cause: call.step,
    chain: [
      [earlier.step, "made", [earlier.outputs[0]]],
      [call.step, "starts", [last.outputs[0]]],
    ],
    facts: {
      x,
      n: dropped.length,
      rounds: dropped.length + 1,
      total: count,
      made: facts.place(last.step).line,
    },
    fixes: [["into_loop"]],
  };
}
