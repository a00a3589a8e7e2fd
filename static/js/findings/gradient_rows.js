/** The ways by which a gradient came, as rows: what was added up, and for each part the nodes up to the loss. */

import { code } from "./finding.js";
import { addsUpTo, gradientFact } from "./gradient_values.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Facts} Facts */
/** @typedef {import("./finding.js").Role} Role */
/** @typedef {import("./gradient_flow.js").GradientFlow} Flow */
/** @typedef {import("./gradient_flow.js").Arrival} Arrival */
/** @typedef {import("./gradient_flow.js").Incoming} Incoming */
/** @typedef {import("./gradient_values.js").Gradient} Gradient */
/**
 * @typedef {{key: string, role: Role, facts: Facts, line: number, step: number, uids: string[], depth: number,
 *   own: boolean, value: Gradient | null, source: import("./finding.js").Place | null}} AnswerRow
 *   key: of its sentence; step: where its value moved; source: the statement that the node is of; depth: of the branch;
 *   own: a part of what the reader asked about, not of what lies further up
 */

const MAX_ROWS = 60;
const MAX_DEPTH = 5;

/** Builds rows, each node's own way once. */
export class GradientRows {
  /** @param {RunFacts} facts */
  constructor(facts) {
    this.facts = facts;
    /** @type {AnswerRow[]} */
    this.rows = [];
    /** @type {Set<string>} by backward and node, whose way was shown */
    this.shownNodes = new Set();
    this.leftOutCount = 0;
  }

  /** @param {Omit<AnswerRow, "line" | "source" | "value" | "uids" | "depth" | "own"> & Partial<AnswerRow>} row */
  addRow(row) {
    const { facts } = this;
    if (this.rows.length >= MAX_ROWS) {
      this.leftOutCount += 1;
      return;
    }
    const line = row.source?.line ?? facts.steps[row.step]?.line ?? 0;
    this.rows.push({ source: null, value: null, uids: [], depth: 0, own: false, line, ...row });
  }

  /** What came to a node, and from where, up to the loss. @param {Flow} flow @param {Arrival} arrival @param {number} [depth]
   * @param {boolean} [own] whether it is what the reader asked about */
  addArrival(flow, arrival, depth = 0, own = true) {
    this.addHooks(arrival, depth);
    const parts = arrival.incoming;
    const innerDepth = Math.min(MAX_DEPTH, parts.length + (arrival.root ? 1 : 0) > 1 ? depth + 1 : depth);
    if (arrival.root) this.addStartRow(flow, arrival, depth);
    for (const incomingPart of parts) this.addIncomingRow(flow, incomingPart, { depth, inner: innerDepth, own });
  }

  /** @param {Flow} flow @param {Arrival} arrival @param {number} depth */
  addStartRow({ call }, { node, grad, step, root, incoming }, depth) {
    const { facts } = this;
    const x = facts.nameFact(root, call.step);
    const isKnown = !incoming.length && grad;
    const rowFacts = {
      x,
      value: gradientFact(grad),
      code: facts.codeFact(call.step),
      line: facts.steps[call.step].line,
    };
    this.addRow({
      key: isKnown ? "answer.start" : "answer.start_unknown",
      role: "starts",
      facts: rowFacts,
      step: step ?? call.step,
      uids: [String(root), node],
      depth,
      value: isKnown ? grad : null,
      source: facts.place(call.step),
    });
  }

  /** @param {Flow} flow @param {Incoming} incomingPart @param {{depth: number, inner: number, own: boolean}} place
   * inner: the depth of what lies further up */
  addIncomingRow(flow, incomingPart, { depth, inner, own }) {
    const { facts } = this;
    const { node, step, grad } = incomingPart;
    const source = facts.place(facts.birth(node));
    const nodeKey = `${flow.call.uid} ${node}`;
    const isShownAgain = this.shownNodes.has(nodeKey);
    const rowFacts = { value: gradientFact(grad), op: code(facts.operation(node)), code: facts.codeFact(source.step) };
    this.addRow({
      key: step === null ? "answer.unrecorded" : isShownAgain ? "answer.way_again" : "answer.way",
      role: "way",
      facts: rowFacts,
      step: step ?? flow.call.end,
      uids: [node, ...facts.index.outputsOf(node, step ?? flow.call.step)],
      depth,
      own,
      value: grad,
      source: source.step < 0 ? null : source,
    });
    if (isShownAgain || step === null) return;
    this.shownNodes.add(nodeKey);
    for (const arrival of flow.arrivals(node)) this.addArrival(flow, arrival, inner, false);
  }

  /** What a hook of a tensor made of the gradient before the node got it. @param {Arrival} arrival @param {number} depth */
  addHooks(arrival, depth) {
    const change = changedByHook(this.facts, arrival);
    if (!change) return;
    this.addRow({
      key: change.tensor ? "answer.hook" : "answer.changed",
      role: change.tensor ? "hooked" : "moved",
      facts: { x: this.facts.nameFact(change.tensor, change.step), value: gradientFact(arrival.grad) },
      step: change.step,
      uids: [change.tensor ?? "", arrival.node].filter(Boolean),
      depth,
      value: arrival.grad,
    });
  }
}

/**
 * Where a node got something else than the sum of what was sent to it: the tensor whose hook ran, null where none is known.
 * @param {RunFacts} facts @param {Arrival} arrival @returns {{tensor: string | null, step: number} | null}
 */
export function changedByHook(facts, { node, step, grad, incoming, root }) {
  if (step === null || !grad || incoming.some((incomingPart) => incomingPart.step === null)) return null;
  const hookEvent = (facts.steps[step].log ?? []).find(
    (entry) => entry.kind === "event" && entry.event === "hook_ran" && entry.hook === "tensor" && entry.node === node,
  );
  const tensorUid = hookEvent && "tensor" in hookEvent ? String(hookEvent.tensor) : null;
  if (root) return null; // what backward began with there is not recorded apart
  const parts = incoming.flatMap((incomingPart) => incomingPart.grad ?? []);
  if (!parts.length || addsUpTo(parts, grad) !== false) return null;
  return { tensor: tensorUid, step };
}
