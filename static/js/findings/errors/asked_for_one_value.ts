/** Where Python asks for one value: what was asked. */

import { codeFact, type Fact, type RunFacts } from "../diagnosis.ts";
import { calleePath, calleeName, pathText, positionalArguments, receiver } from "../../syntax/expressions.ts";
import { walk, type SyntaxNode } from "../../syntax/tree.ts";
import { numel } from "../../trace/reads.ts";
import { expressionOfOperation } from "../facts/operation_expression.ts";

interface AskedTensor {
  name: Fact;
  uid: string;
}

/** Functions of Python that turn one value into a number or a truth. */
const NUMBER_FUNCTIONS = /^builtins\.(?:int|float|complex|bool)$|^math\./;
const HEADS = /^(?:If|While|IfExp|Assert)$/;

/**
 * The first tensor that a statement asks for one value and that holds several or none; null where the trace doesn't
 * show what was asked.
 */
export function tensorAskedForOneValue(facts: RunFacts, step: number): AskedTensor | null {
  const tree = facts.syntax(step);
  const last = facts.opsAt(step).at(-1);
  for (const node of tree ? nodesAskedForOneValue(tree) : []) {
    if (node.kind === "Constant") continue;
    const isOfLast = last && expressionOfOperation(facts.trace.program, last) === node;
    const uid = facts.resolve(node, step) ?? (isOfLast ? last.outputs[0] : null);
    const shape = uid && facts.tensor(uid, step)?.shape;
    if (!shape) return null;
    const name = pathText(node) === null ? { result: node.text, line: node.line } : codeFact(node.text);
    if (numel(shape) !== 1) return { name, uid };
  }
  return null;
}

/** In the order in which Python asks. */
function nodesAskedForOneValue(tree: SyntaxNode): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  for (const node of walk(tree)) {
    if (HEADS.test(node.kind))
      nodes.push(...node.children.filter(({ field }) => field === "test").flatMap(operandsOfCondition));
    else if (node.kind === "BoolOp" && node.parent?.field !== "test")
      nodes.push(...operandsOfCondition(node).slice(0, -1));
    else if (node.kind === "Call" && NUMBER_FUNCTIONS.test(calleePath(node) ?? ""))
      nodes.push(...positionalArguments(node));
    else if (node.kind === "Call" && calleeName(node) === "item")
      nodes.push(...[receiver(node)].filter((each) => each !== null));
  }
  return nodes.sort((a, b) => a.end - b.end);
}

function operandsOfCondition(node: SyntaxNode): SyntaxNode[] {
  const isCombined = node.kind === "BoolOp" || (node.kind === "UnaryOp" && node.value === "not");
  return isCombined ? node.children.flatMap(operandsOfCondition) : [node];
}
