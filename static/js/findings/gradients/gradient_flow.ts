/** What came to a node in one backward: over which edge, from which node, with which values. */

import type { BackwardCall, RunFacts } from "../diagnosis.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { addToList } from "../../trace/multimap.ts";
import type { Grad } from "../../trace/wire.ts";

/** a gradient that a node sent over one of its edges */
export interface IncomingGradient {
  node: string;
  edge: number;
  /** of its visit, null where that was not recorded */
  step: number | null;
  grad: Grad | null;
}

/** what came to a node for one of its outputs. */
export interface GradientArrival {
  node: string;
  nr: number;
  /**
   * step, grad: of its visit and what it was given there, null where the engine did not run it, or the visit was not
   * recorded
   */
  step: number | null;
  grad: Grad | null;
  incoming: IncomingGradient[];
  /** the tensor that backward started from, where it is this one */
  root: string | null;
}

const MAX_FLOW_NODES = 20000;

const gradientFlows = memoizePerRun(() => new Map<string, GradientFlow>());

/** The gradients of one backward, gathered once. */
export function gradientFlowOfBackward(facts: RunFacts, call: BackwardCall): GradientFlow {
  const flows = gradientFlows(facts);
  const flow = flows.get(call.uid) ?? new GradientFlow(facts, call);
  flows.set(call.uid, flow);
  return flow;
}

export class GradientFlow {
  facts: RunFacts;
  call: BackwardCall;
  /** by node, the step of its visit */
  visits = new Map<string, number>();
  /** by `node:nr` */
  incomingByOutput = new Map<string, IncomingGradient[]>();
  /** by `node:nr`, the tensor that backward started from */
  rootByOutput = new Map<string, string>();
  isWhole: boolean;

  constructor(facts: RunFacts, call: BackwardCall) {
    this.facts = facts;
    this.call = call;
    for (const { node, step } of facts.index.visitsByBackward.get(call.uid) ?? []) this.visits.set(node, step);
    this.addRootGradients();
    for (const [node, step] of this.visits)
      this.addIncomingGradients(node, step, facts.steps[step].visit?.grad_inputs ?? []);
    this.isWhole = !facts.steps.slice(call.step, call.end + 1).some(({ skipped }) => skipped);
    if (!this.isWhole) this.addUnrecordedNodes();
  }

  addRootGradients() {
    const { facts, call } = this;
    for (const rootUid of call.roots) {
      if (!rootUid) continue;
      const nodeUid = nodeReceivingGradient(facts, rootUid, call.step);
      const outputNr = facts.tensor(rootUid, call.step)?.output_nr ?? 0;
      if (nodeUid) this.rootByOutput.set(`${nodeUid}:${outputNr}`, rootUid);
    }
  }

  addIncomingGradients(nodeUid: string, step: number | null, sentGrads: (Grad | null)[]) {
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
  addUnrecordedNodes() {
    const reached = new Set([...this.rootByOutput.keys()].map((key) => key.slice(0, key.lastIndexOf(":"))));
    for (const nodeUid of reached) {
      if (reached.size > MAX_FLOW_NODES) break;
      for (const edge of this.facts.index.nodes.get(nodeUid)?.next ?? []) if (edge) reached.add(edge[0]);
    }
    for (const nodeUid of reached) if (!this.visits.has(nodeUid)) this.addIncomingGradients(nodeUid, null, []);
  }

  /** What came to a node for one of its outputs. */
  arrivalForOutput(nodeUid: string, outputNr: number): GradientArrival {
    const key = `${nodeUid}:${outputNr}`;
    const step = this.visits.get(nodeUid) ?? null;
    const grad = step === null ? null : (this.facts.steps[step].visit?.grad_outputs[outputNr] ?? null);
    const incoming = (this.incomingByOutput.get(key) ?? []).filter(({ grad, step }) => grad || step === null);
    return { node: nodeUid, nr: outputNr, step, grad, incoming, root: this.rootByOutput.get(key) ?? null };
  }

  /** What came to a node for each of its outputs that got something. */
  arrivalsByOutput(nodeUid: string): GradientArrival[] {
    const step = this.visits.get(nodeUid);
    const outputs = step === undefined ? [] : (this.facts.steps[step].visit?.grad_outputs ?? []);
    const givenOutputs = outputs.flatMap((grad, outputNr) => (grad ? [outputNr] : []));
    return givenOutputs.map((outputNr) => this.arrivalForOutput(nodeUid, outputNr));
  }
}

/** The node that a tensor's gradient goes to: the one that made it, of a leaf the one that accumulates. */
export function nodeReceivingGradient(facts: RunFacts, uid: string, step: number): string | null {
  const gradFn = facts.gradFnOf(uid, step);
  if (gradFn) return gradFn;
  return facts.index.accumulatorsOfTensor(uid, step).at(-1) ?? formerAccumulatorNode(facts, uid, step);
}

/** A leaf's accumulating node that has gone since. */
function formerAccumulatorNode(facts: RunFacts, uid: string, step: number) {
  const nodes = [...facts.index.nodes.values()].filter(({ variable, uid: node }) => {
    return variable === uid && facts.birthStep(node) <= step;
  });
  return nodes.at(-1)?.uid ?? null;
}
