/** The ways by which a gradient came, as rows: what was added up, and for each part the nodes up to the loss. */

import { codeFact, type Facts, type LineAndStep, type LinkRole, type RunFacts } from "../diagnosis.ts";
import { doGradientsAddUpTo, gradientValuesFact, type Gradient } from "./gradient_values.ts";
import type { GradientArrival, GradientFlow, IncomingGradient } from "./gradient_flow.ts";

export interface AnswerRow {
  /** of its sentence */
  key: string;
  role: LinkRole;
  facts: Facts;
  line: number;
  /** where its value moved */
  step: number;
  uids: string[];
  /** of the branch */
  depth: number;
  /** a part of what the reader asked about, not of what lies further up */
  own: boolean;
  value: Gradient | null;
  /** the statement that the node is of */
  source: LineAndStep | null;
}

const MAX_GRADIENT_ROWS = 60;
const MAX_ROW_DEPTH = 5;

interface IncomingRow {
  depth: number;
  /** the depth of what lies further up */
  inner: number;
  own: boolean;
}

/** Builds rows, each node's own way once. */
export class GradientRows {
  facts: RunFacts;
  rows: AnswerRow[] = [];
  /** by backward and node, whose way was shown */
  shownNodes = new Set<string>();
  leftOutCount = 0;

  constructor(facts: RunFacts) {
    this.facts = facts;
  }

  addRow(row: Omit<AnswerRow, "line" | "source" | "value" | "uids" | "depth" | "own"> & Partial<AnswerRow>) {
    const { facts } = this;
    if (this.rows.length >= MAX_GRADIENT_ROWS) {
      this.leftOutCount += 1;
      return;
    }
    const line = row.source?.line ?? facts.steps[row.step]?.line ?? 0;
    this.rows.push({ source: null, value: null, uids: [], depth: 0, own: false, line, ...row });
  }

  /** What came to a node, and from where, up to the loss. `own`: it is what the reader asked about. */
  addArrivalRows(flow: GradientFlow, arrival: GradientArrival, depth = 0, own = true) {
    this.addHookRows(arrival, depth);
    const parts = arrival.incoming;
    const innerDepth = Math.min(MAX_ROW_DEPTH, parts.length + (arrival.root ? 1 : 0) > 1 ? depth + 1 : depth);
    if (arrival.root) this.addStartRow(flow, arrival, depth);
    for (const incomingPart of parts) this.addIncomingRow(flow, incomingPart, { depth, inner: innerDepth, own });
  }

  addStartRow({ call }: GradientFlow, { node, grad, step, root, incoming }: GradientArrival, depth: number) {
    const { facts } = this;
    const x = facts.nameFact(root, call.step);
    const isKnown = !incoming.length && grad;
    this.addRow({
      key: isKnown ? "answer.start" : "answer.start_unknown",
      role: "starts",
      facts: {
        x,
        value: gradientValuesFact(grad),
        code: facts.backwardStatementFact(call),
        line: facts.steps[call.step].line,
      },
      step: step ?? call.step,
      uids: [String(root), node],
      depth,
      value: isKnown ? grad : null,
      source: facts.placeOfBackward(call),
    });
  }

  addIncomingRow(flow: GradientFlow, incomingPart: IncomingGradient, { depth, inner, own }: IncomingRow) {
    const { facts } = this;
    const { node, step, grad } = incomingPart;
    const source = facts.place(facts.birthStep(node));
    const nodeKey = `${flow.call.uid} ${node}`;
    const isShownAgain = this.shownNodes.has(nodeKey);
    this.addRow({
      key: step === null ? "answer.unrecorded" : isShownAgain ? "answer.way_again" : "answer.way",
      role: "way",
      facts: {
        value: gradientValuesFact(grad),
        op: codeFact(facts.nodeOperationName(node)),
        code: facts.statementFact(source.step),
      },
      step: step ?? flow.call.end,
      uids: [node, ...facts.index.outputsOfNode(node, step ?? flow.call.step)],
      depth,
      own,
      value: grad,
      source: source.step < 0 ? null : source,
    });
    if (isShownAgain || step === null) return;
    this.shownNodes.add(nodeKey);
    for (const arrival of flow.arrivalsByOutput(node)) this.addArrivalRows(flow, arrival, inner, false);
  }

  /** What a hook of a tensor made of the gradient before the node got it. */
  addHookRows(arrival: GradientArrival, depth: number) {
    const change = hookThatChangedGradient(this.facts, arrival);
    if (!change) return;
    this.addRow({
      key: change.tensor ? "answer.hook" : "answer.changed",
      role: change.tensor ? "hooked" : "moved",
      facts: { x: this.facts.nameFact(change.tensor, change.step), value: gradientValuesFact(arrival.grad) },
      step: change.step,
      uids: [change.tensor ?? "", arrival.node].filter(Boolean),
      depth,
      value: arrival.grad,
    });
  }
}

/** Where a node got something else than the sum of what was sent to it: the tensor whose hook ran, null where none
 * is known. */
export function hookThatChangedGradient(
  facts: RunFacts,
  { node, step, grad, incoming, root }: GradientArrival,
): { tensor: string | null; step: number } | null {
  if (step === null || !grad || incoming.some((incomingPart) => incomingPart.step === null)) return null;
  const hookEvent = (facts.steps[step].log ?? []).find(
    (entry) => entry.kind === "event" && entry.event === "hook_ran" && entry.hook === "tensor" && entry.node === node,
  );
  const tensorUid = hookEvent && "tensor" in hookEvent ? String(hookEvent.tensor) : null;
  if (root) return null; // what backward began with there is not recorded apart
  const parts = incoming.flatMap((incomingPart) => incomingPart.grad ?? []);
  if (!parts.length || doGradientsAddUpTo(parts, grad) !== false) return null;
  return { tensor: tensorUid, step };
}
