/**
 * The reasons for which a tensor has no `.grad` at a step, each with the step it goes back to and the way from there.
 */

import { chainLink, codeFact, phrase, type ChainLink, type Fact } from "../finding.ts";
import { checkpointEndStep } from "../graph/checkpoint_call.ts";
import { cutsBeforeBackward, isGraphCut, straightThrough } from "./graph_cuts.ts";
import { fixKindsForGraphCut } from "../graph/cut_fixes.ts";
import { dataflowOf, type DataflowEdge } from "../facts/dataflow.ts";
import { replacementInLoss } from "./replaced_tensor.ts";
import { tensorHistoryOf, type HistoryField } from "../facts/tensor_history.ts";
import { valueLeftTorchReason } from "./value_lost.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { BackwardCall } from "../facts/scan.ts";
import type { GradNoneReason } from "./grad_none_reason.ts";

/** Why a tensor's `.grad` is None at a step; null where the trace does not say why. */
export function gradNoneReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const history = tensorHistoryOf(facts);
  const tensor = facts.tensor(uid, step) ?? facts.tensor(uid, step - 1);
  if (!tensor) return null;
  if (history.valueAt(uid, "leaf", step) === false && !tensor.retains_grad) return nonLeafReason(facts, uid, step);
  if (!history.valueAt(uid, "requires_grad", step)) return gradNotRequiredReason(facts, uid, step);
  const lostChange = history
    .fieldChanges(uid, "grad")
    .findLast((change) => change.step <= step && change.value === null);
  if (lostChange && history.valueAt(uid, "grad", lostChange.step - 1))
    return gradResetReason(facts, uid, lostChange.step);
  return leafNotReachedReason(facts, uid, step);
}

function nonLeafReason(facts: RunFacts, uid: string, step: number): GradNoneReason {
  const gradFnStep = lastFieldChangeStep(facts, uid, "grad_fn", step);
  const x = facts.nameFact(uid, step);
  const nodeUid = tensorHistoryOf(facts).valueAt(uid, "grad_fn", step) as string | null;
  const op = facts.producingOperation(uid);
  const lastCall = lastBackwardBefore(facts, step);
  const startLinks = lastCall
    ? [
        chainLink(
          facts.placeOfBackward(lastCall),
          "starts",
          { code: facts.backwardStatementFact(lastCall) },
          lastCall.roots,
        ),
      ]
    : [];
  const leafUid = leafBeforeRebinding(facts, uid, gradFnStep);
  const chain = [
    ...(leafUid ? [chainLink(facts.place(facts.birthStep(leafUid)), "made", { x }, [leafUid])] : []),
    chainLink(facts.place(gradFnStep), leafUid ? "moved" : "made", { x, code: facts.statementFact(gradFnStep) }, [uid]),
    ...startLinks.filter((entry) => entry.step >= gradFnStep),
  ];
  const fixes = leafUid ? ["leaf_of_result", "retain_grad"] : ["retain_grad", "leaf_of_update"];
  return {
    variant: leafUid ? "moved_from_leaf" : "not_leaf",
    severity: "warning",
    cause: gradFnStep,
    chain,
    facts: {
      op: facts.nodeOperationName(nodeUid) || (op?.name ?? ""),
      code: facts.statementFact(gradFnStep),
    },
    fixes,
  };
}

/** The leaf that a name meant before it came, at a step, to mean this tensor, which was computed from it. */
function leafBeforeRebinding(facts: RunFacts, uid: string, step: number): string | null {
  const previousUid = tensorBeforeRebinding(facts, uid, step);
  if (!previousUid || tensorHistoryOf(facts).valueAt(previousUid, "leaf", step) !== true) return null;
  return tensorHistoryOf(facts).valueAt(previousUid, "requires_grad", step) ? previousUid : null;
}

/** The tensor that a name of this one meant until the step that gave it the name. */
function tensorBeforeRebinding(facts: RunFacts, uid: string, step: number): string | null {
  for (const { name, frame, step: bindingStep } of facts.scan.bindingsByUid.get(uid) ?? []) {
    const former = (facts.scan.meaningsByName.get(`${frame}/${name}`) ?? []).findLast(
      (meaning) => meaning.step < bindingStep,
    );
    if (bindingStep >= step && former?.uid[0] === "t" && former.uid !== uid) return former.uid;
  }
  return null;
}

function gradNotRequiredReason(facts: RunFacts, uid: string, step: number): GradNoneReason {
  const history = tensorHistoryOf(facts);
  const birth = facts.birthStep(uid);
  const x = facts.nameFact(uid, step);
  const requiredBefore = history
    .fieldChanges(uid, "requires_grad")
    .findLast(({ value, step: at }) => value && at <= step);
  if (requiredBefore) {
    const freezingStep = lastFieldChangeStep(facts, uid, "requires_grad", step);
    const chain = [chainLink(facts.place(freezingStep), "cut", { x, code: facts.statementFact(freezingStep) }, [uid])];
    return { variant: "frozen", severity: "note", cause: freezingStep, chain, facts: {}, fixes: [] };
  }
  const source = sourceBehindGraphCut(facts, uid);
  const formerUid = tensorBeforeRebinding(facts, uid, birth);
  const madeLink = chainLink(facts.place(birth), source ? "cut" : "made", { x, code: facts.statementFact(birth) }, [
    uid,
    source,
  ]);
  if (formerUid && history.valueAt(formerUid, "requires_grad", birth)) {
    const formerLink = chainLink(facts.place(facts.birthStep(formerUid)), "made", { x }, [formerUid]);
    const moved = { ...madeLink, role: "moved" as const };
    return {
      variant: "name_moved",
      severity: "warning",
      cause: birth,
      chain: [formerLink, moved],
      facts: {},
      fixes: ["in_place"],
    };
  }
  if (source) {
    return {
      variant: "made_without_graph",
      severity: "warning",
      cause: birth,
      chain: [madeLink],
      facts: { from: facts.nameFact(source, birth) },
      fixes: ["keep_history"],
    };
  }
  return {
    variant: "not_required",
    severity: "note",
    cause: birth,
    chain: [madeLink],
    facts: {},
    fixes: ["require_grad"],
  };
}

/** The tensor that requires grad of which this one was computed without its history. */
function sourceBehindGraphCut(facts: RunFacts, uid: string) {
  const edges = dataflowOf(facts).edgesInto.get(uid) ?? [];
  const requires = ({ from, step }: DataflowEdge) => tensorHistoryOf(facts).valueAt(from, "requires_grad", step);
  return edges.find((edge) => edge.cut ?? requires(edge))?.from ?? null;
}

function gradResetReason(facts: RunFacts, uid: string, at: number): GradNoneReason {
  const x = facts.nameFact(uid, at);
  const accumulated = facts
    .eventsOfKind("grad_accumulated")
    .findLast(({ tensor, step }) => tensor === uid && step < at);
  const chain = [
    ...(accumulated ? [chainLink(facts.place(accumulated.step), "gradient", { x }, [uid])] : []),
    chainLink(facts.place(at), "cut", { x, code: facts.statementFact(at) }, [uid]),
  ];
  return {
    variant: "reset",
    severity: "note",
    cause: at,
    chain,
    facts: { code: facts.statementFact(at) },
    fixes: ["zero_grad_later"],
  };
}

/** A leaf that requires grad, and no backward has come to it. */
function leafNotReachedReason(facts: RunFacts, uid: string, step: number): GradNoneReason | null {
  const x = facts.nameFact(uid, step);
  const birth = facts.birthStep(uid);
  const madeLink = chainLink(facts.place(birth), "made", { x }, [uid]);
  const running = facts.backwardAt(step);
  const laterStep = running ? stepOfUpcomingGradient(facts, uid, running, step) : null;
  if (running && laterStep !== null) {
    const start = chainLink(
      facts.place(running.step),
      "starts",
      { code: facts.statementFact(running.step) },
      running.roots,
    );
    const chain = [madeLink, start, chainLink(facts.place(laterStep), "gradient", { x }, [uid])];
    return { variant: "not_yet", severity: "note", cause: running.step, chain, facts: {}, fixes: [] };
  }
  const call = lastBackwardBefore(facts, step);
  if (!call || call.step < birth) {
    return noBackwardYetReason(facts, uid, step, madeLink);
  }
  const startLink = chainLink(
    facts.placeOfBackward(call),
    "starts",
    { code: facts.backwardStatementFact(call) },
    call.roots,
  );
  const madeAndStart = [madeLink, startLink] as [ChainLink, ChainLink];
  const loss = facts.nameFact(call.roots[0], call.step);
  if (call.inputs.length && !call.inputs.includes(uid))
    return { variant: "inputs", severity: "note", cause: call.step, chain: madeAndStart, facts: { loss }, fixes: [] };
  const silentNode = nodeThatSentNoGradient(facts, uid, call);
  if (silentNode) return backwardReturnedNoneReason(facts, x, silentNode, madeAndStart);
  const path = dataflowOf(facts).shortestPath(uid, call.roots, call.step);
  const deliberate = path && deliberateCutReason(facts, x, cutsBeforeBackward(facts, uid, call), call, madeAndStart);
  if (deliberate) return deliberate;
  if (path)
    return (
      graphCutReason(facts, x, path, madeAndStart, loss) ?? gradRequiredTooLateReason(facts, uid, path, madeAndStart)
    );
  const lost = valueLeftTorchReason(facts, uid, call.step);
  if (lost) return { ...lost, chain: [madeLink, ...lost.chain, startLink], facts: { ...lost.facts, loss } };
  const other = replacementInLoss(facts, uid, call);
  if (other) {
    const moved = chainLink(
      facts.place(other.step),
      "moved",
      { x: codeFact(other.name), code: facts.statementFact(other.step) },
      [uid, other.after],
    );
    return {
      variant: "replaced",
      severity: "warning",
      cause: other.step,
      chain: [madeLink, moved, startLink],
      facts: { loss, name: codeFact(other.name) },
      fixes: [],
    };
  }
  return {
    variant: "unused",
    severity: "warning",
    cause: call.step,
    chain: madeAndStart,
    facts: { loss },
    fixes: [],
  };
}

/** No backward has run since the leaf was made: only `autograd.grad`, which stores nothing, or one that comes later,
 * or none. */
function noBackwardYetReason(facts: RunFacts, uid: string, step: number, madeLink: ChainLink): GradNoneReason {
  const gradCall = facts.backwardCalls.findLast(
    (call) => call.api === "grad" && call.step <= step && call.step >= madeLink.step,
  );
  const startOf = (call: BackwardCall) =>
    chainLink(facts.placeOfBackward(call), "starts", { code: facts.backwardStatementFact(call) }, call.roots);
  const reason = { severity: "note" as const, facts: {}, fixes: [] };
  if (gradCall)
    return { ...reason, variant: "autograd_grad", cause: gradCall.step, chain: [madeLink, startOf(gradCall)] };
  const laterAccumulation = facts
    .eventsOfKind("grad_accumulated")
    .find((event) => event.tensor === uid && event.step > step && facts.backwardAt(event.step));
  const call = laterAccumulation ? facts.backwardAt(laterAccumulation.step) : undefined;
  if (!call) return { ...reason, variant: "no_backward", cause: step, chain: [madeLink] };
  const lineFact = { later: facts.steps[call.step].line };
  return { ...reason, variant: "before_backward", cause: step, chain: [madeLink, startOf(call)], facts: lineFact };
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
      const step = facts.index.visitStepsByNode.get(node)?.find((at) => facts.steps[at].visit?.backward === call.uid);
      const visit = step === undefined ? null : facts.steps[step].visit;
      if (step !== undefined && visit && !visit.failed && !visit.grad_inputs[edge]) return { node, step };
    }
  return null;
}

function backwardReturnedNoneReason(
  facts: RunFacts,
  x: Fact,
  { node, step }: { node: string; step: number },
  [madeLink, startLink]: [ChainLink, ChainLink],
): GradNoneReason {
  const cause = facts.birthStep(node);
  const op = facts.nodeOperationName(node);
  const chain = [
    madeLink,
    chainLink(facts.place(cause), "way", { x, code: facts.statementFact(cause) }, [node]),
    startLink,
    chainLink(facts.place(step), "cut", { x, code: op }, [node]),
  ];
  return {
    variant: "returned_none",
    severity: "warning",
    cause,
    chain,
    facts: { op, code: facts.statementFact(cause) },
    fixes: [],
  };
}

/**
 * The gradient ends at a straight-through estimator, which is meant to pass it by, or at several places: none of them
 * is to be mended alone.
 */
function deliberateCutReason(
  facts: RunFacts,
  x: Fact,
  cuts: DataflowEdge[],
  call: BackwardCall,
  [madeLink, startLink]: [ChainLink, ChainLink],
): GradNoneReason | null {
  const estimator = cuts.find((edge) => straightThrough(facts, edge));
  const first = estimator ?? cuts[0];
  if (!estimator && cuts.length < 2) return null;
  const places = cuts.map(({ step }) =>
    phrase("finding.grad_none.cut_place", { line: facts.lineOf(step), code: facts.statementFact(step) }),
  );
  const links = cuts.map(({ step, from, to }) =>
    chainLink(facts.place(step), "cut", { x, code: facts.statementFact(step) }, [from, to]),
  );
  const passing = estimator && straightThrough(facts, estimator);
  const wayOn = dataflowOf(facts).shortestPath(first.to, call.roots, call.step) ?? [];
  const others = places.filter((_, k) => cuts[k] !== estimator);
  return {
    variant: passing ? "cut_straight_through" : "cut_several",
    severity: "warning",
    cause: first.step,
    chain: [madeLink, ...links, startLink],
    facts: {
      y: facts.nameFact(namedTensorBehindCut(facts, first, [first, ...wayOn]), first.step),
      value: facts.nameFact(passing?.value, first.step),
      estimate: facts.nameFact(passing?.estimate, first.step),
      others: others.length ? phrase("finding.grad_none.other_cuts", { places: others }) : "",
      places,
      loss: facts.nameFact(call.roots[0], call.step),
      code: facts.statementFact(first.step),
    },
    fixes: [],
  };
}

/** The first place on the way to the loss behind which nothing is recorded. */
function graphCutReason(
  facts: RunFacts,
  x: Fact,
  path: DataflowEdge[],
  [madeLink, startLink]: [ChainLink, ChainLink],
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
  const cut = chainLink(facts.place(step), "cut", { x, y, code: facts.statementFact(step) }, [edge.from, edge.to]);
  const fixes = [
    ...(cutKind === "checkpoint" ? ["not_reentrant"] : []),
    "keep_history",
    ...fixKindsForGraphCut(reason),
  ];
  return {
    variant: `cut_${cutKind}`,
    severity: "warning",
    cause: step,
    chain: [madeLink, cut, startLink],
    facts: { y, loss, code: facts.statementFact(step) },
    fixes,
  };
}

/** A leaf that requires grad only since it was used: what was computed before knows nothing of it. */
function gradRequiredTooLateReason(
  facts: RunFacts,
  uid: string,
  path: DataflowEdge[],
  [madeLink, startLink]: [ChainLink, ChainLink],
): GradNoneReason | null {
  const requiredLate = tensorHistoryOf(facts)
    .fieldChanges(uid, "requires_grad")
    .find(({ value, step }) => value === true && step > path[0].step);
  if (!requiredLate) return null;
  const usePlace = facts.place(path[0].step);
  const x = facts.nameFact(uid, requiredLate.step);
  const moved = chainLink(
    facts.place(requiredLate.step),
    "moved",
    { x, code: facts.statementFact(requiredLate.step) },
    [uid],
  );
  return {
    variant: "required_late",
    severity: "warning",
    cause: requiredLate.step,
    chain: [
      madeLink,
      chainLink(usePlace, "way", { code: facts.statementFact(usePlace.step) }, [uid]),
      moved,
      startLink,
    ],
    facts: { used: usePlace.line, code: facts.statementFact(requiredLate.step) },
    fixes: ["move_before"],
    to: usePlace.line,
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
  return (
    tensorHistoryOf(facts)
      .fieldChanges(uid, field)
      .findLast((change) => change.step <= step)?.step ?? facts.birthStep(uid)
  );
}
