/** The reasons for which a tensor has no `.grad` at a step, each with the step it goes back to and the way from there. */

import { code, link } from "./finding.js";
import { checkpointStep } from "./checkpoint_call.js";
import { cutFixes } from "./cut_fixes.js";
import { dataflow } from "./dataflow.js";
import { replacedBy } from "./replaced_tensor.js";
import { tensorHistory } from "./tensor_history.js";
import { valueLost } from "./value_lost.js";

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
  if (history.value(uid, "leaf", step) === false && !tensor.retains_grad) return notALeaf(facts, uid, step);
  if (!history.value(uid, "requires_grad", step)) return gradientNotRequired(facts, uid, step);
  const lost = history.changes(uid, "grad").findLast((change) => change.step <= step && change.value === null);
  if (lost && history.value(uid, "grad", lost.step - 1)) return resetReason(facts, uid, lost.step);
  return notReached(facts, uid, step);
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @returns {Reason} */
function notALeaf(facts, uid, step) {
  const gradFnStep = lastChangeOf(facts, uid, "grad_fn", step);
  const x = facts.nameFact(uid, step);
  const nodeUid = /** @type {string | null} */ (tensorHistory(facts).value(uid, "grad_fn", step));
  const op = facts.producer(uid);
  const said = { op: facts.operation(nodeUid) || (op?.name ?? ""), code: facts.codeFact(gradFnStep) };
  const start = lastBackward(facts, step);
  const starts = start
    ? [link(facts.place(start.end), "starts", { code: facts.codeFact(start.step) }, start.roots)]
    : [];
  const leafUid = leafBefore(facts, uid, gradFnStep);
  const chain = [
    ...(leafUid ? [link(facts.place(facts.birth(leafUid)), "made", { x }, [leafUid])] : []),
    link(facts.place(gradFnStep), leafUid ? "moved" : "made", { x, code: facts.codeFact(gradFnStep) }, [uid]),
    ...starts.filter((entry) => entry.step >= gradFnStep),
  ];
  const fixes = leafUid ? ["leaf_of_result", "retain_grad"] : ["retain_grad", "leaf_of_update"];
  return {
    variant: leafUid ? "moved_from_leaf" : "not_leaf",
    severity: "warning",
    cause: gradFnStep,
    chain,
    facts: said,
    fixes,
  };
}

/** The leaf that a name meant before it came to mean this tensor, which was computed from it.
 * @param {RunFacts} facts @param {string} uid @param {number} step of the change @returns {string | null} */
function leafBefore(facts, uid, step) {
  const before = previousMeaning(facts, uid, step);
  if (!before || tensorHistory(facts).value(before, "leaf", step) !== true) return null;
  return tensorHistory(facts).value(before, "requires_grad", step) ? before : null;
}

/** The tensor that a name of this one meant until the step that gave it the name. @param {RunFacts} facts @param {string} uid
 * @param {number} step @returns {string | null} */
function previousMeaning(facts, uid, step) {
  for (const { name, frame, step: bound } of facts.scan.bindings.get(uid) ?? []) {
    const former = (facts.scan.meanings.get(`${frame}/${name}`) ?? []).findLast((meaning) => meaning.step < bound);
    if (bound >= step && former?.uid[0] === "t" && former.uid !== uid) return former.uid;
  }
  return null;
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @returns {Reason} */
function gradientNotRequired(facts, uid, step) {
  const history = tensorHistory(facts);
  const birth = facts.birth(uid);
  const x = facts.nameFact(uid, step);
  const wanted = history.changes(uid, "requires_grad").findLast(({ value, step: at }) => value && at <= step);
  if (wanted) {
    const frozen = lastChangeOf(facts, uid, "requires_grad", step);
    const chain = [link(facts.place(frozen), "cut", { x, code: facts.codeFact(frozen) }, [uid])];
    return { variant: "frozen", severity: "note", cause: frozen, chain, facts: {}, fixes: [] };
  }
  const source = cutSource(facts, uid);
  const former = previousMeaning(facts, uid, birth);
  const origin = link(facts.place(birth), source ? "cut" : "made", { x, code: facts.codeFact(birth) }, [uid, source]);
  if (former && history.value(former, "requires_grad", birth)) {
    const before = link(facts.place(facts.birth(former)), "made", { x }, [former]);
    const moved = { ...origin, role: /** @type {const} */ ("moved") };
    return {
      variant: "name_moved",
      severity: "warning",
      cause: birth,
      chain: [before, moved],
      facts: {},
      fixes: ["in_place"],
    };
  }
  if (source) {
    const said = { from: facts.nameFact(source, birth) };
    return {
      variant: "made_without_graph",
      severity: "warning",
      cause: birth,
      chain: [origin],
      facts: said,
      fixes: ["keep_history"],
    };
  }
  return {
    variant: "not_required",
    severity: "note",
    cause: birth,
    chain: [origin],
    facts: {},
    fixes: ["require_grad"],
  };
}

/** The tensor that requires grad of which this one was computed without its history. @param {RunFacts} facts @param {string} uid */
function cutSource(facts, uid) {
  const flow = dataflow(facts).into.get(uid) ?? [];
  const requires = (/** @type {Edge} */ { from, step }) => tensorHistory(facts).value(from, "requires_grad", step);
  return flow.find((edge) => edge.cut ?? requires(edge))?.from ?? null;
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
  const origin = link(facts.place(birth), "made", { x }, [uid]);
  const running = facts.backwardAt(step);
  const later = running ? arrivesLater(facts, uid, running, step) : null;
  if (running && later !== null) {
    const begins = link(facts.place(running.step), "starts", { code: facts.codeFact(running.step) }, running.roots);
    const chain = [origin, begins, link(facts.place(later), "gradient", { x }, [uid])];
    return { variant: "not_yet", severity: "note", cause: running.step, chain, facts: {}, fixes: [] };
  }
  const call = lastBackward(facts, step);
  if (!call || call.step < birth) {
    return beforeBackward(facts, uid, step, origin);
  }
  const starts = link(facts.place(call.step), "starts", { code: facts.codeFact(call.step) }, call.roots);
  const ends = /** @type {[Link, Link]} */ ([origin, starts]);
  const loss = facts.nameFact(call.roots[0], call.step);
  if (call.inputs.length && !call.inputs.includes(uid))
    return { variant: "inputs", severity: "note", cause: call.step, chain: ends, facts: { loss }, fixes: [] };
  const refused = nodeThatSentNothing(facts, uid, call);
  if (refused) return returnedNone(facts, x, refused, ends);
  const way = dataflow(facts).shortestPath(uid, call.roots, call.step);
  if (way) return cutOnTheWay(facts, x, way, ends, loss) ?? requiredTooLate(facts, uid, way, ends);
  const lost = valueLost(facts, uid, call.step);
  if (lost) return { ...lost, chain: [origin, ...lost.chain, starts], facts: { ...lost.facts, loss } };
  const other = replacedBy(facts, uid, call);
  if (other) {
    const moved = link(facts.place(other.step), "moved", { x: code(other.name), code: facts.codeFact(other.step) }, [
      uid,
      other.after,
    ]);
    const said = { loss, name: code(other.name) };
    return {
      variant: "replaced",
      severity: "warning",
      cause: other.step,
      chain: [origin, moved, starts],
      facts: said,
      fixes: [],
    };
  }
  return {
    variant: "unused",
    severity: "warning",
    cause: call.step,
    chain: ends,
    facts: { loss },
    fixes: [],
  };
}

/** No backward has run since the leaf was made: only `autograd.grad`, which stores nothing, or one that comes later, or none.
 * @param {RunFacts} facts @param {string} uid @param {number} step @param {Link} origin @returns {Reason} */
function beforeBackward(facts, uid, step, origin) {
  const asked = facts.backwards.findLast(
    (call) => call.api === "grad" && call.step <= step && call.step >= origin.step,
  );
  const starts = (/** @type {import("./scan.js").BackwardCall} */ call) =>
    link(facts.place(call.step), "starts", { code: facts.codeFact(call.step) }, call.roots);
  const reason = { severity: /** @type {const} */ ("note"), facts: {}, fixes: [] };
  if (asked) return { ...reason, variant: "autograd_grad", cause: asked.step, chain: [origin, starts(asked)] };
  const later = facts
    .events("grad_accumulated")
    .find((event) => event.tensor === uid && event.step > step && facts.backwardAt(event.step));
  const call = later ? facts.backwardAt(later.step) : undefined;
  if (!call) return { ...reason, variant: "no_backward", cause: step, chain: [origin] };
  const said = { later: facts.steps[call.step].line };
  return { ...reason, variant: "before_backward", cause: step, chain: [origin, starts(call)], facts: said };
}

/** The step at which a backward that still runs will come to a leaf. @param {RunFacts} facts @param {string} uid
 * @param {import("./scan.js").BackwardCall} call @param {number} step */
function arrivesLater(facts, uid, call, step) {
  const visits = facts.index.visits.get(call.uid) ?? [];
  return visits.find((visit) => visit.step > step && facts.steps[visit.step].visit?.accumulates === uid)?.step ?? null;
}

/** A node that a backward ran and that sent nothing on to a leaf. @param {RunFacts} facts @param {string} uid
 * @param {import("./scan.js").BackwardCall} call @returns {{node: string, step: number} | null} */
function nodeThatSentNothing(facts, uid, call) {
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
function returnedNone(facts, x, { node, step }, [origin, starts]) {
  const cause = facts.birth(node);
  const op = facts.operation(node);
  const chain = [
    origin,
    link(facts.place(cause), "way", { x, code: facts.codeFact(cause) }, [node]),
    starts,
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
function cutOnTheWay(facts, x, path, [origin, starts], loss) {
  const history = tensorHistory(facts);
  const recorded = (/** @type {string} */ uid, /** @type {number} */ at) => history.value(uid, "requires_grad", at);
  const leadsToNewLeaf = (/** @type {Edge} */ { to, op }) => !op && history.changes(to, "leaf")[0]?.value === true;
  const edge = path.find(
    (each) =>
      each.cut || (recorded(each.from, each.step) && (!requiredWhenMade(facts, each.to) || leadsToNewLeaf(each))),
  );
  if (!edge) return null;
  const y = facts.nameFact(lastAlias(facts, edge, path), edge.step);
  const reason = edge.cut?.reason ?? (edge.op?.grad_mode === false ? "no_grad" : "detach");
  const checkpoint = reason === "no_grad" ? checkpointStep(facts, edge.step) : null;
  const warns = checkpoint === null ? reason : "checkpoint";
  const step = checkpoint ?? edge.step;
  const cut = link(facts.place(step), "cut", { x, y, code: facts.codeFact(step) }, [edge.from, edge.to]);
  const said = { y, loss, code: facts.codeFact(step) };
  const fixes = [...(warns === "checkpoint" ? ["not_reentrant"] : []), "keep_history", ...cutFixes(reason)];
  return {
    variant: `cut_${warns}`,
    severity: "warning",
    cause: step,
    chain: [origin, cut, starts],
    facts: said,
    fixes,
  };
}

/** A leaf that requires grad only since it was used: what was computed before knows nothing of it. @param {RunFacts} facts
 * @param {string} uid @param {Edge[]} path @param {[Link, Link]} ends @returns {Reason | null} */
function requiredTooLate(facts, uid, path, [origin, starts]) {
  const required = tensorHistory(facts)
    .changes(uid, "requires_grad")
    .find(({ value, step }) => value === true && step > path[0].step);
  if (!required) return null;
  const used = facts.place(path[0].step);
  const x = facts.nameFact(uid, required.step);
  const moved = link(facts.place(required.step), "moved", { x, code: facts.codeFact(required.step) }, [uid]);
  return {
    variant: "required_late",
    severity: "warning",
    cause: required.step,
    chain: [origin, link(used, "way", { code: facts.codeFact(used.step) }, [uid]), moved, starts],
    facts: { used: used.line, code: facts.codeFact(required.step) },
    fixes: ["move_before"],
    to: used.line,
  };
}

/** The first tensor behind the cut that has a name, else the first. @param {RunFacts} facts @param {Edge} edge @param {Edge[]} path */
function lastAlias(facts, edge, path) {
  const after = path.slice(path.indexOf(edge));
  return after.find(({ to }) => facts.scan.bindings.has(to))?.to ?? edge.to;
}

/** Whether a tensor required grad as it was made. @param {RunFacts} facts @param {string} uid */
function requiredWhenMade(facts, uid) {
  const op = facts.producer(uid);
  const at = op ? op.outputs.indexOf(uid) : -1;
  return op && op.requires_grad[at] !== null
    ? op.requires_grad[at]
    : tensorHistory(facts).changes(uid, "requires_grad")[0]?.value;
}

/** The last call of backward that began before a step. @param {RunFacts} facts @param {number} step */
function lastBackward(facts, step) {
  return facts.backwards.findLast((call) => call.api === "backward" && call.step < step);
}

/** The step at which a field last became what it is at a step. @param {RunFacts} facts @param {string} uid
 * @param {import("./tensor_history.js").Field} field @param {number} step */
function lastChangeOf(facts, uid, field, step) {
  return (
    tensorHistory(facts)
      .changes(uid, field)
      .findLast((change) => change.step <= step)?.step ?? facts.birth(uid)
  );
}
