/** The expression of the program that an operation was part of, and whether what it made is that expression's value. */

import { calleePath } from "../../syntax/expressions.ts";
import { statementTree, walk, type SyntaxNode } from "../../syntax/tree.ts";
import type { Op, Program } from "../../trace/wire.ts";

/** A longer one would bury the sentence that it stands in. */
const MAX_CHARACTERS = 60;

/** Methods of lists that compare tensors and give something else. */
const LIST_METHODS = /^(index|remove|count|sort)$/;

interface OperationExpression {
  text: string;
  /** of its statement */
  line: number;
  /** false for what a function of torch or of a library made on its way to the value */
  isValue: boolean;
}

/**
 * null where the recorder did not see it, and where it is long or has comments between its lines.
 *
 * `ops`: the operations of a step, in order; `own`: the place of this one
 */
export function operationExpression(program: Program, ops: Op[], own: number): OperationExpression | null {
  const op = ops[own];
  const node = expressionOfOperation(program, op);
  const text = node && onOneLine(node.text);
  const line = program.statements?.[op.expression?.[0] ?? -1]?.line;
  if (!text || !line || text.length > MAX_CHARACTERS) return null;
  return { text, line, isValue: makesValue(program, ops, own, node) };
}

/** The node of the statement's syntax that called an operation; null where the recorder did not see it. */
export function expressionOfOperation(program: Program, { expression }: Pick<Op, "expression">): SyntaxNode | null {
  const [stmt, number] = expression ?? [];
  const tree = statementTree(program, stmt);
  return tree && number ? ([...walk(tree)][number] ?? null) : null;
}

function onOneLine(text: string): string | null {
  const [first, ...rest] = text.split("\n").map((line) => line.trim());
  if (rest.length && text.includes("#")) return null;
  return rest.reduce((joined, line) => {
    const isTight = /^[.)\]]/.test(line) || /[([]$/.test(joined);
    return joined + (isTight ? "" : " ") + line;
  }, first);
}

/**
 * Whether the expression, which gives a tensor, called this operation alone, or the operation of the expression around
 * it took what this one made.
 */
function makesValue(program: Program, ops: Op[], own: number, node: SyntaxNode): boolean {
  const op = ops[own];
  const isOfSame = (other: Op | undefined) => String(other?.expression) === String(op.expression);
  if (op.direct && !isOfSame(ops[own - 1]) && !isOfSame(ops[own + 1]) && givesTensor(node)) return true;
  const around = node.field === "value" && node.parent?.field === "func" ? node.parent.parent : node.parent;
  const takes = (other: Op) => other.inputs.some((uid) => op.outputs.includes(uid));
  return ops
    .slice(own + 1)
    .some((other) => other.direct && takes(other) && expressionOfOperation(program, other) === around);
}

/** Python's own functions, and those of other packages, may give something else than what they compute. */
function givesTensor(node: SyntaxNode): boolean {
  if (node.kind !== "Call") return true;
  const callee = node.children[0];
  const path = calleePath(node);
  return path ? /^torch\b/.test(path) : callee.kind === "Attribute" && !LIST_METHODS.test(String(callee.value));
}
