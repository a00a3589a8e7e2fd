/** What a node would have sent on, had its saved value been what was saved: for elementwise operations, whose slope is known. */

import { cellsOf, numberOf, numbersText } from "./numbers.js";

/** @typedef {import("../entities.js").Cell} Cell */
/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("../trace_index.js").SavedSlot} SavedSlot */
/** @typedef {import("../trace.js").Grad} Grad */
/** @typedef {import("../entities.js").Node} Node */
/**
 * @typedef {{edge: number, slope: (saved: number, node: Node) => number | null}} Rule
 *   edge: through which the gradient goes on; slope: by which it is multiplied, from the element that was saved
 * @typedef {{given: string, expected: string, leaf: string | null}} LocalGradient
 *   leaf: of which it is the whole gradient
 */

/** @param {(saved: number) => number} slope @returns {Rule} */
const unary = (slope) => ({ edge: 0, slope });

/** By node and slot. @type {Record<string, Rule>} */
const RULES = {
  "Mul.other": unary((b) => b),
  "Mul.self": { edge: 1, slope: (a) => a },
  "Sigmoid.result": unary((y) => y * (1 - y)),
  "Tanh.result": unary((y) => 1 - y * y),
  "Exp.result": unary((y) => y),
  "Sqrt.result": unary((y) => 1 / (2 * y)),
  "Rsqrt.result": unary((y) => -0.5 * y ** 3),
  "Reciprocal.result": unary((y) => -y * y),
  "Relu.result": unary((y) => (y > 0 ? 1 : 0)),
  "Log.self": unary((x) => 1 / x),
  "Sin.self": unary((x) => Math.cos(x)),
  "Cos.self": unary((x) => -Math.sin(x)),
  "Abs.self": unary((x) => Math.sign(x)),
  "Div.other": unary((b) => 1 / b),
  "Pow.self": {
    edge: 0,
    slope: (x, node) =>
      typeof node.attrs?.exponent === "number" ? node.attrs.exponent * x ** (node.attrs.exponent - 1) : null,
  },
};

/**
 * What a visit sent on, and what it would have sent on.
 * @param {RunFacts} facts @param {SavedSlot} slot @param {number} visit a step @param {Cell[] | null} saved what the slot held
 * @returns {LocalGradient | null} null for operations whose slope is not known here
 */
export function localGradient(facts, { node, slot }, visit, saved) {
  const name = (facts.index.nodes.get(node)?.name ?? "").replace(/^.*::|Backward\d*$/g, "");
  const rule = RULES[`${name}.${slot}`];
  const entity = facts.node(node, visit - 1);
  const { grad_outputs: [incoming] = [], grad_inputs = [] } = facts.steps[visit].visit ?? {};
  const sent = rule ? grad_inputs[rule.edge] : null;
  if (!rule || !saved || !entity || !incoming?.cells || !sent?.cells) return null;
  const n = sent.cells.length;
  if (incoming.cells.length !== n || (saved.length !== n && saved.length !== 1)) return null;
  const expected = incoming.cells.map((grad, k) => {
    const slope = rule.slope(numberOf(saved[saved.length === 1 ? 0 : k]), entity);
    return slope === null ? null : Math.fround(numberOf(grad) * slope);
  });
  if (expected.some((value) => value === null)) return null;
  const list = /** @type {number[]} */ (expected);
  const scalar = sent.shape.length === 0;
  if (list.every((value, k) => isClose(value, numberOf(sent.cells?.[k]))))
    return { given: "", expected: "", leaf: null };
  return {
    given: numbersText(sent.cells, scalar),
    expected: numbersText(list, scalar),
    leaf: wholeGradientOf(facts, node, rule.edge, visit, sent),
  };
}

/** @param {number} a @param {number} b */
function isClose(a, b) {
  return Object.is(a, b) || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** The leaf whose `.grad` is what went along an edge, as it is after the backward. @param {RunFacts} facts @param {string} nodeUid
 * @param {number} edge @param {number} visit @param {Grad} sent */
function wholeGradientOf(facts, nodeUid, edge, visit, sent) {
  const next = facts.index.nodes.get(nodeUid)?.next[edge]?.[0];
  const leafUid = facts.index.nodes.get(next ?? "")?.variable;
  const at = (facts.index.visitsOf.get(next ?? "") ?? []).find((step) => step > visit);
  if (!leafUid || at === undefined) return null;
  const grad = facts.tensor(facts.tensor(leafUid, at)?.grad, at);
  const cells = grad ? cellsOf(facts.state(at), grad) : null;
  return cells && numbersText(cells) === numbersText(sent.cells ?? []) ? leafUid : null;
}
