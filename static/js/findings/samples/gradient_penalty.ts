/** A gradient penalty whose norm is taken along one axis: each place of a sample gets a norm of its own. */

import { codeFact, diagnosis, nameTextOfFact, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Operation, RunFacts } from "../diagnosis.ts";
import { expressionOfOperation } from "../facts/operation_expression.ts";
import { literalValue } from "../../syntax/expressions.ts";
import { tupleText } from "../../trace/format.ts";
import { numel } from "../../trace/reads.ts";

export const FINDINGS = [
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    when: ({ backwardCalls }) => backwardCalls.some(({ api }) => api === "grad"),
    of: ({ scan }) => scan.operationsNamed(/^(?:linalg_vector_norm|norm)$/),
    once: statementOfCandidate,
    say: (facts, op) => {
      const [gradient] = op.inputs;
      const shape = facts.handle(gradient, op.step)?.shape ?? [];
      const axes = (Array.isArray(op.args?.dim) ? op.args.dim : [op.args?.dim]).map(Number);
      const [axis] = axes.map((each) => (each < 0 ? each + shape.length : each));
      if (shape.length < 3 || axes.length !== 1 || !(axis > 0)) return null;
      const places = numel(shape) / shape[0] / shape[axis];
      const call = places > 1 ? gradCallOfPenalty(facts, gradient, shape) : null;
      const penalty = call && facts.usesOf(op.outputs[0]).find((use) => isDifferenceFromOne(facts, use));
      if (!call || !penalty) return null;
      const x = facts.nameFact(gradient, op.step);
      return {
        variant: "norm",
        cause: op.step,
        chain: [
          [call, "gradient", [gradient]],
          [op.step, "used", [gradient, op.outputs[0]]],
        ],
        facts: {
          x,
          shape: codeFact(tupleText(shape)),
          axis,
          n: shape[0],
          norms: shape[0] * places,
          flat: codeFact(`${nameTextOfFact(x) || "gradient"}.flatten(1).norm(2, dim=1)`),
        },
      };
    },
  }),
];

/** The call of `torch.autograd.grad` that gave a gradient of one score for each sample, to be trained through. */
function gradCallOfPenalty(facts: RunFacts, gradient: string, shape: number[]) {
  const made = facts.producingOperation(gradient)?.step ?? -1;
  const call = facts.backwardAt(made);
  if (call?.api !== "grad" || !call.createsGraph || call.inputs.length !== 1 || call.roots.length !== 1) return null;
  const [of, root] = [facts.handle(call.inputs[0], call.step), call.roots[0]];
  const summed = facts.producingOperation(root);
  const scores = summed && /^(?:sum|mean)$/.test(operationName(summed.name)) ? summed.inputs[0] : root;
  const isOnePerSample = numel(facts.handle(scores, call.step)?.shape ?? []) === shape[0] && shape[0] > 1;
  return isOnePerSample && String(of?.shape) === String(shape) ? call : null;
}

/** Whether an operation subtracts 1 from all that it takes, or takes it from 1. */
function isDifferenceFromOne(facts: RunFacts, { name, inputs, ...op }: Operation) {
  const node = expressionOfOperation(facts.trace.program, op);
  const isDifference = /^r?sub$/.test(operationName(name)) && inputs.length === 1 && node?.kind === "BinOp";
  return isDifference && node.value === "-" && node.children.some((child) => literalValue(child) === 1);
}
