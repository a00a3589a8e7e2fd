/**
 * What a node would have sent on, had its saved value been what was saved: for elementwise operations, whose slope is
 * known.
 */

import type { RunFacts } from "../diagnosis.ts";
import { cellsReadBy, cellAsNumber, numbersText } from "../facts/cell_values.ts";
import type { Cell } from "../../trace/entities.ts";
import type { SavedSlot } from "../../trace/trace_index.ts";
import type { Grad, Node } from "../../trace/wire.ts";

interface SlopeRule {
  /** through which the gradient goes on */
  edge: number;
  /** by which it is multiplied, from the element that was saved */
  slope: (saved: number, node: Node) => number | null;
}

interface ActualAndExpectedGradient {
  given: string;
  expected: string;
  /** of which it is the whole gradient */
  leaf: string | null;
}

const slopeRuleOfFirstEdge = (slope: (saved: number) => number): SlopeRule => ({ edge: 0, slope });

/** By node and slot. */
const SLOPE_RULES: Record<string, SlopeRule> = {
  "Mul.other": slopeRuleOfFirstEdge((b) => b),
  "Mul.self": { edge: 1, slope: (a) => a },
  "Sigmoid.result": slopeRuleOfFirstEdge((y) => y * (1 - y)),
  "Tanh.result": slopeRuleOfFirstEdge((y) => 1 - y * y),
  "Exp.result": slopeRuleOfFirstEdge((y) => y),
  "Sqrt.result": slopeRuleOfFirstEdge((y) => 1 / (2 * y)),
  "Rsqrt.result": slopeRuleOfFirstEdge((y) => -0.5 * y ** 3),
  "Reciprocal.result": slopeRuleOfFirstEdge((y) => -y * y),
  "Relu.result": slopeRuleOfFirstEdge((y) => (y > 0 ? 1 : 0)),
  "Log.self": slopeRuleOfFirstEdge((x) => 1 / x),
  "Sin.self": slopeRuleOfFirstEdge((x) => Math.cos(x)),
  "Cos.self": slopeRuleOfFirstEdge((x) => -Math.sin(x)),
  "Abs.self": slopeRuleOfFirstEdge((x) => Math.sign(x)),
  "Div.other": slopeRuleOfFirstEdge((b) => 1 / b),
  "Pow.self": {
    edge: 0,
    slope: (x, node) =>
      typeof node.attrs?.exponent === "number" ? node.attrs.exponent * x ** (node.attrs.exponent - 1) : null,
  },
};

/**
 * What a visit, by its step, sent on, and what it would have sent on had the slot still held `saved`. Null for
 * operations whose slope is not known here.
 */
export function actualAndExpectedGradient(
  facts: RunFacts,
  { node, slot }: SavedSlot,
  visit: number,
  saved: Cell[] | null,
): ActualAndExpectedGradient | null {
  const name = (facts.index.nodes.get(node)?.name ?? "").replace(/^.*::|Backward\d*$/g, "");
  const rule = SLOPE_RULES[`${name}.${slot}`];
  const entity = facts.node(node, visit - 1);
  const { grad_outputs: [incoming] = [], grad_inputs = [] } = facts.steps[visit].visit ?? {};
  const sentGrad = rule ? grad_inputs[rule.edge] : null;
  if (!rule || !saved || !entity || !incoming?.cells || !sentGrad?.cells) return null;
  const elementCount = sentGrad.cells.length;
  if (incoming.cells.length !== elementCount || (saved.length !== elementCount && saved.length !== 1)) return null;
  const expected = incoming.cells.map((grad, k) => {
    const slope = rule.slope(cellAsNumber(saved[saved.length === 1 ? 0 : k]), entity);
    return slope === null ? null : Math.fround(cellAsNumber(grad) * slope);
  });
  if (expected.some((value) => value === null)) return null;
  const expectedValues = expected as number[];
  const isScalar = sentGrad.shape.length === 0;
  if (expectedValues.every((value, k) => isClose(value, cellAsNumber(sentGrad.cells?.[k]))))
    return { given: "", expected: "", leaf: null };
  return {
    given: numbersText(sentGrad.cells, isScalar),
    expected: numbersText(expectedValues, isScalar),
    leaf: leafWithWholeGradient(facts, node, rule.edge, visit, sentGrad),
  };
}

function isClose(a: number, b: number) {
  return Object.is(a, b) || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** The leaf whose `.grad` is what went along an edge, as it is after the backward. */
function leafWithWholeGradient(facts: RunFacts, nodeUid: string, edge: number, visit: number, sentGrad: Grad) {
  const next = facts.index.nodes.get(nodeUid)?.next[edge]?.[0];
  const leafUid = facts.index.nodes.get(next ?? "")?.variable;
  const arrivalStep = facts.visitsOf(next).find((step) => step > visit);
  if (!leafUid || arrivalStep === undefined) return null;
  const grad = facts.tensor(facts.tensor(leafUid, arrivalStep)?.grad, arrivalStep);
  const cells = grad ? cellsReadBy(facts.stateAt(arrivalStep), grad) : null;
  return cells && numbersText(cells) === numbersText(sentGrad.cells ?? []) ? leafUid : null;
}
