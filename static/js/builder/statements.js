/** A program as the builder shows it: every line belongs to one item, so that the items put together are the text again. */

import { indentOf, isSyntaxError, hasNoErrors, parsePython } from "./grammar.js";
import { commentRuns } from "./commented_out.js";

/**
 * @typedef {import("@lezer/common").SyntaxNode} SyntaxNode
 * @typedef {import("@lezer/common").Tree} Tree
 *
 * @typedef {"statement" | "head" | "clause" | "off" | "note" | "blank"} ItemKind
 *   head: of a compound statement, with its decorators; clause: `else:`, `except:`, `case …:`; off: a statement that is
 *   commented out; note: a comment
 * @typedef {object} Item
 * @property {ItemKind} kind
 * @property {number} first its first line, from 0
 * @property {number} last its own last line
 * @property {number} end the last line of its block: with its body, and of a head with all clauses
 * @property {number} depth how many blocks it stands in
 * @property {string} indent what its first line begins with
 * @property {string} word the keyword of a head or clause: `for`, `with`, `else` …; else empty
 * @property {Body | null} body where it stands; null for what no statement is
 * @property {Body[]} bodies of a head, its own and those of its clauses; of a clause, its own; none where it is on the line
 * @property {SyntaxNode[]} nodes its statements in the tree; none for what no statement is
 * @property {boolean} broken the grammar does not know all of it
 *
 * @typedef {{head: Item | null, of: Item | null, indent: string, depth: number, statements: Item[]}} Body
 *   head: the item whose lines begin it; null for the program itself; of: the whole compound statement
 *
 * @typedef {{source: string, lines: string[], items: Item[], root: Body, tree: Tree, broken: boolean}} Program
 *   broken: it is no Python yet
 */

const COMPOUND_NODES = new Set([
  "IfStatement",
  "ForStatement",
  "WhileStatement",
  "TryStatement",
  "WithStatement",
  "FunctionDefinition",
  "ClassDefinition",
  "MatchStatement",
]);
const CLAUSE_WORDS = new Set(["elif", "else", "except", "finally", "case"]);

/** The last one that was read: what is tried is mostly what comes next. @type {Program | null} */
let lastParsed = null;

/** @param {string} source @returns {Program} that nobody changes */
export function readProgram(source) {
  if (lastParsed?.source === source) return lastParsed;
  const lines = source.split("\n");
  const tree = parsePython(source);
  const reader = new StatementReader(source, lines);
  /** @type {Body} */
  const root = { head: null, of: null, indent: "", depth: 0, statements: [] };
  reader.readBody(tree.topNode, root);
  const items = withNonStatements(reader.items, lines, root);
  lastParsed = { source, lines, items, root, tree, broken: !hasNoErrors(tree) };
  return lastParsed;
}

/** The item that a line belongs to. @param {Program} program @param {number} line from 0 @returns {Item | undefined} */
export function itemAt({ items }, line) {
  return items.find(({ first, last }) => first <= line && line <= last);
}

class StatementReader {
  /** @param {string} source @param {string[]} lines */
  constructor(source, lines) {
    this.source = source;
    this.lines = lines;
    /** @type {Item[]} statements, heads and clauses, in order */
    this.items = [];
    /** @type {number[]} where each line begins */
    this.lineStarts = [0];
    for (const line of lines) this.lineStarts.push(this.lineStarts[this.lineStarts.length - 1] + line.length + 1);
  }

  /** The line of a place in the text. @param {number} offset */
  lineOf(offset) {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.lineStarts[mid] <= offset) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  /** The last line of a node, without the line break that may belong to it. @param {SyntaxNode} node */
  lastLine(node) {
    let end = node.to;
    while (end > node.from + 1 && /\s/.test(this.source[end - 1])) end--;
    return this.lineOf(Math.max(node.from, end - 1));
  }

  /** @param {SyntaxNode} node whose children are statements @param {Body} body */
  readBody(node, body) {
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.name === ":" || child.name === "Comment") continue;
      if (child.name === "MatchClause") this.readClause(child, body);
      else if (isCompound(child)) this.readCompound(child, body);
      else this.addStatement(child, body);
    }
  }

  /** @param {SyntaxNode} node @param {Body} body */
  addStatement(node, body) {
    const first = this.lineOf(node.from);
    const last = this.lastLine(node);
    const itemOnLine = this.items.at(-1);
    if (itemOnLine && first <= itemOnLine.last) {
      itemOnLine.last = itemOnLine.end = Math.max(last, itemOnLine.last);
      itemOnLine.nodes.push(node);
      itemOnLine.broken ||= containsError(node);
      return;
    }
    if (node.type.isError && node.from === node.to) return;
    this.addItem(body, { kind: "statement", first, last, word: "", nodes: [node] });
  }

  /** @param {SyntaxNode} outer @param {Body} body */
  readCompound(outer, body) {
    const node = outer.name === "DecoratedStatement" ? (outer.lastChild ?? outer) : outer;
    const parts = clauseParts(node);
    const first = this.lineOf(outer.from);
    const itemOnLine = this.items.at(-1);
    if (!parts.length || (itemOnLine && first <= itemOnLine.last)) return this.addStatement(outer, body);
    const word = node.firstChild?.name === "async" ? "async" : (node.firstChild?.name ?? "");
    const head = this.addItem(body, { kind: "head", first, last: first, word, nodes: [outer] });
    parts.forEach((part, k) => {
      const from = k ? this.lineOf(part.word.from) : first;
      const item = k
        ? this.addItem(body, { kind: "clause", first: from, last: from, word: part.word.name, nodes: [part.word] })
        : head;
      if (!k) head.broken = containsError(outer, new Set(["Body", "MatchBody"]));
      this.readBlock(item, part.body, head, body.depth + 1);
    });
    head.end = Math.max(head.end, this.items[this.items.length - 1].end);
  }

  /** A clause of a match. @param {SyntaxNode} node @param {Body} body */
  readClause(node, body) {
    const blockNode = node.getChild("Body");
    const first = this.lineOf(node.from);
    if (!blockNode || !body.of) return this.addStatement(node, body);
    const item = this.addItem(body, { kind: "clause", first, last: first, word: "case", nodes: [node] });
    this.readBlock(item, blockNode, body.of, body.depth + 1);
  }

  /** What stands below a head or a clause. @param {Item} item @param {SyntaxNode} node its body @param {Item} compound @param {number} depth */
  readBlock(item, node, compound, depth) {
    const statements = childrenOf(node).filter(({ name }) => name !== ":" && name !== "Comment");
    const colonLine = this.lineOf(node.from);
    const firstStatement = statements[0];
    if (!firstStatement || this.lineOf(firstStatement.from) === colonLine) {
      item.last = item.end = firstStatement ? this.lastLine(node) : colonLine;
      item.broken ||= !firstStatement || containsError(node);
      return;
    }
    item.last = item.end = colonLine;
    const firstLine = this.lineOf(firstStatement.from);
    /** @type {Body} */
    const body = { head: item, of: compound, indent: indentOf(this.lines[firstLine]), depth, statements: [] };
    item.bodies.push(body);
    if (compound !== item) compound.bodies.push(body);
    this.readBody(node, body);
    item.end = Math.max(item.last, this.items[this.items.length - 1].end);
  }

  /** @param {Body} body @param {{kind: ItemKind, first: number, last: number, word: string, nodes: SyntaxNode[]}} facts */
  addItem(body, { kind, first, last, word, nodes }) {
    /** @type {Item} */
    const item = {
      kind,
      first,
      last,
      end: last,
      depth: body.depth,
      indent: indentOf(this.lines[first]),
      word,
      body,
      bodies: [],
      nodes,
      broken: kind === "statement" && nodes.some((node) => containsError(node)),
    };
    this.items.push(item);
    if (kind !== "clause") body.statements.push(item);
    return item;
  }
}

/** @param {SyntaxNode} node */
function isCompound(node) {
  return COMPOUND_NODES.has(node.name) || node.name === "DecoratedStatement";
}

/** @param {SyntaxNode} node */
function childrenOf(node) {
  const children = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

/** The head and the clauses of a compound statement, each with the word that begins it. @param {SyntaxNode} node */
function clauseParts(node) {
  /** @type {{word: SyntaxNode, body: SyntaxNode}[]} */
  const parts = [];
  let word = node.firstChild;
  for (const child of childrenOf(node)) {
    if (CLAUSE_WORDS.has(child.name)) word = child;
    if (word && (child.name === "Body" || child.name === "MatchBody")) parts.push({ word, body: child });
  }
  return parts;
}

/** @param {SyntaxNode} node @param {Set<string>} [except] */
function containsError(node, except) {
  let hasFound = false;
  node.cursor().iterate((cursor) => {
    if (cursor.type.isError && isSyntaxError(cursor.node)) hasFound = true;
    if (except?.has(cursor.name)) return false;
  });
  return hasFound;
}

/** The items of all lines: what the tree has no statement for is a note, a blank line, or text that is no Python.
 * @param {Item[]} statements @param {string[]} lines @param {Body} root @returns {Item[]} */
function withNonStatements(statements, lines, root) {
  /** @type {Item[]} */
  const items = [];
  let nextLine = 0;
  for (const item of [...statements, null]) {
    const endLine = item ? item.first : lines.length;
    if (nextLine < endLine) items.push(...nonStatementItems(lines, nextLine, endLine, statements, root));
    if (item) items.push(item);
    nextLine = item ? item.last + 1 : endLine;
  }
  return items;
}

/** @param {string[]} lines @param {number} from @param {number} to @param {Item[]} statements @param {Body} root @returns {Item[]} */
function nonStatementItems(lines, from, to, statements, root) {
  /** @type {Item[]} */
  const items = [];
  for (const { first, last, kind } of commentRuns(lines, from, to)) {
    const line = lines[first];
    const depth = depthAt(indentOf(line), first, statements);
    const isUnparsed = kind === "statement";
    items.push({
      kind,
      first,
      last,
      end: last,
      depth: line.trim() ? depth : 0,
      indent: indentOf(line),
      word: "",
      body: isUnparsed ? root : null,
      bodies: [],
      nodes: [],
      broken: isUnparsed,
    });
  }
  return items;
}

/** How deep a comment stands: in the innermost block around its line that is not further to the right.
 * @param {string} indent @param {number} line @param {Item[]} statements */
function depthAt(indent, line, statements) {
  const before = statements.findLast(({ first }) => first < line);
  let body = before?.bodies.length && before.last < line ? before.bodies[0] : (before?.body ?? null);
  while (body && body.indent.length > indent.length) body = body.of?.body ?? null;
  return body?.depth ?? 0;
}
