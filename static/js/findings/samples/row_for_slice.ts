/** A table of positions that is indexed by the size of an axis, where the rows up to that size are meant. */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Operation, RunFacts } from "../diagnosis.ts";
import { expressionOfOperation } from "../facts/operation_expression.ts";
import { attributeRead, calleeName, literalValue, positionalArguments, receiver } from "../../syntax/expressions.ts";
import { functionAround, singleAssignment } from "../../syntax/statements.ts";
import { childOf, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "axes_confused",
    severity: "warning",
    of: ({ scan }) => scan.operationsNamed(/^select$/),
    once: statementOfCandidate,
    say: (facts, op) => {
      const index = axisSizeUsedAsIndex(facts, op);
      const sum = index && sumWithTableRow(facts, op, index);
      if (!index || !sum) return null;
      const [table, x] = [facts.nameFact(op.inputs[0], op.step), facts.nameFact(sum.x, sum.op.step)];
      return {
        variant: "row",
        cause: op.step,
        chain: [[sum.op.step, "used", [sum.x, op.outputs[0]]]],
        names: [table, x],
        facts: {
          table,
          x,
          n: index.size,
          axis: index.axis,
          index: codeFact(index.text),
          slice: codeFact(`:${index.text}`),
        },
      };
    },
  }),
];

/** What positions are kept in; the row of a length may be meant. */
const POSITIONS = /(?:^|[._])pes?$|pos(?:$|[_\d.]|emb|enc|ition)|encod/i;
const LENGTHS = /len|size|num|count/i;
const VIEW = /^(?:unsqueeze|view|reshape|expand|detach|clone|to|_to_copy|alias)$/;

interface AxisSizeAsIndex {
  /** of which axis of another tensor */
  axis: number;
  size: number;
  text: string;
}

/** Of `table[:, x.shape[1]]`: the size that stands as the index. */
function axisSizeUsedAsIndex(facts: RunFacts, op: Operation): AxisSizeAsIndex | null {
  const node = expressionOfOperation(facts.trace.program, op);
  const key = node?.kind === "Subscript" ? childOf(node, "slice") : null;
  const table = node?.children[0].text ?? "";
  if (!key || !op.direct || !POSITIONS.test(table) || LENGTHS.test(table)) return null;
  const keys = key.kind === "Tuple" ? key.children : [key];
  const place = keys.findIndex(({ kind }) => kind !== "Slice");
  if (op.args?.dim !== place || keys.some(({ kind }, k) => k !== place && kind !== "Slice")) return null;
  const read = sizeRead(facts, keys[place], op.step);
  const uid = read && facts.resolve(read.object, op.step, op.step - 1);
  const shape = uid ? (facts.tensor(uid, op.step - 1)?.shape ?? []) : [];
  const axis = read && read.axis < 0 ? read.axis + shape.length : (read?.axis ?? -1);
  return axis >= 0 && shape[axis] > 1 ? { axis, size: shape[axis], text: keys[place].text } : null;
}

/** The tensor and the axis whose size an expression is, or the name that a function gives to one. */
function sizeRead(facts: RunFacts, node: SyntaxNode, step: number): { object: SyntaxNode; axis: number } | null {
  const { program } = facts.trace;
  if (node.kind === "Name") {
    const around = functionAround(program, facts.steps[step].stmt ?? -1);
    const given = statementTrees(program).flatMap((tree, stmt) => {
      const assigned = tree && functionAround(program, stmt) === around ? singleAssignment(tree) : null;
      return assigned && assigned.name === node.value ? [assigned.value] : [];
    });
    return given.length === 1 && given[0].kind !== "Name" ? sizeRead(facts, given[0], step) : null;
  }
  const isSize = node.kind === "Call" && calleeName(node) === "size";
  const shape = node.kind === "Subscript" ? attributeRead(node.children[0]) : null;
  const object = isSize ? receiver(node) : shape?.attribute === "shape" ? shape.object : null;
  const axis = literalValue(isSize ? positionalArguments(node)[0] : childOf(node, "slice"));
  return object && typeof axis === "number" ? { object, axis } : null;
}

/** The sum with a tensor whose axis has that size, where as many rows of the table would have lain along it. */
function sumWithTableRow(facts: RunFacts, { inputs, outputs, step, args }: Operation, { axis, size }: AxisSizeAsIndex) {
  const uses = facts.usesOf(outputs[0]);
  const views = uses.filter(({ name }) => VIEW.test(operationName(name))).flatMap((view) => view.outputs);
  const rows = [outputs[0], ...views];
  const table = facts.handle(inputs[0], step)?.shape ?? [];
  for (const op of [...uses, ...views.flatMap((uid) => facts.usesOf(uid))]) {
    const x = op.inputs.find((uid) => !rows.includes(uid));
    const shape = (x && facts.handle(x, op.step)?.shape) || [];
    const offset = shape.length - table.length;
    if (!x || !/^add_?$/.test(operationName(op.name)) || facts.isInsideBackward(op.step)) continue;
    const fits = table.every((n, d) => d === args?.dim || n === 1 || n === shape[d + offset]);
    if (shape[axis] === size && axis === Number(args?.dim) + offset && fits) return { op, x };
  }
  return null;
}
