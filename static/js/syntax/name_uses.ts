/** Which names a statement reads and binds in the scope in which it stands, as CPython's scopes have it. */

import { childOf, childrenOf, walk, type SyntaxNode } from "./tree.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

interface NameUses {
  /** by name, the nodes that read it; those within lambdas and comprehensions too, but for their own variables */
  read: Map<string, SyntaxNode[]>;
  /** by name, the nodes that bind or delete it */
  bound: Map<string, SyntaxNode[]>;
}

const COMPREHENSIONS = new Set(["ListComp", "SetComp", "DictComp", "GeneratorExp"]);
const DEFINITIONS = new Set(["FunctionDef", "AsyncFunctionDef", "ClassDef"]);
const PARAMETER_FIELDS = new Set(["args", "posonlyargs", "vararg", "kwonlyargs", "kwarg"]);
/** Nodes that bind the name that is their value. */
const BINDING_KINDS = new Set(["alias", "ExceptHandler", "MatchAs", "MatchStar", "MatchMapping"]);
const TARGET_FIELDS = new Set(["targets", "target", "optional_vars"]);

/** The names that a statement uses, by its tree: of a block its head alone is looked at. */
export const nameUses = weakMemoize((statement: SyntaxNode): NameUses => {
  const uses: NameUses = { read: new Map(), bound: new Map() };
  collectNameUses(statement, new Set(), uses);
  return uses;
});

/** The names that a statement reads or binds. */
export function mentionedNames(statement: SyntaxNode): Set<string> {
  const { read, bound } = nameUses(statement);
  return new Set([...read.keys(), ...bound.keys()]);
}

/** Whether a statement gives a name another meaning and doesn't read it. */
export function isOnlyBound(statement: SyntaxNode | null, name: string): boolean {
  const uses = statement && nameUses(statement);
  return uses ? uses.bound.has(name) && !uses.read.has(name) : false;
}

/** Whether a node is bound or deleted where it stands: a target, or a part of one. `x` in `x.y = 1` is read. */
export function isAssignmentTarget(node: SyntaxNode): boolean {
  let inner = node;
  while (inner.parent && ["Tuple", "List", "Starred"].includes(inner.parent.kind)) inner = inner.parent;
  return TARGET_FIELDS.has(inner.field);
}

/** The parameters of a function or a lambda. */
export function functionParameters(definition: SyntaxNode): SyntaxNode[] {
  return definition.children.filter(({ kind, field }) => kind === "arg" && PARAMETER_FIELDS.has(field));
}

/** The comprehension that gives a name its meaning, where that is the variable of one around it. */
export function comprehensionOfName(name: SyntaxNode): SyntaxNode | null {
  for (let inner = name, outer = name.parent; outer; inner = outer, outer = outer.parent) {
    if (!COMPREHENSIONS.has(outer.kind)) continue;
    if (inner === childOf(outer, "generators") && isWithin(name, childOf(inner, "iter"))) continue;
    const generator = childrenOf(outer, "generators").find((candidate) =>
      targetNames(candidate).has(String(name.value)),
    );
    if (generator) return generator;
  }
  return null;
}

function isWithin(node: SyntaxNode, outer: SyntaxNode | null) {
  for (let inner: SyntaxNode | null = node; inner; inner = inner.parent) if (inner === outer) return true;
  return false;
}

/** `hidden` are the names of lambdas, comprehensions, classes and functions around that are not the statement's own */
function collectNameUses(node: SyntaxNode, hidden: Set<string>, uses: NameUses) {
  if (node.kind === "Name") {
    const isBound = isAssignmentTarget(node);
    if (isBound || isAugmented(node)) addNameUse(uses.bound, node, hidden);
    if (!isBound || isAugmented(node)) addNameUse(uses.read, node, hidden);
    return;
  }
  if (BINDING_KINDS.has(node.kind) && typeof node.value === "string" && node.value !== "*")
    addNameUse(uses.bound, node, hidden);
  if (DEFINITIONS.has(node.kind)) {
    addNameUse(uses.bound, node, hidden);
    collectDefinition(node, hidden, uses);
  } else if (node.kind === "Lambda") collectFunction(node, hidden, uses);
  else if (COMPREHENSIONS.has(node.kind)) collectComprehension(node, hidden, uses);
  else for (const child of node.children) collectNameUses(child, hidden, uses);
}

function collectDefinition(node: SyntaxNode, hidden: Set<string>, uses: NameUses) {
  if (node.kind !== "ClassDef") {
    collectFunction(node, hidden, uses);
    return;
  }
  const own = new Set([...hidden, ...namesBoundIn(childrenOf(node, "body"))]);
  for (const child of node.children) collectNameUses(child, child.field === "body" ? own : hidden, uses);
}

/** A function or a lambda: what its parameters are given is computed outside. */
function collectFunction(node: SyntaxNode, hidden: Set<string>, uses: NameUses) {
  const own = new Set(hidden);
  for (const parameter of functionParameters(node)) {
    own.add(String(parameter.value));
    for (const child of parameter.children) collectNameUses(child, hidden, uses);
  }
  const body = childrenOf(node, "body");
  for (const name of namesBoundIn(body)) own.add(name);
  for (const child of node.children)
    if (child.kind !== "arg") collectNameUses(child, child.field === "body" ? own : hidden, uses);
}

function collectComprehension(node: SyntaxNode, hidden: Set<string>, uses: NameUses) {
  const own = new Set(hidden);
  const generators = childrenOf(node, "generators");
  for (const generator of generators) for (const name of targetNames(generator)) own.add(name);
  for (const child of node.children) {
    if (child.field !== "generators") collectNameUses(child, own, uses);
    else
      for (const inner of child.children)
        collectNameUses(inner, inner.field === "iter" && child === generators[0] ? hidden : own, uses);
  }
}

function targetNames(generator: SyntaxNode): Set<string> {
  const target = childOf(generator, "target");
  return new Set(target ? [...walk(target)].flatMap((node) => (isBoundName(node) ? [String(node.value)] : [])) : []);
}

function isBoundName(node: SyntaxNode) {
  return node.kind === "Name" && isAssignmentTarget(node);
}

/** The names that statements, or a lambda's expression, bind in their own scope, but for those declared otherwise. */
function namesBoundIn(body: SyntaxNode[]): Set<string> {
  const uses: NameUses = { read: new Map(), bound: new Map() };
  const declared = new Set<string>();
  for (const node of body) {
    collectNameUses(node, new Set(), uses);
    for (const inner of walk(node))
      if (inner.kind === "Global" || inner.kind === "Nonlocal")
        for (const name of String(inner.value).split(",")) declared.add(name);
  }
  return new Set([...uses.bound.keys()].filter((name) => !declared.has(name)));
}

function isAugmented(node: SyntaxNode) {
  return node.parent?.kind === "AugAssign" && node.field === "target";
}

function addNameUse(uses: Map<string, SyntaxNode[]>, node: SyntaxNode, hidden: Set<string>) {
  const name = String(node.value);
  if (hidden.has(name)) return;
  const list = uses.get(name);
  if (list) list.push(node);
  else uses.set(name, [node]);
}
