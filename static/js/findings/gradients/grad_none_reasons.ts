/**
 * The reasons for which a tensor has no `.grad` at a step, each with the step it goes back to and the way from there.
 */

import { codeFact, phrase } from "../diagnosis.ts";
import type { BackwardCall, Fact, Facts, Link, RunFacts, Severity } from "../diagnosis.ts";
import { checkpointEndStep, fixKindsForGraphCut } from "../graph/grad_mode.ts";
import { cutsBeforeBackward, isGraphCut, straightThroughEstimator } from "./graph_cuts.ts";
import type { DataflowEdge, PathCutEvent } from "../facts/dataflow.ts";
import type { HistoryField } from "../facts/field_history.ts";
import { methodCalls, receiver } from "../../syntax/expressions.ts";

/** Why `.grad` is None: the step of the cause, the chain from it, and the fixes. */
export interface GradNoneReason {
  variant: string;
  severity: Severity;
  /** a step */
  cause: number;
  /** in which the tensor has the name that the reader uses */
  chain: Link[];
  facts?: Facts;
  fixes?: string[];
  /** another line that the fixes need, else where it was read */
  to?: number;
}

/** Why a tensor's `.grad` is None at a step; null where the trace does not say why. */
export function gradNoneReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const history = facts.history;
  const tensor = facts.tensor(uid, step) ?? facts.tensor(uid, step - 1);
  if (!tensor) return null;
  if (history.valueAt(uid, "leaf", step) === false && !tensor.retains_grad) return nonLeafReason(facts, uid, step);
  if (!history.valueAt(uid, "requires_grad", step)) return gradNotRequiredReason(facts, uid, step);
  const lostChange = history
    .fieldChanges(uid, "grad")
    .findLast((change) => change.step <= step && change.value === null);
  if (lostChange && facts.gradOf(uid, lostChange.step - 1)) return gradResetReason(facts, uid, lostChange.step);
  return leafNotReachedReason(facts, uid, step);
}

function nonLeafReason(facts: RunFacts, uid: string, step: number): GradNoneReason {
  const made = lastFieldChangeStep(facts, uid, "grad_fn", step);
  const nodeUid = facts.gradFnOf(uid, step);
  const lastCall = lastBackwardBefore(facts, step);
  const leafUid = leafBeforeRebinding(facts, uid, made);
  const starts: Link[] = lastCall && lastCall.step >= made ? [[lastCall, "starts", lastCall.roots]] : [];
  const chain: Link[] = leafUid
    ? [[facts.birthStep(leafUid), "made", [leafUid]], [made, "moved", [uid]], ...starts]
    : [[made, "made", [uid]], ...starts];
  return {
    variant: leafUid ? "moved_from_leaf" : "not_leaf",
    severity: "warning",
    cause: made,
    chain,
    facts: { op: facts.nodeOperationName(nodeUid) || (facts.producingOperation(uid)?.name ?? "") },
    fixes: leafUid ? ["leaf_of_result", "retain_grad"] : ["retain_grad", "leaf_of_update"],
  };
}

/** The leaf that a name meant before it came, at a step, to mean this tensor, which was computed from it. */
function leafBeforeRebinding(facts: RunFacts, uid: string, step: number): string | null {
  const previousUid = tensorBeforeRebinding(facts, uid, step);
  if (!previousUid || facts.history.valueAt(previousUid, "leaf", step) !== true) return null;
  return facts.history.valueAt(previousUid, "requires_grad", step) ? previousUid : null;
}

/** The tensor that a name of this one meant until the step that gave it the name. */
function tensorBeforeRebinding(facts: RunFacts, uid: string, step: number): string | null {
  for (const { name, frame, step: bindingStep } of facts.bindingsOf(uid)) {
    const former = facts.meaningsOf(frame, name).findLast((meaning) => meaning.step < bindingStep);
    if (bindingStep >= step && former?.uid[0] === "t" && former.uid !== uid) return former.uid;
  }
  return null;
}

function gradNotRequiredReason(facts: RunFacts, uid: string, step: number): GradNoneReason {
  const birth = facts.birthStep(uid);
  const requiredBefore = facts.history
    .fieldChanges(uid, "requires_grad")
    .findLast(({ value, step: at }) => value && at <= step);
  if (requiredBefore) {
    const cause = lastFieldChangeStep(facts, uid, "requires_grad", step);
    return { variant: "frozen", severity: "note", cause, chain: [[cause, "cut", [uid]]] };
  }
  const source = sourceBehindGraphCut(facts, uid);
  const formerUid = tensorBeforeRebinding(facts, uid, birth);
  if (formerUid && facts.history.valueAt(formerUid, "requires_grad", birth))
    return {
      variant: "name_moved",
      severity: "warning",
      cause: birth,
      chain: [
        [facts.birthStep(formerUid), "made", [formerUid]],
        [birth, "moved", [uid, source]],
      ],
      fixes: ["in_place"],
    };
  if (!source)
    return {
      variant: "not_required",
      severity: "note",
      cause: birth,
      chain: [[birth, "made", [uid]]],
      fixes: ["require_grad"],
    };
  return {
    variant: "made_without_graph",
    severity: "warning",
    cause: birth,
    chain: [[birth, "cut", [uid, source]]],
    facts: { from: facts.nameFact(source, birth) },
    fixes: ["keep_history"],
  };
}

/** The tensor that requires grad of which this one was computed without its history. */
function sourceBehindGraphCut(facts: RunFacts, uid: string) {
  const edges = facts.dataflow.edgesInto.get(uid) ?? [];
  const requires = ({ from, step }: DataflowEdge) => facts.history.valueAt(from, "requires_grad", step);
  return edges.find((edge) => edge.cut ?? requires(edge))?.from ?? null;
}

function gradResetReason(facts: RunFacts, uid: string, at: number): GradNoneReason {
  const x = facts.nameFact(uid, at);
  const accumulated = facts.gradientsTo(uid).findLast(({ step }) => step < at);
  const cut: Link = [at, "cut", [uid], { x }];
  return {
    variant: "reset",
    severity: "note",
    cause: at,
    chain: accumulated ? [[accumulated.step, "gradient", [uid], { x }], cut] : [cut],
    fixes: ["zero_grad_later"],
  };
}

/** A leaf that requires grad, and no backward has come to it. */
function leafNotReachedReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const birth = facts.birthStep(uid);
  const made: Link = [birth, "made", [uid]];
  const running = facts.backwardAt(step);
  const laterStep = running ? stepOfUpcomingGradient(facts, uid, running, step) : null;
  if (running && laterStep !== null)
    return {
      variant: "not_yet",
      severity: "note",
      cause: running.step,
      chain: [made, [running.step, "starts", running.roots], [laterStep, "gradient", [uid]]],
    };
  const call = lastBackwardBefore(facts, step);
  if (!call || call.step < birth) return noBackwardYetReason(facts, uid, step, birth);
  const ends: MadeAndStartsLinks = [made, [call, "starts", call.roots]];
  const [, starts] = ends;
  const loss = facts.nameFact(call.roots[0], call.step);
  if (call.inputs.length && !call.inputs.includes(uid))
    return { variant: "inputs", severity: "note", cause: call.step, chain: ends, facts: { loss } };
  const silentNode = nodeThatSentNoGradient(facts, uid, call);
  if (silentNode) return backwardReturnedNoneReason(facts, silentNode, ends);
  const path = facts.dataflow.shortestPath(uid, call.roots, call.step);
  if (path)
    return (
      deliberateCutReason(facts, cutsBeforeBackward(facts, uid, call), call, ends) ??
      graphCutReason(facts, path, ends, loss) ??
      gradRequiredTooLateReason(facts, uid, path, ends)
    );
  // of the last round less may have been recorded than of the first
  const first = facts.backwardCalls.find(({ api, step: at }) => api === "backward" && at >= birth);
  const firstPath = first && first.step < call.step ? facts.dataflow.shortestPath(uid, first.roots, first.step) : null;
  if (first && firstPath) {
    const cut = graphCutReason(facts, firstPath, [made, [first, "starts", first.roots]], loss);
    if (cut) return cut;
  }
  const lost = leftTorchReason(facts, uid, call.step);
  if (lost) return { ...lost, chain: [made, ...lost.chain, starts], facts: { ...lost.facts, loss } };
  const other = replacementInLoss(facts, uid, call);
  if (!other) return { variant: "unused", severity: "warning", cause: call.step, chain: ends, facts: { loss } };
  const name = codeFact(other.name);
  return {
    variant: "replaced",
    severity: "warning",
    cause: other.step,
    chain: [made, [other.step, "moved", [uid, other.after], { x: name }], starts],
    facts: { loss, name },
  };
}

/** where a leaf was made, and the backward that did not come to it */
type MadeAndStartsLinks = [Link, Link];

/** No backward has run since the leaf was made: only `autograd.grad`, which stores nothing, or one that comes later,
 * or none. */
function noBackwardYetReason(facts: RunFacts, uid: string, step: number, birth: number): GradNoneReason {
  const made: Link = [birth, "made", [uid]];
  const startOf = (call: BackwardCall): Link => [call, "starts", call.roots];
  const gradCall = facts.backwardCalls.findLast(
    (call) => call.api === "grad" && call.step <= step && call.step >= birth,
  );
  if (gradCall)
    return { variant: "autograd_grad", severity: "note", cause: gradCall.step, chain: [made, startOf(gradCall)] };
  const laterAccumulation = facts.gradientsTo(uid).find((event) => event.step > step && facts.backwardAt(event.step));
  const call = laterAccumulation ? facts.backwardAt(laterAccumulation.step) : undefined;
  if (!call) return { variant: "no_backward", severity: "note", cause: step, chain: [made] };
  return {
    variant: "before_backward",
    severity: "note",
    cause: step,
    chain: [made, startOf(call)],
    facts: { later: facts.steps[call.step].line },
  };
}

/** The step at which a backward that still runs will come to a leaf. */
function stepOfUpcomingGradient(facts: RunFacts, uid: string, call: BackwardCall, step: number) {
  const visits = facts.index.visitsByBackward.get(call.uid) ?? [];
  return visits.find((visit) => visit.step > step && facts.steps[visit.step].visit?.accumulates === uid)?.step ?? null;
}

/** A node that a backward ran and that sent nothing on to a leaf. */
function nodeThatSentNoGradient(
  facts: RunFacts,
  uid: string,
  call: BackwardCall,
): { node: string; step: number } | null {
  for (const leafUid of facts.index.accumulatorsOfTensor(uid, call.step))
    for (const { node, edge } of facts.index.edgesLeadingTo(leafUid, call.step)) {
      const step = facts.visitsOf(node).find((at) => facts.steps[at].visit?.backward === call.uid);
      const visit = step === undefined ? null : facts.steps[step].visit;
      if (step !== undefined && visit && !visit.failed && !visit.grad_inputs[edge]) return { node, step };
    }
  return null;
}

function backwardReturnedNoneReason(
  facts: RunFacts,
  { node, step }: { node: string; step: number },
  [made, starts]: MadeAndStartsLinks,
): GradNoneReason {
  const cause = facts.birthStep(node);
  const op = facts.nodeOperationName(node);
  return {
    variant: "returned_none",
    severity: "warning",
    cause,
    chain: [made, [cause, "way", [node]], starts, [step, "cut", [node], { code: op }]],
    facts: { op },
  };
}

/**
 * The gradient ends at a straight-through estimator, which is meant to pass it by, or at several places: none of them
 * is to be mended alone.
 */
function deliberateCutReason(
  facts: RunFacts,
  cuts: DataflowEdge[],
  call: BackwardCall,
  [made, starts]: MadeAndStartsLinks,
): GradNoneReason | null {
  const estimator = cuts.find((edge) => straightThroughEstimator(facts, edge));
  const first = estimator ?? cuts[0];
  if (!estimator && cuts.length < 2) return null;
  const places = cuts.map(({ step }) =>
    phrase("finding.grad_none.cut_place", { line: facts.lineOf(step), code: facts.statementFact(step) }),
  );
  const links = cuts.map(({ step, from, to }): Link => [step, "cut", [from, to]]);
  const passing = estimator && straightThroughEstimator(facts, estimator);
  const wayOn = facts.dataflow.shortestPath(first.to, call.roots, call.step) ?? [];
  const others = places.filter((_, k) => cuts[k] !== estimator);
  return {
    variant: passing ? "cut_straight_through" : "cut_several",
    severity: "warning",
    cause: first.step,
    chain: [made, ...links, starts],
    facts: {
      y: facts.nameFact(namedTensorBehindCut(facts, first, [first, ...wayOn]), first.step),
      value: facts.nameFact(passing?.value, first.step),
      estimate: facts.nameFact(passing?.estimate, first.step),
      others: others.length ? phrase("finding.grad_none.other_cuts", { places: others }) : "",
      places,
      loss: facts.nameFact(call.roots[0], call.step),
    },
  };
}

/** The first place on the way to the loss behind which nothing is recorded. */
function graphCutReason(
  facts: RunFacts,
  path: DataflowEdge[],
  [made, starts]: MadeAndStartsLinks,
  loss: Fact,
): GradNoneReason | null {
  const edge = path.find((each) => isGraphCut(facts, each));
  if (!edge) return null;
  const y = facts.nameFact(namedTensorBehindCut(facts, edge, path), edge.step);
  const isInference = facts.scan.initialFields(edge.to)?.bits?.includes("inference");
  const unrecorded = isInference ? "inference" : "no_grad";
  const reason = edge.cut?.reason ?? (edge.op?.grad_mode === false ? unrecorded : "detach");
  const checkpoint = reason === "no_grad" ? checkpointEndStep(facts, edge.step) : null;
  const cutKind = checkpoint === null ? reason : "checkpoint";
  const step = checkpoint ?? edge.step;
  return {
    variant: `cut_${cutKind}`,
    severity: "warning",
    cause: step,
    chain: [made, [step, "cut", [edge.from, edge.to]], starts],
    facts: { y, loss },
    fixes: [...(cutKind === "checkpoint" ? ["not_reentrant"] : []), "keep_history", ...fixKindsForGraphCut(reason)],
  };
}

/** A leaf that requires grad only since it was used: what was computed before knows nothing of it. */
function gradRequiredTooLateReason(
  facts: RunFacts,
  uid: string,
  path: DataflowEdge[],
  [made, starts]: MadeAndStartsLinks,
): GradNoneReason | null {
  const requiredLate = facts.history
    .fieldChanges(uid, "requires_grad")
    .find(({ value, step }) => value === true && step > path[0].step);
  if (!requiredLate) return null;
  const used = path[0].step;
  const required = requiredLate.step;
  return {
    variant: "required_late",
    severity: "warning",
    cause: required,
    chain: [made, [used, "way", [uid]], [required, "moved", [uid], { x: facts.nameFact(uid, required) }], starts],
    facts: { used: facts.lineOf(used) },
    fixes: ["move_before"],
    to: facts.place(used).line,
  };
}

/** The first tensor behind the cut that has a name, else the first. */
function namedTensorBehindCut(facts: RunFacts, edge: DataflowEdge, path: DataflowEdge[]) {
  const edgesAfter = path.slice(path.indexOf(edge));
  return edgesAfter.find(({ to }) => facts.scan.bindingsByUid.has(to))?.to ?? edge.to;
}

/** The last call of backward that began before a step. */
function lastBackwardBefore(facts: RunFacts, step: number) {
  return facts.backwardCalls.findLast((call) => call.api === "backward" && call.step < step);
}

/** The step at which a field last became what it is at a step. */
function lastFieldChangeStep(facts: RunFacts, uid: string, field: HistoryField, step: number) {
  return facts.history.fieldChanges(uid, field).findLast((change) => change.step <= step)?.step ?? facts.birthStep(uid);
}

/** A value that left torch, of what was computed from a tensor: `item()`, `numpy()`, `torch.tensor(x)`. */
function leftTorchReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const computedFrom = facts.dataflow.descendants(uid, step);
  // the number of a loss is printed or summed up; nothing is computed from it
  const isLoss = new Set(facts.backwardCalls.flatMap(({ roots }) => roots));
  const cut = facts
    .eventsOfKind("path_cut")
    .find(
      (event) =>
        event.step <= step &&
        isCutByLeavingTorch(facts, event) &&
        computedFrom.has(event.tensor) &&
        !isLoss.has(event.tensor),
    );
  if (!cut) return convertedToListReason(facts, computedFrom, step);
  const y = facts.nameFact(cut.tensor, cut.step);
  return {
    variant: `cut_${cut.reason}`,
    severity: "warning",
    cause: cut.step,
    chain: [[cut.step, "cut", [cut.tensor, cut.result], { x: y }]],
    facts: { y },
    fixes: ["keep_history"],
  };
}

/** Numbers that `tolist()` took out of torch, which no operation shows. */
function convertedToListReason(facts: RunFacts, computedFrom: Set<string>, step: number): GradNoneReason | null {
  for (let i = 0; i <= step; i++) {
    const [call] = ["statement", "return"].includes(facts.steps[i].kind) ? methodCalls(facts.syntax(i), "tolist") : [];
    const object = call ? receiver(call) : null;
    const tensorUid = object && (facts.resolve(object, i, i - 1) ?? facts.resolve(object, i));
    if (!tensorUid || !computedFrom.has(tensorUid) || !facts.history.valueAt(tensorUid, "requires_grad", i)) continue;
    const y = facts.nameFact(tensorUid, i - 1);
    const chain: Link[] = [[i, "cut", [tensorUid], { x: y }]];
    return { variant: "cut_item", severity: "warning", cause: i, chain, facts: { y }, fixes: ["keep_history"] };
  }
  return null;
}

function isCutByLeavingTorch(facts: RunFacts, { reason, step }: PathCutEvent) {
  if (["item", "numpy", "copy"].includes(reason)) return true;
  const isToArray = methodCalls(facts.syntax(step), "numpy", "tolist").length > 0;
  return ["detach", "data"].includes(reason) && isToArray;
}

/** The tensor that came to be called what this one was, where the loss was computed from that one. */
function replacementInLoss(
  facts: RunFacts,
  uid: string,
  call: BackwardCall,
): { name: string; after: string; step: number } | null {
  const renamings = facts.bindingsOf(uid).flatMap(({ name, frame, step }) => {
    const nextMeaning = facts.meaningsOf(frame, name).find((meaning) => meaning.step > step);
    return nextMeaning ? [{ name, after: nextMeaning.uid, step: nextMeaning.step }] : [];
  });
  const replacements = facts.attributeChanges.flatMap(({ before, after, name, step }) =>
    before === uid && after ? [{ name, after, step }] : [],
  );
  return (
    [...renamings, ...replacements].find(
      ({ after, step }) =>
        after !== uid &&
        after[0] === "t" &&
        step < call.step &&
        facts.dataflow.shortestPath(after, call.roots, call.step),
    ) ?? null
  );
}
