/** What a statement does by its syntax: what it assigns to what, which loop it heads, what it stands in. */

import {
  callArgument,
  attributeRead,
  calleeName,
  callsIn,
  isTorchMember,
  pathSteps,
  pathText,
  receiver,
  rootName,
} from "./expressions.ts";
import { isAssignmentTarget } from "./name_uses.ts";
import { nodesOfKind, childOf, childrenOf, walk, type SyntaxNode, statementTrees } from "./tree.ts";
import type { Program } from "../trace/wire.ts";

/** One target of an assignment and what it gets. */
interface Assignment {
  target: SyntaxNode;
  /** null where a tuple is unpacked that isn't written there, and for an annotation alone */
  value: SyntaxNode | null;
  /** of `+=` its operator, `+`; empty for plain ones */
  operator: string;
}

/** What a statement assigns, those of `:=` last; `a, b = b, a` are two, `a = b = c` as well. */
export function assignments(statement: SyntaxNode): Assignment[] {
  const value = childOf(statement, "value");
  const out: Assignment[] = [];
  if (statement.kind === "Assign")
    for (const target of childrenOf(statement, "targets")) out.push(...pairTargetsWithValues(target, value));
  else if (statement.kind === "AnnAssign" || statement.kind === "AugAssign") {
    const operator = statement.kind === "AugAssign" ? String(statement.value) : "";
    out.push({ target: statement.children[0], value, operator });
  }
  for (const node of walk(statement))
    if (node.kind === "NamedExpr") out.push({ target: node.children[0], value: childOf(node, "value"), operator: "" });
  return out;
}

function pairTargetsWithValues(target: SyntaxNode, value: SyntaxNode | null): Assignment[] {
  if (target.kind !== "Tuple" && target.kind !== "List") return [{ target, value, operator: "" }];
  const isStarred = (node: SyntaxNode) => node.kind === "Starred";
  const isPaired =
    value !== null &&
    (value.kind === "Tuple" || value.kind === "List") &&
    value.children.length === target.children.length &&
    !value.children.some(isStarred) &&
    !target.children.some(isStarred);
  return target.children.flatMap((element, k) => pairTargetsWithValues(element, isPaired ? value.children[k] : null));
}

/** The plain name of a statement that gives a value to one name and does no more, and the value: `x = f(y)`. */
export function singleAssignment(statement: SyntaxNode): { name: string; value: SyntaxNode } | null {
  if (statement.kind !== "Assign" && statement.kind !== "AnnAssign") return null;
  const [{ target, value }, ...others] = assignments(statement);
  return target.kind === "Name" && value && !others.length ? { name: String(target.value), value } : null;
}

/** The expression that is a statement by itself: `f(x)`. */
export function bareExpression(statement: SyntaxNode): SyntaxNode | null {
  return statement.kind === "Expr" ? childOf(statement, "value") : null;
}

/** What a `for` goes through, and the names that get its items. */
export function loopHead(statement: SyntaxNode | null): { target: SyntaxNode; iterable: SyntaxNode } | null {
  if (statement?.kind !== "For" && statement?.kind !== "AsyncFor") return null;
  const [target, iterable] = [childOf(statement, "target"), childOf(statement, "iter")];
  return target && iterable ? { target, iterable } : null;
}

/** The variables of a loop's head and of the comprehensions in a statement. */
export function loopVariables(statement: SyntaxNode): Set<string> {
  const targets = [...walk(statement)].flatMap((node) =>
    node.kind === "comprehension" || loopHead(node) ? childrenOf(node, "target") : [],
  );
  return new Set(targets.flatMap((target) => nodesOfKind(target, "Name").map(({ value }) => String(value))));
}

/** The statements around a statement, innermost first, by their indices. */
export function* statementsAround(program: Program, stmt: number): Generator<number> {
  const statements = program.statements ?? [];
  for (let outer = statements[stmt]?.parent; typeof outer === "number"; outer = statements[outer]?.parent) yield outer;
}

/** Whether a statement stands in an `if` of its function. */
export function isConditional(program: Program, stmt: number): boolean {
  for (const outer of statementsAround(program, stmt)) {
    const kind = program.statements?.[outer]?.kind ?? "";
    if (kind === "If") return true;
    if (kind.endsWith("FunctionDef")) return false;
  }
  return false;
}

/** Whether a method is called anywhere in the program, or in a statement that is unknown. */
export function mayCallMethod(program: Program, ...names: string[]): boolean {
  return statementTrees(program).some(
    (tree) => tree === null || nodesOfKind(tree, "Call").some((call) => names.includes(calleeName(call))),
  );
}

/** The function that a statement is in; -1 for the module. */
export function functionAround(program: Program, stmt: number): number {
  for (const outer of statementsAround(program, stmt))
    if (["FunctionDef", "AsyncFunctionDef"].includes(program.statements?.[outer]?.kind ?? "")) return outer;
  return -1;
}

/** The nodes whose `.grad` a statement reads, in whatever spelling; a question whether there is one reads nothing. */
export function gradReads(statement: SyntaxNode): SyntaxNode[] {
  const objects: SyntaxNode[] = [];
  for (const node of walk(statement)) {
    const read = attributeRead(node);
    if (read?.attribute !== "grad" || (isAssignmentTarget(node) && node.parent?.kind !== "AugAssign")) continue;
    if (isComparedWithNone(node)) return [];
    if (!isPartOfCondition(node)) objects.push(read.object);
  }
  return objects;
}

function isComparedWithNone({ parent }: SyntaxNode) {
  return (
    parent?.kind === "Compare" &&
    ["is", "is not", "==", "!="].includes(String(parent.value)) &&
    parent.children.some(({ kind, value }) => kind === "Constant" && value === null)
  );
}

/** Whether an expression is a condition, or a part of one that `and`, `or` and `not` make. */
function isPartOfCondition(node: SyntaxNode): boolean {
  const { parent, field } = node;
  if (parent?.kind === "BoolOp" || (parent?.kind === "UnaryOp" && parent.value === "not"))
    return isPartOfCondition(parent);
  return field === "test" || field === "ifs";
}

/**
 * The names through which a statement writes: of what it assigns to, also to an element; of a method that ends in `_`;
 * of the functions of torch that do so in their first argument; of `out=`.
 */
export function namesWritten(statement: SyntaxNode): Set<string> {
  const names = new Set<string>();
  const add = (node: SyntaxNode | null) => {
    const name = rootName(node) ?? (node && rootNameOfCalls(node));
    if (name) names.add(name);
  };
  const addTarget = (target: SyntaxNode) => {
    if (["Tuple", "List", "Starred"].includes(target.kind)) target.children.forEach(addTarget);
    else add(target);
  };
  for (const { target } of assignments(statement)) addTarget(target);
  for (const call of callsIn(statement)) {
    if (isInPlaceName(calleeName(call))) {
      const object = receiver(call);
      add(
        object && !isTorchMember(object) ? object : (callArgument(call, "tensor", 0) ?? callArgument(call, "input", 0)),
      );
    }
    const out = callArgument(call, "out");
    if (out) addTarget(out);
  }
  return names;
}

/** Whether a method or a function of torch writes what it is given, by its name. */
export function isInPlaceName(name: string): boolean {
  return name.length > 1 && name.endsWith("_") && !name.endsWith("__");
}

/** The name at which a chain of calls begins: `x` of `x.view(2).t()`, and of `torch.diagonal(x).neg()`. */
export function rootNameOfCalls(node: SyntaxNode): string | null {
  let inner: SyntaxNode | null = node;
  while (inner && inner.kind !== "Name") {
    if (inner.kind === "Call" && isTorchMember(inner.children[0])) inner = callArgument(inner, "input", 0);
    else inner = ["Attribute", "Subscript", "Call"].includes(inner.kind) ? inner.children[0] : null;
  }
  return inner ? String(inner.value) : null;
}

/** The paths of an expression's nodes, the longest where one begins another: `a.b` of `f(a.b)`. */
export function attributePathsIn(node: SyntaxNode): SyntaxNode[] {
  const out: SyntaxNode[] = [];
  const visit = (inner: SyntaxNode) => {
    if (pathText(inner) !== null && pathSteps(inner)) out.push(inner);
    else inner.children.forEach(visit);
  };
  visit(node);
  return out;
}
