/**
 * The tensors that went into an operation that failed: what a reader calls each, its shape, and the step it is from.
 */

import { codeFact, operationName, type Fact, type Link, type Operation, type RunFacts } from "../diagnosis.ts";
import { callsIn, receiver } from "../../syntax/expressions.ts";
import { statementTree } from "../../syntax/tree.ts";

export interface Operand {
  uid: string;
  name: Fact;
  shape: number[];
  dtype: string;
  /** the step that made it, or gave it this shape */
  made: number;
}

const MAX_OPERATIONS_BACK = 12;

export function operandsOf(facts: RunFacts, op: Operation): Operand[] {
  return op.inputs.flatMap((uid) =>
    operandOf(facts, uid, op.step, (shape) => nameOfOperand(facts, uid, op.step, shape)),
  );
}

/** A tensor as an operand; none where its shape is not known. */
export function operandOf(facts: RunFacts, uid: string, step: number, nameOf: (shape: number[]) => Fact): Operand[] {
  const { shape, dtype = "" } = facts.tensor(uid, step) ?? {};
  if (!shape) return [];
  const made = Math.max(0, facts.birthStep(uid));
  return [{ uid, name: nameOf(shape), shape, dtype: dtype.replace("torch.", ""), made }];
}

/** What a reader calls it; a cast of something named as the statement writes it: `target.int()`. */
function nameOfOperand(facts: RunFacts, uid: string, step: number, shape: number[]) {
  const source = namedSource(facts, uid, step, shape);
  if (facts.tensor(source, step)?.dtype === facts.tensor(uid, step)?.dtype) return facts.nameFact(source, step);
  const name = facts.nameText(source, step);
  const statement = statementTree(facts.trace.program, facts.steps[step].stmt);
  const cast = callsIn(statement).find((call) => receiver(call)?.text === name);
  return cast ? codeFact(cast.text) : facts.nameFact(uid, step);
}

/** The tensor itself, or if only views or casts without a name lie between, the named one behind it. */
function namedSource(facts: RunFacts, uid: string, step: number, shape: number[]) {
  let current = uid;
  for (let k = 0; k < MAX_OPERATIONS_BACK; k++) {
    if (facts.nameText(current, step)) return current;
    const op = facts.producingOperation(current);
    const source = op?.inputs[0];
    if (!op || !source || String(facts.tensor(source, step)?.shape) !== String(shape)) return uid;
    if (!/^(to|contiguous|clone|detach|alias|lift_fresh)$/.test(operationName(op.name))) return uid;
    current = source;
  }
  return uid;
}

/** The steps that made operands before they were used, in order. */
export function creationLinks(operands: Operand[], step: number): Link[] {
  return operands
    .filter(({ made }) => made < step)
    .sort((a, b) => a.made - b.made)
    .map(({ made, uid, name, dtype }) => [made, "made", [uid], { x: name, x_dtype: dtype }]);
}
