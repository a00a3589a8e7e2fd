/** What an expression says: paths, calls with their arguments, literals, comparisons; whatever way it is written. */

import { weakMemoize } from "../trace/weak_memoize.ts";
import { childOf, childrenOf, type Literal, type SyntaxNode } from "./tree.ts";

/** What a step of a path goes through. */
type PathStep = { attribute: string } | { key: SyntaxNode };

/**
 * The object of which an expression reads an attribute, and the attribute's name: `x.grad`, `(x).grad`,
 * `getattr(x, "grad")`; null for other expressions.
 */
export function attributeRead(node: SyntaxNode): { object: SyntaxNode; attribute: string } | null {
  if (node.kind === "Attribute") return { object: node.children[0], attribute: String(node.value) };
  if (node.kind !== "Call" || calleePath(node) !== "builtins.getattr") return null;
  const [object, name] = childrenOf(node, "args");
  return object && typeof name?.value === "string" && name.kind === "Constant"
    ? { object, attribute: name.value }
    : null;
}

/**
 * A name with the attributes and keys that follow it; null for an expression that is none, like `f(x).grad`.
 */
export function pathSteps(node: SyntaxNode): { root: SyntaxNode; steps: PathStep[] } | null {
  const steps: PathStep[] = [];
  let inner = node;
  for (;;) {
    if (inner.kind === "Name") return { root: inner, steps: steps.reverse() };
    const read = attributeRead(inner);
    if (read) {
      steps.push({ attribute: read.attribute });
      inner = read.object;
    } else if (inner.kind === "Subscript") {
      const key = childOf(inner, "slice");
      if (!key) return null;
      steps.push({ key });
      inner = inner.children[0];
    } else if (inner.kind === "NamedExpr") inner = childOf(inner, "value") ?? inner.children[0];
    else return null;
  }
}

/** The name at which an expression begins: `a` of `a.b[0].c`; null for one that begins otherwise. */
export function rootName(node: SyntaxNode | null): string | null {
  const root = node && pathSteps(node)?.root;
  return root ? String(root.value) : null;
}

/** The name at which a path as text begins: `net` of `net[0].weight`. */
export function firstNameOf(path: string): string {
  return path.split(/[.[]/, 1)[0];
}

/**
 * A path as the names of a trace are written: `net[0].weight`, `d['k']`, with a variable as key `xs[i]`; null for
 * what is no path, and for keys of other kinds, like slices.
 */
export function pathText(node: SyntaxNode | null): string | null {
  const path = node && pathSteps(node);
  if (!path) return null;
  let text = String(path.root.value);
  for (const step of path.steps) {
    const suffix = "attribute" in step ? `.${step.attribute}` : keyText(step.key);
    if (suffix === null) return null;
    text += suffix;
  }
  return text;
}

function keyText(key: SyntaxNode) {
  if (key.kind === "Name") return `[${key.value}]`;
  const value = literalValue(key);
  if (typeof value === "string") return `['${value}']`;
  return value === undefined ? null : `[${value}]`;
}

/**
 * The dotted path that an expression leads to where that begins at an import or at what Python has itself:
 * `torch.nn.functional.relu` for `F.relu`, `builtins.print` for `print`.
 */
export function importedPath(node: SyntaxNode | null): string | null {
  const attributes: Literal[] = [];
  for (let inner = node; inner; inner = inner.children[0]) {
    if (inner.kind === "Name") return inner.path && [inner.path, ...attributes.reverse()].join(".");
    if (inner.kind !== "Attribute") return null;
    attributes.push(inner.value ?? "");
  }
  return null;
}

/** The calls that a node makes, an outer one before those in it; those in a lambda are not made where it stands. */
export function callsIn(node: SyntaxNode | null): readonly SyntaxNode[] {
  return node ? callsInTree(node) : [];
}

const callsInTree = weakMemoize((tree: SyntaxNode): readonly SyntaxNode[] => {
  const calls: SyntaxNode[] = [];
  const visit = (node: SyntaxNode) => {
    if (node.kind === "Call") calls.push(node);
    for (const child of node.children) if (node.kind !== "Lambda" || child.field !== "body") visit(child);
  };
  visit(tree);
  return calls;
});

/** What a call calls, where that is imported or Python's own; see `importedPath`. */
export function calleePath(call: SyntaxNode): string | null {
  return importedPath(childOf(call, "func"));
}

/** The last word of what a call calls: `backward` of `loss.backward()`, `relu` of `F.relu(x)`, as imported. */
export function calleeName(call: SyntaxNode): string {
  const func = childOf(call, "func");
  const isNamed = func?.kind === "Attribute" || func?.kind === "Name";
  return isNamed ? (func.path?.split(".").at(-1) ?? String(func.value)) : "";
}

/** What a method is called on: `loss` of `loss.backward()`; null where no attribute is called. */
export function receiver(call: SyntaxNode): SyntaxNode | null {
  const func = childOf(call, "func");
  return func?.kind === "Attribute" ? func.children[0] : null;
}

/** The calls of a method with one of these names, on whatever; those of functions of torch's modules have them, too. */
export function methodCalls(node: SyntaxNode | null, ...names: string[]): SyntaxNode[] {
  return callsIn(node).filter(
    (call) => childOf(call, "func")?.kind === "Attribute" && names.includes(calleeName(call)),
  );
}

/** Whether an expression is a function or a module of torch, by whatever name: `torch.add`, `F.relu`, `th.nn`. */
export function isTorchMember(node: SyntaxNode | null): boolean {
  const path = importedPath(node);
  return path === "torch" || Boolean(path?.startsWith("torch."));
}

/**
 * The argument that a call gives a parameter, by its name or by its position among those without a keyword. null where
 * it isn't given, or where `*args` or `**kwargs` hide that: see `hasUnpackedArguments`.
 */
export function callArgument(call: SyntaxNode, name: string, position = -1): SyntaxNode | null {
  const byKeyword = childrenOf(call, "keywords").find(({ value }) => value === name);
  if (byKeyword) return byKeyword.children[0] ?? null;
  const positional = childrenOf(call, "args");
  if (position < 0 || positional.slice(0, position + 1).some(({ kind }) => kind === "Starred")) return null;
  return positional[position] ?? null;
}

/** Whether a call has `*args` or `**kwargs`. */
export function hasUnpackedArguments(call: SyntaxNode): boolean {
  return call.children.some(({ kind, value }) => kind === "Starred" || (kind === "keyword" && value === undefined));
}

/** The arguments without a keyword; of `*args` what is unpacked is unknown. */
export function positionalArguments(call: SyntaxNode): SyntaxNode[] {
  return childrenOf(call, "args");
}

/** The value of a literal, and of arithmetic with integers that are literals; undefined for anything else. */
export function literalValue(node: SyntaxNode | null): Literal | undefined {
  if (!node) return undefined;
  if (node.kind === "Constant") return node.value;
  const [left, right] = node.children.map(literalValue);
  if (node.kind === "UnaryOp") return typeof left === "number" && node.value === "-" ? -left : undefined;
  if (node.kind !== "BinOp" || !Number.isInteger(left) || !Number.isInteger(right)) return undefined;
  const [a, b] = [Number(left), Number(right)];
  const results: Record<string, number> = { "+": a + b, "-": a - b, "*": a * b, "//": Math.floor(a / b) };
  const result = results[String(node.value)];
  return Number.isSafeInteger(result) ? result : undefined;
}

/** The operators of a comparison, between its operands. */
export function comparisonOperators(node: SyntaxNode): string[] {
  return node.kind === "Compare" ? String(node.value).split(",") : [];
}
