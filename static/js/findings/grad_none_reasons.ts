/** The reasons for which a tensor has no `.grad` at a step, each with the step it goes back to and the way from there. */

import { code, link, type Fact, type Link } from "./finding.ts";
import { checkpointStep } from "./checkpoint_call.ts";
import { cutFixes } from "./cut_fixes.ts";
import { dataflow, type Edge } from "./dataflow.ts";
import { replacementBefore } from "./replaced_tensor.ts";
import { tensorHistory, type HistoryField } from "./tensor_history.ts";
import { valueLeftTorch } from "./value_lost.ts";
import type { RunFacts } from "./run_facts.ts";
import type { BackwardCall } from "./scan.ts";
import type { Reason } from "./grad_none_reason.ts";

/** @param uid of the tensor @param step at which `.grad` is None @returns null where the trace does not say why */
export function reasonFor(facts: RunFacts, uid: string, step: number): Reason | null {
  const history = tensorHistory(facts);
  const tensor = facts.tensor(uid, step) ?? facts.tensor(uid, step - 1);
  if (!tensor) return null;
  if (history.valueAt(uid, "leaf", step) === false && !tensor.retains_grad) return notALeaf(facts, uid, step);
  if (!history.valueAt(uid, "requires_grad", step)) return gradientNotRequired(facts, uid, step);
  const lostChange = history.changes(uid, "grad").findLast((change) => change.step <= step && change.value === null);
  if (lostChange && history.valueAt(uid, "grad", lostChange.step - 1)) return resetReason(facts, uid, lostChange.step);
  return notReached(facts, uid, step);
}

function notALeaf(facts: RunFacts, uid: string, step: number): Reason {
  const gradFnStep = lastChangeOf(facts, uid, "grad_fn", step);
  const x = facts.nameFact(uid, step);
  const nodeUid = tensorHistory(facts).valueAt(uid, "grad_fn", step) as string | null;
  const op = facts.producer(uid);
  const reasonFacts = { op: facts.operation(nodeUid) || (op?.name ?? ""), code: facts.codeFact(gradFnStep) };
  const lastCall = lastBackward(facts, step);
  const startLinks = lastCall
    ? [link(facts.place(lastCall.end), "starts", { code: facts.codeFact(lastCall.step) }, lastCall.roots)]
    : [];
  const leafUid = leafBefore(facts, uid, gradFnStep);
  const chain = [
    ...(leafUid ? [link(facts.place(facts.birth(leafUid)), "made", { x }, [leafUid])] : []),
    link(facts.place(gradFnStep), leafUid ? "moved" : "made", { x, code: facts.codeFact(gradFnStep) }, [uid]),
    ...startLinks.filter((entry) => entry.step >= gradFnStep),
  ];
  const fixes = leafUid ? ["leaf_of_result", "retain_grad"] : ["retain_grad", "leaf_of_update"];
  return {
    variant: leafUid ? "moved_from_leaf" : "not_leaf",
    severity: "warning",
    cause: gradFnStep,
    chain,
    facts: reasonFacts,
    fixes,
  };
}

/**
 * The leaf that a name meant before it came to mean this tensor, which was computed from it.
 * @param step of the change
 */
function leafBefore(facts: RunFacts, uid: string, step: number): string | null {
  const previousUid = previousMeaning(facts, uid, step);
  if (!previousUid || tensorHistory(facts).valueAt(previousUid, "leaf", step) !== true) return null;
  return tensorHistory(facts).valueAt(previousUid, "requires_grad", step) ? previousUid : null;
}

/** The tensor that a name of this one meant until the step that gave it the name. */
function previousMeaning(facts: RunFacts, uid: string, step: number): string | null {
  for (const { name, frame, step: bindingStep } of facts.scan.bindings.get(uid) ?? []) {
    const former = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).findLast(
      (meaning) => meaning.step < bindingStep,
    );
    if (bindingStep >= step && former?.uid[0] === "t" && former.uid !== uid) return former.uid;
  }
  return null;
}

function gradientNotRequired(facts: RunFacts, uid: string, step: number): Reason {
  const history = tensorHistory(facts);
  const birth = facts.birth(uid);
  const x = facts.nameFact(uid, step);
  const requiredBefore = history.changes(uid, "requires_grad").findLast(({ value, step: at }) => value && at <= step);
  if (requiredBefore) {
    const freezingStep = lastChangeOf(facts, uid, "requires_grad", step);
    const chain = [link(facts.place(freezingStep), "cut", { x, code: facts.codeFact(freezingStep) }, [uid])];
    return { variant: "frozen", severity: "note", cause: freezingStep, chain, facts: {}, fixes: [] };
  }
  const source = cutSource(facts, uid);
  const formerUid = previousMeaning(facts, uid, birth);
  const madeLink = link(facts.place(birth), source ? "cut" : "made", { x, code: facts.codeFact(birth) }, [uid, source]);
  if (formerUid && history.valueAt(formerUid, "requires_grad", birth)) {
    const formerLink = link(facts.place(facts.birth(formerUid)), "made", { x }, [formerUid]);
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
    const reasonFacts = { from: facts.nameFact(source, birth) };
    return {
      variant: "made_without_graph",
      severity: "warning",
      cause: birth,
      chain: [madeLink],
      facts: reasonFacts,
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
function cutSource(facts: RunFacts, uid: string) {
  const edges = dataflow(facts).edgesInto.get(uid) ?? [];
  const requires = ({ from, step }: Edge) => tensorHistory(facts).valueAt(from, "requires_grad", step);
  return edges.find((edge) => edge.cut ?? requires(edge))?.from ?? null;
}

function resetReason(facts: RunFacts, uid: string, at: number): Reason {
  const x = facts.nameFact(uid, at);
  const accumulated = facts.events("grad_accumulated").findLast(({ tensor, step }) => tensor === uid && step < at);
  const chain = [
    ...(accumulated ? [link(facts.place(accumulated.step), "gradient", { x }, [uid])] : []),
    link(facts.place(at), "cut", { x, code: facts.codeFact(at) }, [uid]),
  ];
  return {
    variant: "reset",
    severity: "note",
    cause: at,
    chain,
    facts: { code: facts.codeFact(at) },
    fixes: ["zero_grad_later"],
  };
}

/** A leaf that requires grad, and no backward has come to it. */
function notReached(facts: RunFacts, uid: string, step: number): Reason | null {
  const x = facts.nameFact(uid, step);
  const birth = facts.birth(uid);
  const madeLink = link(facts.place(birth), "made", { x }, [uid]);
  const running = facts.backwardAt(step);
  const laterStep = running ? laterArrivalStep(facts, uid, running, step) : null;
  if (running && laterStep !== null) {
    const start = link(facts.place(running.step), "starts", { code: facts.codeFact(running.step) }, running.roots);
    const chain = [madeLink, start, link(facts.place(laterStep), "gradient", { x }, [uid])];
    return { variant: "not_yet", severity: "note", cause: running.step, chain, facts: {}, fixes: [] };
  }
  const call = lastBackward(facts, step);
  if (!call || call.step < birth) {
    return beforeBackward(facts, uid, step, madeLink);
  }
  const startLink = link(facts.place(call.step), "starts", { code: facts.codeFact(call.step) }, call.roots);
  const madeAndStart = [madeLink, startLink] as [Link, Link];
  const loss = facts.nameFact(call.roots[0], call.step);
  if (call.inputs.length && !call.inputs.includes(uid))
    return { variant: "inputs", severity: "note", cause: call.step, chain: madeAndStart, facts: { loss }, fixes: [] };
  const silentNode = silentNodeBefore(facts, uid, call);
  if (silentNode) return returnedNone(facts, x, silentNode, madeAndStart);
  const path = dataflow(facts).shortestPath(uid, call.roots, call.step);
  if (path) return cutOnTheWay(facts, x, path, madeAndStart, loss) ?? requiredTooLate(facts, uid, path, madeAndStart);
  const lost = valueLeftTorch(facts, uid, call.step);
  if (lost) return { ...lost, chain: [madeLink, ...lost.chain, startLink], facts: { ...lost.facts, loss } };
  const other = replacementBefore(facts, uid, call);
  if (other) {
    const moved = link(facts.place(other.step), "moved", { x: code(other.name), code: facts.codeFact(other.step) }, [
      uid,
      other.after,
    ]);
    const reasonFacts = { loss, name: code(other.name) };
    return {
      variant: "replaced",
      severity: "warning",
      cause: other.step,
      chain: [madeLink, moved, startLink],
      facts: reasonFacts,
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
function beforeBackward(facts: RunFacts, uid: string, step: number, madeLink: Link): Reason {
  const gradCall = facts.backwards.findLast(
    (call) => call.api === "grad" && call.step <= step && call.step >= madeLink.step,
  );
  const startOf = (call: BackwardCall) =>
    link(facts.place(call.step), "starts", { code: facts.codeFact(call.step) }, call.roots);
  const reason = { severity: "note" as const, facts: {}, fixes: [] };
  if (gradCall)
    return { ...reason, variant: "autograd_grad", cause: gradCall.step, chain: [madeLink, startOf(gradCall)] };
  const laterAccumulation = facts
    .events("grad_accumulated")
    .find((event) => event.tensor === uid && event.step > step && facts.backwardAt(event.step));
  const call = laterAccumulation ? facts.backwardAt(laterAccumulation.step) : undefined;
  if (!call) return { ...reason, variant: "no_backward", cause: step, chain: [madeLink] };
  const lineFact = { later: facts.steps[call.step].line };
  return { ...reason, variant: "before_backward", cause: step, chain: [madeLink, startOf(call)], facts: lineFact };
}

/** The step at which a backward that still runs will come to a leaf. */
function laterArrivalStep(facts: RunFacts, uid: string, call: BackwardCall, step: number) {
  const visits = facts.index.visitsByBackward.get(call.uid) ?? [];
  return visits.find((visit) => visit.step > step && facts.steps[visit.step].visit?.accumulates === uid)?.step ?? null;
}

/** A node that a backward ran and that sent nothing on to a leaf. */
function silentNodeBefore(facts: RunFacts, uid: string, call: BackwardCall): { node: string; step: number } | null {
  for (const leafUid of facts.index.accumulatorsOfTensor(uid, call.step))
    for (const { node, edge } of facts.index.edgesLeadingTo(leafUid, call.step)) {
      const step = facts.index.visitStepsByNode.get(node)?.find((at) => facts.steps[at].visit?.backward === call.uid);
      const visit = step === undefined ? null : facts.steps[step].visit;
      if (step !== undefined && visit && !visit.failed && !visit.grad_inputs[edge]) return { node, step };
    }
  return null;
}

function returnedNone(
  facts: RunFacts,
  x: Fact,
  { node, step }: { node: string; step: number },
  [madeLink, startLink]: [Link, Link],
): Reason {
  const cause = facts.birth(node);
  const op = facts.operation(node);
  const chain = [
    madeLink,
    link(facts.place(cause), "way", { x, code: facts.codeFact(cause) }, [node]),
    startLink,
    link(facts.place(step), "cut", { x, code: op }, [node]),
  ];
  return {
    variant: "returned_none",
    severity: "warning",
    cause,
    chain,
    facts: { op, code: facts.codeFact(cause) },
    fixes: [],
  };
}

/** The first place on the way to the loss behind which nothing is recorded. */
function cutOnTheWay(
  facts: RunFacts,
  x: Fact,
  path: Edge[],
  [madeLink, startLink]: [Link, Link],
  loss: Fact,
): Reason | null {
  const history = tensorHistory(facts);
  const required = (uid: string, at: number) => history.valueAt(uid, "requires_grad", at);
  const leadsToNewLeaf = ({ to, op }: Edge) => !op && history.changes(to, "leaf")[0]?.value === true;
  const edge = path.find(
    (each) =>
      each.cut || (required(each.from, each.step) && (!requiredWhenMade(facts, each.to) || leadsToNewLeaf(each))),
  );
  if (!edge) return null;
  const y = facts.nameFact(namedBehindCut(facts, edge, path), edge.step);
  const reason = edge.cut?.reason ?? (edge.op?.grad_mode === false ? "no_grad" : "detach");
  const checkpoint = reason === "no_grad" ? checkpointStep(facts, edge.step) : null;
  const cutKind = checkpoint === null ? reason : "checkpoint";
  const step = checkpoint ?? edge.step;
  const cut = link(facts.place(step), "cut", { x, y, code: facts.codeFact(step) }, [edge.from, edge.to]);
  const reasonFacts = { y, loss, code: facts.codeFact(step) };
  const fixes = [...(cutKind === "checkpoint" ? ["not_reentrant"] : []), "keep_history", ...cutFixes(reason)];
  return {
    variant: `cut_${cutKind}`,
    severity: "warning",
    cause: step,
    chain: [madeLink, cut, startLink],
    facts: reasonFacts,
    fixes,
  };
}

/** A leaf that requires grad only since it was used: what was computed before knows nothing of it. */
function requiredTooLate(
  facts: RunFacts,
  uid: string,
  path: Edge[],
  [madeLink, startLink]: [Link, Link],
): Reason | null {
  const requiredLate = tensorHistory(facts)
    .changes(uid, "requires_grad")
    .find(({ value, step }) => value === true && step > path[0].step);
  if (!requiredLate) return null;
  const usePlace = facts.place(path[0].step);
  const x = facts.nameFact(uid, requiredLate.step);
  const moved = link(facts.place(requiredLate.step), "moved", { x, code: facts.codeFact(requiredLate.step) }, [uid]);
  return {
    variant: "required_late",
    severity: "warning",
    cause: requiredLate.step,
    chain: [madeLink, link(usePlace, "way", { code: facts.codeFact(usePlace.step) }, [uid]), moved, startLink],
    facts: { used: usePlace.line, code: facts.codeFact(requiredLate.step) },
    fixes: ["move_before"],
    to: usePlace.line,
  };
}

/** The first tensor behind the cut that has a name, else the first. */
function namedBehindCut(facts: RunFacts, edge: Edge, path: Edge[]) {
  const edgesAfter = path.slice(path.indexOf(edge));
  return edgesAfter.find(({ to }) => facts.scan.bindings.has(to))?.to ?? edge.to;
}

/** Whether a tensor required grad as it was made. */
function requiredWhenMade(facts: RunFacts, uid: string) {
  const op = facts.producer(uid);
  const outputIndex = op ? op.outputs.indexOf(uid) : -1;
  return op && op.requires_grad[outputIndex] !== null
    ? op.requires_grad[outputIndex]
    : tensorHistory(facts).changes(uid, "requires_grad")[0]?.value;
}

/** The last call of backward that began before a step. */
function lastBackward(facts: RunFacts, step: number) {
  return facts.backwards.findLast((call) => call.api === "backward" && call.step < step);
}

/** The step at which a field last became what it is at a step. */
function lastChangeOf(facts: RunFacts, uid: string, field: HistoryField, step: number) {
  return (
    tensorHistory(facts)
      .changes(uid, field)
      .findLast((change) => change.step <= step)?.step ?? facts.birth(uid)
  );
}
