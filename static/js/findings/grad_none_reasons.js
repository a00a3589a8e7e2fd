/** The reasons for which a tensor has no `.grad` at a step, each with the step it goes back to and the way from there. */

import { code, link } from "./finding.js";
import { checkpointStep } from "./checkpoint_call.js";
import { cutFixes } from "./cut_fixes.js";
import { dataflow } from "./dataflow.js";
import { replacementBefore } from "./replaced_tensor.js";
import { tensorHistory } from "./tensor_history.js";
import { valueLeftTorch } from "./value_lost.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Link} Link */
/** @typedef {import("./finding.js").Facts} Facts */
/** @typedef {import("./dataflow.js").Edge} Edge */
/**
 * @typedef {{variant: string, severity: import("./finding.js").Severity, cause: number, chain: Link[], facts: Facts,
 *   fixes: string[], to?: number}} Reason   cause: a step; to: another line that the fixes need, else where it was read
 */

/**
 * @param {RunFacts} facts @param {string} uid of the tensor @param {number} step at which `.grad` is None
 * @returns {Reason | null} null where the trace does not say why
 */
export function reasonFor(facts, uid, step) {
  const history = tensorHistory(facts);
  const tensor = facts.tensor(uid, step) ?? facts.tensor(uid, step - 1);
  if (!tensor) return null;
  if (history.valueAt(uid, "leaf", step) === false && !tensor.retains_grad) return notALeaf(facts, uid, step);
  if (!history.valueAt(uid, "requires_grad", step)) return gradientNotRequired(facts, uid, step);
  const lostChange = history.changes(uid, "grad").findLast((change) => change.step <= step && change.value === null);
  if (lostChange && history.valueAt(uid, "grad", lostChange.step - 1)) return resetReason(facts, uid, lostChange.step);
  return notReached(facts, uid, step);
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @returns {Reason} */
function notALeaf(facts, uid, step) {
  const gradFnStep = lastChangeOf(facts, uid, "grad_fn", step);
  const x = facts.nameFact(uid, step);
  const nodeUid = /** @type {string | null} */ (tensorHistory(facts).valueAt(uid, "grad_fn", step));
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

/** The leaf that a name meant before it came to mean this tensor, which was computed from it.
 * @param {RunFacts} facts @param {string} uid @param {number} step of the change @returns {string | null} */
function leafBefore(facts, uid, step) {
  const previousUid = previousMeaning(facts, uid, step);
  if (!previousUid || tensorHistory(facts).valueAt(previousUid, "leaf", step) !== true) return null;
  return tensorHistory(facts).valueAt(previousUid, "requires_grad", step) ? previousUid : null;
}

/** The tensor that a name of this one meant until the step that gave it the name. @param {RunFacts} facts @param {string} uid
 * @param {number} step @returns {string | null} */
function previousMeaning(facts, uid, step) {
  for (const { name, frame, step: bindingStep } of facts.scan.bindings.get(uid) ?? []) {
    const former = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).findLast(
      (meaning) => meaning.step < bindingStep,
    );
    if (bindingStep >= step && former?.uid[0] === "t" && former.uid !== uid) return former.uid;
  }
  return null;
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @returns {Reason} */
function gradientNotRequired(facts, uid, step) {
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
    const moved = { ...madeLink, role: /** @type {const} */ ("moved") };
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

/** The tensor that requires grad of which this one was computed without its history. @param {RunFacts} facts @param {string} uid */
function cutSource(facts, uid) {
  const edges = dataflow(facts).edgesInto.get(uid) ?? [];
  const requires = (/** @type {Edge} */ { from, step }) => tensorHistory(facts).valueAt(from, "requires_grad", step);
  return edges.find((edge) => edge.cut ?? requires(edge))?.from ?? null;
}

/** @param {RunFacts} facts @param {string} uid @param {number} at @returns {Reason} */
function resetReason(facts, uid, at) {
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

/** A leaf that requires grad, and no backward has come to it. @param {RunFacts} facts @param {string} uid @param {number} step
 * @returns {Reason | null} */
function notReached(facts, uid, step) {
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
  const madeAndStart = /** @type {[Link, Link]} */ ([madeLink, startLink]);
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

/** No backward has run since the leaf was made: only `autograd.grad`, which stores nothing, or one that comes later, or none.
 * @param {RunFacts} facts @param {string} uid @param {number} step @param {Link} madeLink @returns {Reason} */
function beforeBackward(facts, uid, step, madeLink) {
  const gradCall = facts.backwards.findLast(
    (call) => call.api === "grad" && call.step <= step && call.step >= madeLink.step,
  );
  const startOf = (/** @type {import("./scan.js").BackwardCall} */ call) =>
    link(facts.place(call.step), "starts", { code: facts.codeFact(call.step) }, call.roots);
  const reason = { severity: /** @type {const} */ ("note"), facts: {}, fixes: [] };
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

/** The step at which a backward that still runs will come to a leaf. @param {RunFacts} facts @param {string} uid
 * @param {import("./scan.js").BackwardCall} call @param {number} step */
function laterArrivalStep(facts, uid, call, step) {
  const visits = facts.index.visits.get(call.uid) ?? [];
  return visits.find((visit) => visit.step > step && facts.steps[visit.step].visit?.accumulates === uid)?.step ?? null;
}

/** A node that a backward ran and that sent nothing on to a leaf. @param {RunFacts} facts @param {string} uid
 * @param {import("./scan.js").BackwardCall} call @returns {{node: string, step: number} | null} */
function silentNodeBefore(facts, uid, call) {
  for (const leafUid of facts.index.accumulatorsOf(uid, call.step))
    for (const { node, edge } of facts.index.edgesInto(leafUid, call.step)) {
      const step = facts.index.visitsOf.get(node)?.find((at) => facts.steps[at].visit?.backward === call.uid);
      const visit = step === undefined ? null : facts.steps[step].visit;
      if (step !== undefined && visit && !visit.failed && !visit.grad_inputs[edge]) return { node, step };
    }
  return null;
}

/** @param {RunFacts} facts @param {import("./finding.js").Fact} x @param {{node: string, step: number}} refused
 * @param {[Link, Link]} ends @returns {Reason} */
function returnedNone(facts, x, { node, step }, [madeLink, startLink]) {
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

/** The first place on the way to the loss behind which nothing is recorded. @param {RunFacts} facts
 * @param {import("./finding.js").Fact} x @param {Edge[]} path @param {[Link, Link]} ends @param {import("./finding.js").Fact} loss
 * @returns {Reason | null} */
function cutOnTheWay(facts, x, path, [madeLink, startLink], loss) {
  const history = tensorHistory(facts);
  const required = (/** @type {string} */ uid, /** @type {number} */ at) => history.valueAt(uid, "requires_grad", at);
  const leadsToNewLeaf = (/** @type {Edge} */ { to, op }) => !op && history.changes(to, "leaf")[0]?.value === true;
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

/** A leaf that requires grad only since it was used: what was computed before knows nothing of it. @param {RunFacts} facts
 * @param {string} uid @param {Edge[]} path @param {[Link, Link]} ends @returns {Reason | null} */
function requiredTooLate(facts, uid, path, [madeLink, startLink]) {
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

/** The first tensor behind the cut that has a name, else the first. @param {RunFacts} facts @param {Edge} edge @param {Edge[]} path */
function namedBehindCut(facts, edge, path) {
  const edgesAfter = path.slice(path.indexOf(edge));
  return edgesAfter.find(({ to }) => facts.scan.bindings.has(to))?.to ?? edge.to;
}

/** Whether a tensor required grad as it was made. @param {RunFacts} facts @param {string} uid */
function requiredWhenMade(facts, uid) {
  const op = facts.producer(uid);
  const outputIndex = op ? op.outputs.indexOf(uid) : -1;
  return op && op.requires_grad[outputIndex] !== null
    ? op.requires_grad[outputIndex]
    : tensorHistory(facts).changes(uid, "requires_grad")[0]?.value;
}

/** The last call of backward that began before a step. @param {RunFacts} facts @param {number} step */
function lastBackward(facts, step) {
  return facts.backwards.findLast((call) => call.api === "backward" && call.step < step);
}

/** The step at which a field last became what it is at a step. @param {RunFacts} facts @param {string} uid
 * @param {import("./tensor_history.js").HistoryField} field @param {number} step */
function lastChangeOf(facts, uid, field, step) {
  return (
    tensorHistory(facts)
      .changes(uid, field)
      .findLast((change) => change.step <= step)?.step ?? facts.birth(uid)
  );
}
