/**
 * The terms of a loss: what additions, differences and factors without a history put together to the number that
 * backward starts from.
 */

import { operationName, type Operation, type RunFacts } from "../diagnosis.ts";

/** uid: the tensor that is added. step: of the addition */
export interface LossTerm {
  uid: string;
  step: number;
}

const SUMMING_OPERATION = /^(?:add|sub|rsub|add_|sub_|stack|cat|sum|mean)$/;
const PASSING_OPERATION = /^(?:neg|mul|div|mul_|div_|clone|squeeze|unsqueeze|view|reshape|to|float|double)$/;
const MAX_TERMS = 64;

/** The terms of a number, in the order of the program; the number itself where it is no sum. */
export function lossTerms(facts: RunFacts, rootUid: string, step: number): LossTerm[] {
  const terms: LossTerm[] = [];
  const seen = new Set<string>();
  const expand = (uid: string, at: number) => {
    if (seen.has(uid) || terms.length >= MAX_TERMS) return;
    seen.add(uid);
    const maker = facts.producingOperation(uid);
    const parts = maker && maker.step <= step ? partsOf(facts, maker, uid) : [];
    if (!parts.some((part) => !seen.has(part))) terms.push({ uid, step: at });
    for (const part of parts) expand(part, maker?.step ?? at);
    for (const op of facts.scan.inPlaceOperationsByTensor.get(uid) ?? [])
      if (op.step <= step) for (const part of partsOf(facts, op, uid)) expand(part, op.step);
  };
  expand(rootUid, step);
  return terms;
}

/** What an operation adds up to a number, or hands on of it; none where it does something else. */
function partsOf(facts: RunFacts, op: Operation, uid: string): string[] {
  const name = operationName(op.name);
  const parts = op.inputs.filter((input) => input !== uid);
  if (SUMMING_OPERATION.test(name)) {
    const isReduction = /^(?:sum|mean)$/.test(name);
    if (isReduction) return isStackOfNumbers(facts, op.inputs[0]) ? parts : [];
    return /^(?:stack|cat)$/.test(name) || parts.every((part) => isNumber(facts, part, op.step)) ? parts : [];
  }
  if (!PASSING_OPERATION.test(name)) return [];
  const carrying = parts.filter((part) => facts.tensor(part, op.step)?.requires_grad);
  if (parts.length === 1) return isNumber(facts, parts[0], op.step) ? parts : [];
  return carrying.length === 1 && parts.every((part) => isNumber(facts, part, op.step)) ? carrying : [];
}

function isStackOfNumbers(facts: RunFacts, uid: string) {
  const op = facts.producingOperation(uid);
  return (
    /^(?:stack|cat)$/.test(operationName(op?.name ?? "")) && op?.inputs.every((part) => isNumber(facts, part, op.step))
  );
}

function isNumber(facts: RunFacts, uid: string, step: number) {
  const shape = facts.tensor(uid, step)?.shape;
  return shape !== undefined && shape !== null && shape.reduce((a, b) => a * b, 1) === 1;
}
