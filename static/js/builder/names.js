/** The names that a program's text has, each with what a statement does with it. */

/** @typedef {import("@lezer/common").SyntaxNode} SyntaxNode */
/** @typedef {{from: number, to: number, name: string, role: "made" | "used"}} NameMark   made: bound or written there */

/** What binds names, and names. */
const NAMING = new Set(["AssignStatement", "UpdateStatement", "ForStatement", "WithStatement", "VariableName"]);
const TARGETS = new Set(["TupleExpression", "ArrayExpression", "ParenthesizedExpression"]);

/** The marks of all names that the program itself binds, in order. @param {import("./statements.js").Program} program @returns {NameMark[]} */
export function nameMarks({ source, tree }) {
  /** @type {Map<number, NameMark>} */
  const made = new Map();
  /** @type {NameMark[]} */
  const used = [];
  const mark = (/** @type {SyntaxNode} */ node) =>
    made.set(node.from, { from: node.from, to: node.to, name: source.slice(node.from, node.to), role: "made" });
  tree.iterate({
    enter(at) {
      const { name } = at;
      if (!NAMING.has(name)) return;
      const { node } = at;
      if (name === "AssignStatement") assignedNames(node).forEach(mark);
      else if (name === "UpdateStatement" && node.firstChild) targetNames(node.firstChild).forEach(mark);
      else if (name === "ForStatement") targetsBetween(node, "for", "in").forEach(mark);
      else if (name === "WithStatement")
        node.getChildren("as").forEach((as) => as.nextSibling && targetNames(as.nextSibling).forEach(mark));
      else if (name === "VariableName" && !made.has(node.from) && !isKeyword(node))
        used.push({ from: node.from, to: node.to, name: source.slice(node.from, node.to), role: "used" });
    },
  });
  const bound = new Set([...made.values()].map(({ name }) => name));
  const marks = [...made.values(), ...used.filter(({ name, from }) => bound.has(name) && !made.has(from))];
  return marks.sort((a, b) => a.from - b.from);
}

/** What an assignment binds or writes: all before its last `=`. @param {SyntaxNode} node @returns {SyntaxNode[]} */
function assignedNames(node) {
  const last = node.getChildren("AssignOp").at(-1);
  const out = [];
  for (let child = node.firstChild; child && last && child.from < last.from; child = child.nextSibling)
    out.push(...targetNames(child));
  return out;
}

/** @param {SyntaxNode} node @param {string} first @param {string} last @returns {SyntaxNode[]} the targets between two words */
function targetsBetween(node, first, last) {
  const out = [];
  for (let child = node.getChild(first)?.nextSibling; child && child.name !== last; child = child.nextSibling)
    out.push(...targetNames(child));
  return out;
}

/** The names in the target of an assignment. @param {SyntaxNode} node @returns {SyntaxNode[]} */
function targetNames(node) {
  if (node.name === "VariableName") return [node];
  if (node.name === "MemberExpression" && node.getChild("["))
    return node.firstChild ? targetNames(node.firstChild) : [];
  if (!TARGETS.has(node.name)) return [];
  const out = [];
  for (let child = node.firstChild; child; child = child.nextSibling) out.push(...targetNames(child));
  return out;
}

/** Whether a name is that of an argument, as `requires_grad` in `f(requires_grad=True)`. @param {SyntaxNode} node */
function isKeyword(node) {
  return node.parent?.name === "ArgList" && node.nextSibling?.name === "AssignOp";
}
