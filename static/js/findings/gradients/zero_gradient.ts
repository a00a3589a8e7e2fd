/**
 * A leaf whose whole gradient is zero, and the operation that made it so: ReLU off, saturated, a step, multiplied by
 * zero.
 */

import { diagnosis, gradNameOf, type Diagnosis, type RunFacts, type Severity } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { stepsReadingGrad } from "../statements/grad_readings.ts";
import type { Grad } from "../../trace/wire.ts";
import { cellsReadBy, cellAsNumber } from "../facts/cell_values.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "zero_gradient",
    severity: "warning",
    of: (facts) =>
      groupBy(
        leavesWithOnlyZeroGradients(facts),
        ({ variant, node }) => `${variant} ${facts.steps[facts.birthStep(node)].line}`,
      ),
    most: 4,
    say: diagnosisOf,
  }),
];

interface ZeroingNode {
  node: string;
  /** its visit */
  step: number;
}

/** What an operation's zero means, the first that fits; others are not spoken of, as a zero may be right there. */
const ZERO_GRADIENT_CAUSES: [variant: string, severity: "warning" | "note", pattern: RegExp][] = [
  ["relu", "warning", /^(Relu|Threshold|Elu|Hardswish)/],
  ["constant_sum", "warning", /^(Softmax|SafeSoftmax)/],
  ["one_class", "warning", /^LogSoftmax/],
  ["saturated", "warning", /^(Sigmoid|Tanh|Hardsigmoid|Hardtanh|Clamp|LogSigmoid|Erf)/],
  ["step", "warning", /^(Round|Floor|Ceil|Sign|Trunc|Heaviside)/],
  ["masked", "note", /^(Where|MaskedFill|Dropout|NativeDropout|MaskedSelect|MaskedScatter)/],
  ["times_zero", "note", /^(Mul|Mm|Addmm|Bmm|Mv|Dot)Backward/],
];
/** The derivative of a derivative: of a function made of straight lines it is zero everywhere, and should be. */
const SECOND_DERIVATIVE = /Backward\w*Backward/;

/** By meaning, what may be done. */
const FIX_BY_CAUSE: Record<string, string> = { relu: "leaky_relu", step: "straight_through" };

/** Leaves to which every backward brought nothing but zeros since one operation sent none; the step is the first's. */
function leavesWithOnlyZeroGradients(facts: RunFacts) {
  return [...leavesWithZeroGradient(facts)].flatMap(([uid, step]) => {
    const zeroing = nodeThatSentZero(facts, step);
    const name = (facts.index.nodes.get(zeroing?.node ?? "")?.name ?? "").replace(/^.*::/, "");
    const [meaning, gravity] = ZERO_GRADIENT_CAUSES.find(([, , pattern]) => pattern.test(name)) ?? [];
    if (!zeroing || !meaning || SECOND_DERIVATIVE.test(name) || hasSavedTensorChanged(facts, zeroing)) return [];
    if (meaning === "one_class" && !isSumOverOneElement(facts, zeroing)) return [];
    if (meaning === "times_zero" && !hasZeroFactor(facts, zeroing)) return [];
    const isReverseState =
      meaning === "times_zero" && /\.weight_hh_l\d+_reverse$/.test(facts.nameText(uid, step) ?? "");
    const other = isReverseState ? "reverse_state" : meaning;
    const variant = meaning === "constant_sum" ? variantOfSoftmax(facts, zeroing) : other;
    const severity: Severity = isWorthWarning(facts, uid) ? (gravity ?? "note") : "note";
    return [{ uid, step, node: zeroing.node, sent: zeroing.step, variant, severity }];
  });
}

/** Of those that one operation cut off. */
function diagnosisOf(facts: RunFacts, leaves: ReturnType<typeof leavesWithOnlyZeroGradients>): Diagnosis {
  const [{ uid, step, node, sent, variant, severity }] = leaves;
  const names = leaves.map((leaf) => facts.nameFact(leaf.uid, step));
  const made = facts.birthStep(node);
  const op = facts.nodeOperationName(node);
  return {
    variant,
    severity,
    cause: made,
    chain: [
      [made, "made", [node], { x: facts.statementFact(made) }],
      [sent, "cut", [node], { code: op }],
      [step, "gradient", [uid], { grad: gradNameOf(names[0]) }],
    ],
    names,
    facts: { x: names[0], grads: names.map(gradNameOf), op },
    fixes: FIX_BY_CAUSE[variant] ? [[FIX_BY_CAUSE[variant]]] : [],
  };
}

function variantOfSoftmax(facts: RunFacts, zeroingNode: ZeroingNode) {
  if (isSumOverOneElement(facts, zeroingNode)) return "one_score";
  return hasConstantGradient(facts, zeroingNode) ? "constant_sum" : "saturated";
}

/** Whether an operation got the same gradient for every number. */
function hasConstantGradient(facts: RunFacts, { step }: ZeroingNode) {
  const grad = facts.steps[step].visit?.grad_outputs.find(Boolean);
  const cells = grad?.cells ?? (grad?.summary ? [grad.summary.min, grad.summary.max] : []);
  return cells.length > 0 && cells.every((cell) => cellAsNumber(cell) === cellAsNumber(cells[0]));
}

/** Whether the dimension along which probabilities add up to 1 has one element. */
function isSumOverOneElement(facts: RunFacts, { node, step }: ZeroingNode) {
  const { shape } = facts.steps[step].visit?.grad_outputs.find(Boolean) ?? {};
  const dim = facts.node(node, step - 1)?.attrs?.dim;
  return (shape ?? []).at(typeof dim === "number" ? dim : -1) === 1;
}

/** Whether an operand that a product saved is all zeros; else its parts cancel out. */
function hasZeroFactor(facts: RunFacts, { node, step }: ZeroingNode) {
  const entities = facts.stateAt(step - 1);
  return Object.values(facts.node(node, step - 1)?.saved ?? {}).some((slot) => {
    const summary = findEntity(entities, slot.storage, "storage")?.summary?.[unqualifiedDtype(slot.dtype)];
    const cells = cellsReadBy(entities, slot) ?? (summary ? [summary.min, summary.max] : []);
    return cells.length > 0 && cells.every((cell) => cellAsNumber(cell) === 0);
  });
}

/** Whether what the operation saved was changed in silence: then the zero is not its doing. */
function hasSavedTensorChanged(facts: RunFacts, { node, step }: ZeroingNode) {
  return Object.values(facts.node(node, step - 1)?.saved ?? {}).some(({ state }) => state === "changed");
}

/** Leaves to which every backward brought nothing but zeros, with the step of the first. */
export function leavesWithZeroGradient({ steps, opened }: RunFacts): Map<string, number> {
  const out = new Map<string, number>();
  const nonzeroLeaves = new Set<string>();
  steps.forEach(({ visit }, i) => {
    if (!visit?.accumulates || visit.failed) return;
    if (!isZeroGradient(visit.grad_outputs[0])) nonzeroLeaves.add(visit.accumulates);
    else if (!out.has(visit.accumulates)) out.set(visit.accumulates, i);
  });
  for (const uid of nonzeroLeaves) out.delete(uid);
  // a backward that was not recorded may have brought more
  const last = opened.state(steps.length - 1);
  for (const uid of out.keys()) {
    const grad = findEntity(last, findEntity(last, uid, "tensor")?.grad, "tensor");
    if (grad && cellsReadBy(last, grad)?.some((cell) => cellAsNumber(cell) !== 0)) out.delete(uid);
  }
  return out;
}

/** The node that got a gradient with something in it and sent on none. `step` is that of the visit that accumulates. */
function nodeThatSentZero(facts: RunFacts, step: number): ZeroingNode | null {
  let currentNode = facts.steps[step].visit?.node ?? "";
  const backwardUid = facts.steps[step].visit?.backward;
  let stepAfter = step;
  for (let depth = 0; depth < 2000; depth++) {
    const senders = facts.index
      .edgesLeadingTo(currentNode, step)
      .concat(facts.index.edgesLeadingTo(currentNode, stepAfter - 1));
    const visits = senders.flatMap(({ node, edge }) => {
      const visit = facts
        .visitsOf(node)
        .findLast((k) => k < stepAfter && facts.steps[k].visit?.backward === backwardUid);
      return visit === undefined ? [] : [{ node, step: visit, sent: facts.steps[visit].visit?.grad_inputs[edge] }];
    });
    const sender = visits.sort((a, b) => b.step - a.step)[0];
    if (!sender || visits.some(({ sent }) => sent && !isZeroGradient(sent))) return null; // gradients that cancel out
    if (!isZeroGradient(facts.steps[sender.step].visit?.grad_outputs.find(Boolean))) return sender;
    [currentNode, stepAfter] = [sender.node, sender.step];
  }
  return null;
}

export function isZeroGradient(grad: Grad | null | undefined) {
  if (grad?.cells) return grad.cells.length > 0 && grad.cells.every((cell) => cellAsNumber(cell) === 0);
  return Boolean(grad?.summary && cellAsNumber(grad.summary.min) === 0 && cellAsNumber(grad.summary.max) === 0);
}

/** Whether more than one backward brought a leaf nothing, or the program looks at its `.grad`: one batch may turn a
 * ReLU off. */
export function isWorthWarning(facts: RunFacts, uid: string) {
  const accumulations = facts.gradientsTo(uid);
  return (
    new Set(accumulations.map(({ step }) => facts.backwardAt(step)?.uid)).size > 1 ||
    stepsReadingGrad(facts, uid).length > 0
  );
}
