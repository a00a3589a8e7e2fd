/** The call that raised: the operation of torch, else that whose backward failed, and the tensors that took part. */

import { operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { tensorsReadByStatement } from "../statements/mentioned_entities.ts";
import { operandOf, operandsOf, type Operand } from "./operands.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import { methodCalls, receiver } from "../../syntax/expressions.ts";

export interface FailedCall {
  step: number;
  /** empty where it is no operation that was recorded */
  op: string;
  operands: Operand[];
}

const MAX_OPERANDS = 4;

/** The call has no operands where no tensor is known to take part. */
export function failedCallOf(facts: RunFacts): FailedCall {
  const op = facts.failedOperation ?? forwardOfFailedVisit(facts);
  if (op) {
    const operands = operandsOf(facts, op);
    if (operands.length)
      return { step: op.step, op: operationName(op.name), operands: operands.slice(0, MAX_OPERANDS) };
  }
  const step = facts.errorStep;
  const gradients = gradientsOfOptimizerStep(facts, step);
  const uids = gradients.length ? gradients : tensorsReadByStatement(facts, step).map(({ uid }) => uid);
  const operands = [...new Set(uids)].flatMap((uid) => {
    const gradient = facts.naming.gradPathAt(uid, step);
    return operandOf(facts, uid, step, () => (gradient ? { code: gradient } : facts.nameFact(uid, step)));
  });
  return { step, op: op ? operationName(op.name) : "", operands: operands.slice(0, MAX_OPERANDS) };
}

/** The operation that made the node whose backward failed. */
export function forwardOfFailedVisit(facts: RunFacts): Operation | null {
  const node = facts.failedVisit?.node;
  if (!node) return null;
  const birthStep = facts.birthStep(node);
  const ops = facts.opsAt(birthStep).filter(({ requires_grad: requires }) => requires.some(Boolean));
  const name = facts.nodeOperationName(node);
  return (
    ops.find(({ outputs }) => outputs.some((uid) => facts.gradFnOf(uid, birthStep) === node)) ??
    ops.find((op) => operationName(op.name).startsWith(name)) ??
    ops.find((op) => ops.length === 1 && op) ??
    null
  );
}

/** The gradients that an optimizer was to use, where its `step()` raised; the unusual ones first. */
function gradientsOfOptimizerStep(facts: RunFacts, step: number): string[] {
  const [call] = methodCalls(facts.syntax(step), "step");
  const uid = call ? facts.resolve(receiver(call), step) : null;
  if (!uid || !optimizersOf(facts).has(uid)) return [];
  const gradients = facts.parametersOf(uid, step).flatMap((param) => facts.tensor(param, step)?.grad ?? []);
  const unusual = gradients.filter((grad) => (facts.tensor(grad, step)?.layout ?? "strided") !== "strided");
  return unusual.length ? unusual : gradients;
}
