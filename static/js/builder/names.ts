/** The names that a program's text has, each with what a statement does with it. */

import type { ParsedProgram } from "./statements.ts";
import type { SyntaxNode } from "@lezer/common";

/** made: bound or written there */
export interface NameOccurrence {
  from: number;
  to: number;
  name: string;
  role: "made" | "used";
}

/** What binds names, and names. */
const NAME_BINDING_NODES = new Set([
  "AssignStatement",
  "UpdateStatement",
  "ForStatement",
  "WithStatement",
  "VariableName",
]);
const COMPOUND_TARGET_NODES = new Set(["TupleExpression", "ArrayExpression", "ParenthesizedExpression"]);

/** The marks of all names that the program itself binds, in order. */
export function nameOccurrences({ source, tree }: ParsedProgram): NameOccurrence[] {
  const boundMarks = new Map<number, NameOccurrence>();
  const usedMarks: NameOccurrence[] = [];
  const addBoundMark = (node: SyntaxNode) =>
    boundMarks.set(node.from, { from: node.from, to: node.to, name: source.slice(node.from, node.to), role: "made" });
  tree.iterate({
    enter(cursor) {
      const { name } = cursor;
      if (!NAME_BINDING_NODES.has(name)) return;
      const { node } = cursor;
      if (name === "AssignStatement") namesInAssignmentTargets(node).forEach(addBoundMark);
      else if (name === "UpdateStatement" && node.firstChild) targetNames(node.firstChild).forEach(addBoundMark);
      else if (name === "ForStatement") targetsBetweenKeywords(node, "for", "in").forEach(addBoundMark);
      else if (name === "WithStatement")
        node
          .getChildren("as")
          .forEach((asNode) => asNode.nextSibling && targetNames(asNode.nextSibling).forEach(addBoundMark));
      else if (name === "VariableName" && !boundMarks.has(node.from) && !isKeywordArgument(node))
        usedMarks.push({ from: node.from, to: node.to, name: source.slice(node.from, node.to), role: "used" });
    },
  });
  const boundNames = new Set([...boundMarks.values()].map(({ name }) => name));
  const marks = [
    ...boundMarks.values(),
    ...usedMarks.filter(({ name, from }) => boundNames.has(name) && !boundMarks.has(from)),
  ];
  return marks.sort((a, b) => a.from - b.from);
}

/** What an assignment binds or writes: all before its last `=`. */
function namesInAssignmentTargets(node: SyntaxNode): SyntaxNode[] {
  const lastEquals = node.getChildren("AssignOp").at(-1);
  const targetNodes = [];
  for (let child = node.firstChild; child && lastEquals && child.from < lastEquals.from; child = child.nextSibling)
    targetNodes.push(...targetNames(child));
  return targetNodes;
}

/** The targets between two keywords. */
function targetsBetweenKeywords(node: SyntaxNode, first: string, last: string): SyntaxNode[] {
  const targetNodes = [];
  for (let child = node.getChild(first)?.nextSibling; child && child.name !== last; child = child.nextSibling)
    targetNodes.push(...targetNames(child));
  return targetNodes;
}

/** The names in the target of an assignment. */
function targetNames(node: SyntaxNode): SyntaxNode[] {
  if (node.name === "VariableName") return [node];
  if (node.name === "MemberExpression" && node.getChild("["))
    return node.firstChild ? targetNames(node.firstChild) : [];
  if (!COMPOUND_TARGET_NODES.has(node.name)) return [];
  const targetNodes = [];
  for (let child = node.firstChild; child; child = child.nextSibling) targetNodes.push(...targetNames(child));
  return targetNodes;
}

/** Whether a name is that of an argument, as `requires_grad` in `f(requires_grad=True)`. */
function isKeywordArgument(node: SyntaxNode) {
  return node.parent?.name === "ArgList" && node.nextSibling?.name === "AssignOp";
}
