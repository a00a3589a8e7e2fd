/** What came to a node in one backward: over which edge, from which node, with which values. */

import { addToList } from "../trace/multimap.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./scan.js").BackwardCall} BackwardCall */
/** @typedef {import("../trace/wire.js").Grad} Grad */
/**
 * @typedef {{node: string, edge: number, step: number | null, grad: Grad | null}} Incoming
 *   a gradient that a node sent over one of its edges; step: of its visit, null where that was not recorded
 * @typedef {{node: string, nr: number, step: number | null, grad: Grad | null, incoming: Incoming[], root: string | null}} Arrival
 *   what came to a node for one of its outputs. step, grad: of its visit and what it was given there, null where the
 *   engine did not run it, or the visit was not recorded; root: the tensor that backward started from, where it is this one
 */

const MAX_NODES = 20000;

/** @type {WeakMap<object, Map<string, GradientFlow>>} */
const cache = new WeakMap();

/** The gradients of one backward, gathered once. @param {RunFacts} facts @param {BackwardCall} call @returns {GradientFlow} */
export function gradientFlow(facts, call) {
  const flows = cache.get(facts.trace) ?? new Map();
  cache.set(facts.trace, flows);
  const flow = flows.get(call.uid) ?? new GradientFlow(facts, call);
  flows.set(call.uid, flow);
  return flow;
}

export class GradientFlow {
  /** @param {RunFacts} facts @param {BackwardCall} call */
  constructor(facts, call) {
    this.facts = facts;
    this.call = call;
    /** @type {Map<string, number>} by node, the step of its visit */
    this.visits = new Map();
    /** @type {Map<string, Incoming[]>} by `node:nr` */
    this.incomingByOutput = new Map();
    /** @type {Map<string, string>} by `node:nr`, the tensor that backward started from */
    this.rootByOutput = new Map();
    for (const { node, step } of facts.index.visits.get(call.uid) ?? []) this.visits.set(node, step);
    this.addRoots();
    for (const [node, step] of this.visits) this.addIncoming(node, step, facts.steps[step].visit?.grad_inputs ?? []);
    this.isWhole = !facts.steps.slice(call.step, call.end + 1).some(({ skipped }) => skipped);
    if (!this.isWhole) this.addUnrecorded();
  }

  addRoots() {
    const { facts, call } = this;
    for (const rootUid of call.roots) {
      if (!rootUid) continue;
      const nodeUid = gradNode(facts, rootUid, call.step);
      const outputNr = facts.tensor(rootUid, call.step)?.output_nr ?? 0;
      if (nodeUid) this.rootByOutput.set(`${nodeUid}:${outputNr}`, rootUid);
    }
  }

  /** @param {string} nodeUid @param {number | null} step @param {(Grad | null)[]} sentGrads */
  addIncoming(nodeUid, step, sentGrads) {
    (this.facts.index.nodes.get(nodeUid)?.next ?? []).forEach((edge, k) => {
      if (edge)
        addToList(this.incomingByOutput, `${edge[0]}:${edge[1]}`, {
          node: nodeUid,
          edge: k,
          step,
          grad: sentGrads[k] ?? null,
        });
    });
  }

  /** Nodes that the engine could reach and of which no visit was recorded: what they sent is not known. */
  addUnrecorded() {
    const reached = new Set([...this.rootByOutput.keys()].map((key) => key.slice(0, key.lastIndexOf(":"))));
    for (const nodeUid of reached) {
      if (reached.size > MAX_NODES) break;
      for (const edge of this.facts.index.nodes.get(nodeUid)?.next ?? []) if (edge) reached.add(edge[0]);
    }
    for (const nodeUid of reached) if (!this.visits.has(nodeUid)) this.addIncoming(nodeUid, null, []);
  }

  /** What came to a node for one of its outputs. @param {string} nodeUid @param {number} outputNr @returns {Arrival} */
  arrival(nodeUid, outputNr) {
    const key = `${nodeUid}:${outputNr}`;
    const step = this.visits.get(nodeUid) ?? null;
    const grad = step === null ? null : (this.facts.steps[step].visit?.grad_outputs[outputNr] ?? null);
    const incoming = (this.incomingByOutput.get(key) ?? []).filter(({ grad, step }) => grad || step === null);
    return { node: nodeUid, nr: outputNr, step, grad, incoming, root: this.rootByOutput.get(key) ?? null };
  }

  /** What came to a node for each of its outputs that got something. @param {string} nodeUid @returns {Arrival[]} */
  arrivals(nodeUid) {
    const step = this.visits.get(nodeUid);
    const outputs = step === undefined ? [] : (this.facts.steps[step].visit?.grad_outputs ?? []);
    const givenOutputs = outputs.flatMap((grad, outputNr) => (grad ? [outputNr] : []));
    return givenOutputs.map((outputNr) => this.arrival(nodeUid, outputNr));
  }
}

/** The node that a tensor's gradient goes to: the one that made it, of a leaf the one that accumulates.
 * @param {RunFacts} facts @param {string} uid @param {number} step @returns {string | null} */
export function gradNode(facts, uid, step) {
  const gradFn = /** @type {string | null} */ (tensorHistory(facts).valueAt(uid, "grad_fn", step));
  if (gradFn) return gradFn;
  return facts.index.accumulatorsOf(uid, step).at(-1) ?? accumulatorBefore(facts, uid, step);
}

/** A leaf's accumulating node that has gone since. @param {RunFacts} facts @param {string} uid @param {number} step */
function accumulatorBefore(facts, uid, step) {
  const nodes = [...facts.index.nodes.values()].filter(({ variable, uid: node }) => {
    return variable === uid && facts.birth(node) <= step;
  });
  return nodes.at(-1)?.uid ?? null;
}
