/**
 * Where the first NaN, or the first infinity of a gradient, came from: the operation and its operand, forward or
 * backward.
 */

import { asFound, diagnosis as declare, gradNameOf, operationName, phrase } from "../diagnosis.ts";
import type { Diagnosis, Fix, Link, Operation, RunFacts } from "../diagnosis.ts";
import { emptyMeanCause } from "./empty_mean.ts";
import { divergingParameterBefore, type DivergingParameter } from "./divergence.ts";
import { diagnoseHalfOverflow } from "./half_overflow.ts";
import { cellsReadBy, isNanCell, isNonfiniteCell, cellAsNumber, numbersText } from "../facts/cell_values.ts";
import { gradScalerByBackward } from "../account/scaled_losses.ts";
import { numel } from "../../trace/reads.ts";
import type { Cell } from "../../trace/entities.ts";
import type { Delta, Visit } from "../../trace/wire.ts";

export const FINDINGS = [
  declare({ kind: "nonfinite", severity: "warning", lookedFor: "numbers", of: firstNonfiniteValue, say: asFound }),
];

interface NonfiniteOrigin {
  step: number;
  storage: string;
}

/** As many updates have to throw a parameter further, where all is finite still. */
const MIN_FINITE_UPDATES = 5;
/** So many sizes of a parameter that runs away are said. */
const MAX_LISTED_VALUES = 5;

/** So many operations of one statement are walked back. */
const MAX_OPERATIONS_BACK = 200;

/** What torch says where it was asked to look for NaN in backward, and where it refuses numbers that are none. */
const NONFINITE_ERROR = /returned nan values in its|found invalid values[\s\S]*\bnan\b|contains either `inf`, `nan`/;

/** Operations that only carry numbers on, or take them as the program gives them. */
const CARRIED_OR_GIVEN_VALUES =
  /^(empty|full|tensor|lift|to|_to_copy|copy_|fill_|masked_fill|masked_fill_|scalar_tensor|zeros|ones|new_|arange|clone|detach|view|item|_?index_put|index_fill|index_copy|scatter|slice|select|as_strided|expand|reshape|squeeze|unsqueeze|transpose|permute|where|cat|stack)/;

/** Operations that give NaN for some finite numbers; the others only where a NaN or an infinity comes in. */
const MAKES_NAN =
  /^(?:log\w*|_?log_softmax|_?softmax|r?sqrt|div_?|true_divide|pow_?|a(?:cos|sin)|a(?:tan|cos)h|lgamma|digamma|fmod|remainder|std\w*|var\w*|\w*norm|cdist|renorm|linalg_\w+|_linalg_\w+|cholesky\w*|inverse|\w*loss|binary_cross_entropy\w*|scaled_dot_product_attention)$/;

/** Operations that give new memory as it is, and views of it. */
const UNINITIALIZED = /^(?:new_)?empty|^(?:detach|alias|view|expand|permute|transpose|t)$/;

function firstNonfiniteValue(facts: RunFacts): Diagnosis[] {
  const firstInForward = firstNonfiniteStorage(facts, false);
  const firstInVisits = firstNonfiniteStorage(facts, true);
  const earliest =
    firstInForward && (!firstInVisits || firstInForward.step <= firstInVisits.step) ? firstInForward : firstInVisits;
  if (!earliest) {
    const divergence = divergingParameterBefore(facts, facts.steps.length);
    const isLong = divergence && divergence.steps.length >= MIN_FINITE_UPDATES;
    return [...diagnoseHalfOverflow(facts), ...(isLong ? [divergenceDiagnosis(facts, divergence)] : [])];
  }
  // a scaler looks for infinities itself, leaves the step out and lowers its scale
  if (gradScalerByBackward(facts).has(facts.steps[earliest.step].visit?.backward ?? "")) return [];
  const divergence = divergingParameterBefore(facts, earliest.step);
  if (divergence) {
    const end = firstInfinityAfter(facts, divergence, earliest.step);
    return [withError(facts, divergenceDiagnosis(facts, divergence, end))];
  }
  const removed = earliest === firstInForward && nanRemovedTooLate(facts, earliest);
  if (removed) return [removed];
  const diagnosis =
    facts.steps[earliest.step].visit && earliest === firstInVisits
      ? nonfiniteVisitDiagnosis(facts, earliest.step)
      : nanOperationDiagnosis(facts, earliest);
  return diagnosis ? [withError(facts, diagnosis)] : [];
}

/** What torch refused because of it belongs to what is told of a NaN. */
function withError(facts: RunFacts, diagnosis: Diagnosis): Diagnosis {
  if (!NONFINITE_ERROR.test(facts.error?.message ?? "")) return diagnosis;
  const chain = [...diagnosis.chain, [facts.errorStep, "checked"] as Link];
  return { ...diagnosis, chain, severity: "error", explainsError: true };
}

/** A parameter ran away; `end`: the step at which something ceased to be finite after that. */
function divergenceDiagnosis(facts: RunFacts, divergence: DivergingParameter, end?: number): Diagnosis {
  const { uid } = divergence;
  const steps = divergence.steps.filter((update) => update < (end ?? Infinity));
  const values = divergence.values.slice(0, steps.length + 1);
  const [first] = steps;
  const x = facts.nameFact(uid, first);
  return {
    variant: end === undefined ? "diverging" : "diverged",
    cause: first,
    chain: [
      [first, "written", [uid]],
      [steps[steps.length - 1], "written", [uid]],
      end !== undefined && [end, "nonfinite"],
    ],
    facts: {
      x,
      n: steps.length,
      values: numbersText(values.slice(0, MAX_LISTED_VALUES).map((value) => Number(value.toPrecision(3)))).slice(1, -1),
      effect: end === undefined ? "" : facts.steps[end].line,
    },
  };
}

/**
 * The first step after a parameter began to run away, and up to `latest`, at which an operation gave what is not
 * finite: a loss of infinity is no NaN yet. A statement that gave infinities before, as a mask does, is passed over.
 * `latest` is the step of the first NaN, or of the first gradient that is not finite.
 */
function firstInfinityAfter(facts: RunFacts, { steps: [first] }: DivergingParameter, latest: number): number {
  const linesBefore = new Set<number>();
  for (let step = 0; step < latest; step++) {
    const { set, line } = facts.steps[step];
    for (const uid in set) {
      if (uid[0] !== "s" || !Object.values(set[uid].cells ?? {}).some((row: Cell[]) => row.some(isNonfiniteCell)))
        continue;
      if (step <= first) linesBefore.add(line);
      else if (!linesBefore.has(line) && isComputed(facts, uid, step)) return step;
    }
  }
  return latest;
}

/** Whether an operation of the step computed what a storage holds, and did not only carry it on. */
function isComputed(facts: RunFacts, storageUid: string, step: number) {
  return facts.opsAt(step).some(
    ({ name, inputs, outputs }) =>
      inputs.length > 0 &&
      !CARRIED_OR_GIVEN_VALUES.test(operationName(name)) &&
      outputs.some((uid) => {
        const handle = facts.handle(uid, step);
        return (
          handle?.storage === storageUid && (cellsReadBy(facts.stateAt(step), handle)?.some(isNonfiniteCell) ?? false)
        );
      }),
  );
}

/** The first storage with a NaN; of visits, the first gradient that is NaN or infinite. */
function firstNonfiniteStorage(facts: RunFacts, visits: boolean): NonfiniteOrigin | null {
  if (visits) {
    const step = facts.steps.findIndex(({ visit }) =>
      visit?.grad_inputs?.some((grad) => grad?.cells?.some(isNonfiniteCell)),
    );
    return step < 0 ? null : { step, storage: "" };
  }
  for (let step = 0; step < facts.steps.length; step++) {
    const { set, visit } = facts.steps[step];
    for (const uid in set) {
      if (uid[0] !== "s" || !doesDeltaSetNan(set[uid]) || !isNanRead(facts, uid, step)) continue;
      if (isUninitialized(facts, uid, step)) continue;
      if (!visit || isStorageMadeInForward(facts, uid, step)) return { step, storage: uid };
    }
  }
  return null;
}

function hasNanCell(row: Cell[]) {
  for (const cell of row) if (typeof cell === "object" && isNanCell(cell)) return true;
  return false;
}

function doesDeltaSetNan({ cells, cells_at: patches }: Delta) {
  for (const dtype in cells) if (hasNanCell(cells[dtype])) return true;
  for (const dtype in patches) if (Object.values(patches[dtype]).some(isNanCell)) return true;
  return false;
}

/** Whether a handle reads a NaN of a storage: an operation may leave more memory than its result reads, and never
 * write it. */
function isNanRead(facts: RunFacts, storageUid: string, step: number) {
  const entities = facts.stateAt(step);
  return facts.index.handlesOfStorage(storageUid, step).some((uid) => {
    const handle = facts.handle(uid, step);
    const cells = handle ? cellsReadBy(entities, handle) : null;
    return !cells || cells.some(isNanCell); // null: too many to be listed
  });
}

/** Whether nobody has written a storage yet: what is in new memory is by chance. */
function isUninitialized(facts: RunFacts, storageUid: string, step: number) {
  const makers = facts
    .opsAt(step)
    .filter(({ outputs }) => outputs.some((uid) => facts.handle(uid, step)?.storage === storageUid));
  return makers.length > 0 && makers.every(({ name }) => UNINITIALIZED.test(operationName(name)));
}

/** Whether an operation before the backward of the same statement made a storage. */
function isStorageMadeInForward(facts: RunFacts, storageUid: string, step: number) {
  return facts
    .opsAt(step)
    .some((op) => op.grad_mode && op.outputs.some((uid) => facts.handle(uid, step)?.storage === storageUid));
}

/** A NaN that a loss was freed of after it had been computed with: backward multiplies its 0 by it. */
function nanRemovedTooLate(facts: RunFacts, { step: origin }: NonfiniteOrigin): Diagnosis | null {
  const call = facts.backwardCalls.find((each) => firstNonfiniteGrad(facts, each.step)?.isNan);
  const grad = call && firstNonfiniteGrad(facts, call.step);
  const [root] = call?.roots ?? [];
  if (!grad || !root || !facts.cellsOf(root, call.step)?.every((cell) => Number.isFinite(cellAsNumber(cell))))
    return null;
  const hasNan = (uid: string, step: number) => facts.cellsOf(uid, step)?.some(isNanCell) ?? false;
  for (let step = call.step; step >= origin; step--) {
    const op = facts
      .opsAt(step)
      .findLast(
        ({ inputs, outputs, requires_grad: requires, grad_mode: isRecorded }) =>
          isRecorded &&
          requires.some(Boolean) &&
          inputs.some((uid) => hasNan(uid, step)) &&
          outputs.every((uid) => !hasNan(uid, step)),
      );
    if (!op) continue;
    const freed = op.inputs.find((uid) => hasNan(uid, step)) ?? op.inputs[0];
    const x = facts.nameFact(grad.uid, grad.step);
    return {
      variant: "removed_late",
      cause: step,
      chain: [
        origin < step && [origin, "nonfinite"],
        [step, "cut", [freed]],
        [grad.step, "gradient", [grad.uid], { x, grad: gradNameOf(x) }],
      ],
      names: [x],
      facts: {
        x,
        grad: gradNameOf(x),
        op: operationName(op.name),
        loss: facts.nameFact(root, call.step),
        freed: facts.nameFact(freed, step),
        origin: facts.lineOf(origin),
      },
    };
  }
  return null;
}

/** A NaN of the forward computation. */
function nanOperationDiagnosis(facts: RunFacts, { step, storage }: NonfiniteOrigin): Diagnosis | null {
  const ops = facts.opsAt(step);
  const op = ops.find(({ outputs }) => outputs.some((uid) => facts.handle(uid, step)?.storage === storage));
  const lastWriter =
    op && !op.inputs.length
      ? ops.findLast((later) => later.outputs.some((uid) => facts.handle(uid, step)?.storage === storage))
      : op;
  const nanOperation = firstNanOperation(facts, lastWriter ?? op, step);
  if (!nanOperation) return null;
  const name = operationName(nanOperation.name);
  const output = nanOperation.outputs[0];
  const gotNan = nanOperation.inputs.some((uid) => uid !== output && facts.cellsOf(uid, step)?.some(isNanCell));
  const isGiven = !nanOperation.inputs.length || gotNan || CARRIED_OR_GIVEN_VALUES.test(name);
  const isSeen =
    MAKES_NAN.test(name) ||
    nanOperation.inputs.every((uid) => uid === output || !hasUnlistedElements(facts, uid, step));
  const x = facts.nameFact(output, step);
  const operands = nanOperation.inputs.filter((uid) => uid !== output);
  const requiresGrad =
    nanOperation.requires_grad.some(Boolean) || operands.some((uid) => facts.tensor(uid, step)?.requires_grad);
  const linksToGradient = linksToNanGradient(facts, step);
  const emptyMean = emptyMeanCause(facts, nanOperation);
  if (emptyMean) {
    const operand = facts.nameFact(facts.namedViewSource(emptyMean.uid, step), step);
    return {
      variant: emptyMean.variant,
      severity: requiresGrad || linksToGradient.length ? "warning" : "note",
      cause: step,
      chain: [[step, "nonfinite", [output, emptyMean.uid]], ...linksToGradient],
      names: [x, operand],
      facts: { x, op: name, operand, ...emptyMean.facts },
    };
  }
  const nonfiniteOperand = operands.find((uid) => facts.cellsOf(uid, step)?.some(isNonfiniteCell)) ?? null;
  const operandNames = operands.map((uid) => facts.nameFact(uid, step));
  const values = facts.cellsOf(nonfiniteOperand ?? operands[0] ?? "", step);
  const origin = nonfiniteOperand ? nonfiniteOrigin(facts, nonfiniteOperand, step) : undefined;
  return {
    variant: isGiven || !(isSeen || nonfiniteOperand) ? "given" : nonfiniteOperand ? "forward_operand" : "forward",
    severity: (requiresGrad || linksToGradient.length) && !isGiven ? "warning" : "note",
    cause: origin !== undefined && !isCarriedOn(facts, nonfiniteOperand, origin) ? origin : step,
    chain: [
      origin !== undefined && [
        origin,
        "nonfinite",
        [nonfiniteOperand],
        { x: facts.nameFact(nonfiniteOperand, origin) },
      ],
      [step, "nonfinite", [output]],
      ...linksToGradient,
    ],
    names: [x, ...operandNames],
    facts: {
      x,
      op: name,
      operand: nonfiniteOperand ? facts.nameFact(nonfiniteOperand, step) : (operandNames[0] ?? x),
      operands: operandNames,
      values: values?.length ? numbersText(values) : "",
      holds: values?.length ? phrase("finding.nonfinite.holds", { values: numbersText(values) }) : "",
      code: facts.statementFact(step),
    },
    fixes: fixesForNonfinite(facts, step, origin ?? step),
  };
}

/** Whether a tensor has elements that the trace does not list. */
function hasUnlistedElements(facts: RunFacts, uid: string, step: number): boolean {
  return !facts.cellsOf(uid, step) && numel(facts.handle(uid, step)?.shape) !== 0;
}

/** The first operation of a statement that gave a NaN: where an operand is NaN already, the one of the same step
 * that made that. */
function firstNanOperation(facts: RunFacts, op: Operation | undefined, step: number) {
  let earliest = op;
  for (let k = 0; earliest && k < MAX_OPERATIONS_BACK; k++) {
    const output = earliest.outputs[0];
    const others = earliest.inputs.filter((uid) => uid !== output);
    const listed = others.find((uid) => facts.cellsOf(uid, step)?.some(isNanCell));
    const isMaker = MAKES_NAN.test(operationName(earliest.name));
    const nanInput = listed ?? (isMaker ? undefined : others.find((uid) => hasUnlistedElements(facts, uid, step)));
    const producer = facts.producingOperation(nanInput);
    if (!producer || producer.step !== step || producer === earliest) return earliest;
    earliest = producer;
  }
  return earliest;
}

/** Where an operand first held what is not finite, if that was a step before. */
function nonfiniteOrigin(facts: RunFacts, uid: string, step: number): number | undefined {
  const storage = facts.handle(uid, step)?.storage;
  return (facts.index.writeStepsByStorage.get(storage ?? "") ?? []).find(
    (k) =>
      k < step &&
      Object.values(facts.steps[k].set[storage ?? ""]?.cells ?? {}).some((row) => row.some(isNonfiniteCell)),
  );
}

/**
 * Whether the operation that made a tensor got an infinity already, such as the -inf of a mask: it is not to blame for
 * that.
 */
function isCarriedOn(facts: RunFacts, uid: string | null, step: number) {
  const op = facts.producingOperation(uid);
  return (
    op?.step === step && op.inputs.some((input) => input !== uid && facts.cellsOf(input, step)?.some(isNonfiniteCell))
  );
}

/** A gradient that one node turned into what is not finite. */
function nonfiniteVisitDiagnosis(facts: RunFacts, step: number): Diagnosis | null {
  const { visit } = facts.steps[step];
  const node = visit ? (facts.node(visit.node, step - 1) ?? facts.node(visit.node, step)) : undefined;
  if (!visit || !node) return null;
  const birthStep = facts.birthStep(visit.node);
  const op = facts.nodeOperationName(visit.node);
  const incoming = visit.grad_outputs.flatMap((grad) => grad?.cells ?? []);
  const operand = Object.values(node.saved ?? {}).find((slot) =>
    cellsReadBy(facts.stateAt(step - 1), slot)?.some(isNonfiniteCell),
  );
  const zeroOperand = Object.values(node.saved ?? {}).find((slot) =>
    cellsReadBy(facts.stateAt(step - 1), slot)?.some((cell) => cellAsNumber(cell) === 0),
  );
  const badOperand = operand ?? zeroOperand;
  const cells = badOperand ? cellsReadBy(facts.stateAt(step - 1), badOperand) : null;
  const isMasked =
    incoming.some((cell) => cellAsNumber(cell) === 0) && (Boolean(operand) || isNanWhereGradientWasZero(visit));
  const nonfiniteGrad = firstNonfiniteGrad(facts, step);
  const x = nonfiniteGrad ? facts.nameFact(nonfiniteGrad.uid, nonfiniteGrad.step) : facts.nameFact(visit.node, step);
  const sentCells = visit.grad_inputs.flatMap((grad) => grad?.cells ?? []);
  const branchNode = isMasked ? branchNodeBefore(facts, visit.node, step) : null;
  return {
    variant: branchNode
      ? operand
        ? "branch"
        : "branch_slope"
      : isMasked && operand
        ? "zero_times_infinite"
        : nonfiniteGradientVariant(sentCells.some(isNanCell), nonfiniteGrad?.isNan ?? false),
    cause: birthStep,
    chain: [
      [birthStep, "made", [visit.node, badOperand?.tensor], { x: facts.statementFact(birthStep) }],
      branchNode && [facts.birthStep(branchNode), "way", [branchNode]],
      [step, "nonfinite", [visit.node], { code: `${op}` }],
      nonfiniteGrad && [nonfiniteGrad.step, "gradient", [nonfiniteGrad.uid]],
    ],
    facts: {
      x,
      grad: gradNameOf(x),
      op,
      values: cells ? numbersText(cells) : phrase("finding.nonfinite.its_operand"),
      incoming: numbersText(incoming),
      sent: numbersText(sentCells, sentCells.length === 1),
      choice: branchNode ? facts.nodeOperationName(branchNode) : "",
    },
    fixes: branchNode ? [["safe_where"]] : fixesForNonfinite(facts, birthStep, birthStep),
  };
}

/** Whether every NaN that a node sent on stands where it got a 0. */
function isNanWhereGradientWasZero({ grad_outputs: [incoming], grad_inputs: [sent] }: Visit) {
  const incomingCells = incoming?.cells ?? [];
  const nanIndices = (sent?.cells ?? []).flatMap((cell, k) => (isNanCell(cell) ? [k] : []));
  return (
    nanIndices.length > 0 &&
    incomingCells.length === sent?.cells?.length &&
    nanIndices.every((k) => cellAsNumber(incomingCells[k]) === 0)
  );
}

/** `arrivedNan`: a NaN came to the leaf. */
function nonfiniteGradientVariant(sentNan: boolean, arrivedNan: boolean) {
  if (sentNan) return "backward";
  return arrivedNan ? "infinite_then_nan" : "backward_infinite";
}

/** The first leaf whose gradient is not finite after a step. `isNan`: a NaN is among what it got. */
function firstNonfiniteGrad(facts: RunFacts, step: number): { uid: string; step: number; isNan: boolean } | null {
  const call = facts.backwardAt(step);
  for (let i = step; i <= (call?.end ?? step); i++) {
    const { visit } = facts.steps[i];
    if (visit?.accumulates && visit.grad_outputs.some((grad) => grad?.cells?.some(isNonfiniteCell)))
      return {
        uid: visit.accumulates,
        step: i,
        isNan: visit.grad_outputs.some((grad) => grad?.cells?.some(isNanCell)),
      };
  }
  return null;
}

/** The node that chose among branches and sent a 0 this way. */
function branchNodeBefore(facts: RunFacts, nodeUid: string, step: number) {
  let [edge] = facts.index.edgesLeadingTo(nodeUid, step - 1);
  for (let depth = 0; edge && depth < 6; depth++) {
    if (/Where|MaskedFill|Max|Min|Clamp|Index|Gather|MaskedSelect/.test(facts.index.nodes.get(edge.node)?.name ?? ""))
      return edge.node;
    [edge] = facts.index.edgesLeadingTo(edge.node, step - 1);
  }
  return null;
}

/** The backward that carries a NaN of the forward computation to a parameter. */
function linksToNanGradient(facts: RunFacts, step: number): Link[] {
  const call = facts.backwardCalls.find((backward) => backward.step > step);
  const nonfiniteGrad = call ? firstNonfiniteGrad(facts, call.step) : null;
  if (!nonfiniteGrad) return [];
  const x = facts.nameFact(nonfiniteGrad.uid, nonfiniteGrad.step);
  return [[nonfiniteGrad.step, "gradient", [nonfiniteGrad.uid], { x, grad: gradNameOf(x) }]];
}

/** What keeps an operation finite, the fix that suits it best first. `origin` is the step that made the operand. */
function fixesForNonfinite(facts: RunFacts, step: number, origin: number): Fix[] {
  const steps = facts.place(step).line === facts.place(origin).line ? [step] : [origin, step];
  return [
    ["log_softmax", {}, step],
    ...steps.map((at): Fix => ["subtract_max", {}, at]),
    ["biased_std", {}, step],
    ...steps.map((at): Fix => ["guard_operand", {}, at]),
    ["finite_mask", {}, step],
  ];
}
