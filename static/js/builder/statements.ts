/**
 * A program as the builder shows it: every line belongs to one item, so that the items put together are the text again.
 */

import { indentationOf, isSyntaxError, hasNoSyntaxErrors, parsePython } from "./grammar.ts";
import { classifyLinesWithoutStatement } from "./commented_out.ts";
import type { SyntaxNode, Tree } from "@lezer/common";

/** head: of a compound statement, with its decorators; clause: `else:`, `except:`, `case …:`; off: a statement that
 * is commented out; note: a comment */
type ProgramItemKind = "statement" | "head" | "clause" | "off" | "note" | "blank";

export interface ProgramItem {
  kind: ProgramItemKind;
  /** its first line, from 0 */
  first: number;
  /** its own last line */
  last: number;
  /** the last line of its block: with its body, and of a head with all clauses */
  end: number;
  /** how many blocks it stands in */
  depth: number;
  /** what its first line begins with */
  indent: string;
  /** the keyword of a head or clause: `for`, `with`, `else` …; else empty */
  word: string;
  /** where it stands; null for what no statement is */
  body: StatementBody | null;
  /** of a head, its own and those of its clauses; of a clause, its own; none where it is on the line */
  bodies: StatementBody[];
  /** its statements in the tree; none for what no statement is */
  nodes: SyntaxNode[];
  /** the grammar does not know all of it */
  broken: boolean;
}

export interface StatementBody {
  /** the item whose lines begin it; null for the program itself */
  head: ProgramItem | null;
  /** the whole compound statement */
  of: ProgramItem | null;
  indent: string;
  depth: number;
  statements: ProgramItem[];
}

export interface ParsedProgram {
  source: string;
  lines: string[];
  items: ProgramItem[];
  root: StatementBody;
  tree: Tree;
  /** it is no Python yet */
  broken: boolean;
}

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

/** The last one that was read: what is tried is mostly what comes next. */
let lastParsedProgram: ParsedProgram | null = null;

/** The result is cached: nobody may change it. */
export function parseProgram(source: string): ParsedProgram {
  if (lastParsedProgram?.source === source) return lastParsedProgram;
  const lines = source.split("\n");
  const tree = parsePython(source);
  const reader = new StatementReader(source, lines);
  const root: StatementBody = { head: null, of: null, indent: "", depth: 0, statements: [] };
  reader.readBody(tree.topNode, root);
  const items = withCommentsAndBlanks(reader.items, lines, root);
  lastParsedProgram = { source, lines, items, root, tree, broken: !hasNoSyntaxErrors(tree) };
  return lastParsedProgram;
}

/** The item that a line belongs to; lines count from 0. */
export function itemAtLine({ items }: ParsedProgram, line: number): ProgramItem | undefined {
  return items.find(({ first, last }) => first <= line && line <= last);
}

class StatementReader {
  source: string;
  lines: string[];
  /** statements, heads and clauses, in order */
  items: ProgramItem[] = [];
  /** where each line begins */
  lineStarts: number[] = [0];

  constructor(source: string, lines: string[]) {
    this.source = source;
    this.lines = lines;
    for (const line of lines) this.lineStarts.push(this.lineStarts[this.lineStarts.length - 1] + line.length + 1);
  }

  /** The line of a place in the text. */
  lineOfOffset(offset: number) {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.lineStarts[mid] <= offset) low = mid;
      else high = mid - 1;
    }
    return low;
  }

  /** The last line of a node, without the line break that may belong to it. */
  lastLineOfNode(node: SyntaxNode) {
    let end = node.to;
    while (end > node.from + 1 && /\s/.test(this.source[end - 1])) end--;
    return this.lineOfOffset(Math.max(node.from, end - 1));
  }

  /** Reads the statements that are children of a node. */
  readBody(node: SyntaxNode, body: StatementBody) {
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.name === ":" || child.name === "Comment") continue;
      if (child.name === "MatchClause") this.readClause(child, body);
      else if (isCompound(child)) this.readCompound(child, body);
      else this.addStatement(child, body);
    }
  }

  addStatement(node: SyntaxNode, body: StatementBody) {
    const first = this.lineOfOffset(node.from);
    const last = this.lastLineOfNode(node);
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

  readCompound(outer: SyntaxNode, body: StatementBody) {
    const node = outer.name === "DecoratedStatement" ? (outer.lastChild ?? outer) : outer;
    const parts = headAndClausesOf(node);
    const first = this.lineOfOffset(outer.from);
    const itemOnLine = this.items.at(-1);
    if (!parts.length || (itemOnLine && first <= itemOnLine.last)) return this.addStatement(outer, body);
    const word = node.firstChild?.name === "async" ? "async" : (node.firstChild?.name ?? "");
    const head = this.addItem(body, { kind: "head", first, last: first, word, nodes: [outer] });
    parts.forEach((part, k) => {
      const from = k ? this.lineOfOffset(part.word.from) : first;
      const item = k
        ? this.addItem(body, { kind: "clause", first: from, last: from, word: part.word.name, nodes: [part.word] })
        : head;
      if (!k) head.broken = containsError(outer, new Set(["Body", "MatchBody"]));
      this.readBlock(item, part.body, head, body.depth + 1);
    });
    head.end = Math.max(head.end, this.items[this.items.length - 1].end);
  }

  /** A clause of a match. */
  readClause(node: SyntaxNode, body: StatementBody) {
    const blockNode = node.getChild("Body");
    const first = this.lineOfOffset(node.from);
    if (!blockNode || !body.of) return this.addStatement(node, body);
    const item = this.addItem(body, { kind: "clause", first, last: first, word: "case", nodes: [node] });
    this.readBlock(item, blockNode, body.of, body.depth + 1);
  }

  /** What stands below a head or a clause: the statements of the node of its body. */
  readBlock(item: ProgramItem, node: SyntaxNode, compound: ProgramItem, depth: number) {
    const statements = childNodes(node).filter(({ name }) => name !== ":" && name !== "Comment");
    const colonLine = this.lineOfOffset(node.from);
    const firstStatement = statements[0];
    if (!firstStatement || this.lineOfOffset(firstStatement.from) === colonLine) {
      item.last = item.end = firstStatement ? this.lastLineOfNode(node) : colonLine;
      item.broken ||= !firstStatement || containsError(node);
      return;
    }
    item.last = item.end = colonLine;
    const firstLine = this.lineOfOffset(firstStatement.from);
    const body: StatementBody = {
      head: item,
      of: compound,
      indent: indentationOf(this.lines[firstLine]),
      depth,
      statements: [],
    };
    item.bodies.push(body);
    if (compound !== item) compound.bodies.push(body);
    this.readBody(node, body);
    item.end = Math.max(item.last, this.items[this.items.length - 1].end);
  }

  addItem(
    body: StatementBody,
    {
      kind,
      first,
      last,
      word,
      nodes,
    }: { kind: ProgramItemKind; first: number; last: number; word: string; nodes: SyntaxNode[] },
  ) {
    const item: ProgramItem = {
      kind,
      first,
      last,
      end: last,
      depth: body.depth,
      indent: indentationOf(this.lines[first]),
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

function isCompound(node: SyntaxNode) {
  return COMPOUND_NODES.has(node.name) || node.name === "DecoratedStatement";
}

function childNodes(node: SyntaxNode) {
  const children = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

/** The head and the clauses of a compound statement, each with the word that begins it. */
function headAndClausesOf(node: SyntaxNode) {
  const parts: { word: SyntaxNode; body: SyntaxNode }[] = [];
  let word = node.firstChild;
  for (const child of childNodes(node)) {
    if (CLAUSE_WORDS.has(child.name)) word = child;
    if (word && (child.name === "Body" || child.name === "MatchBody")) parts.push({ word, body: child });
  }
  return parts;
}

function containsError(node: SyntaxNode, except?: Set<string>) {
  let hasFound = false;
  node.cursor().iterate((cursor) => {
    if (cursor.type.isError && isSyntaxError(cursor.node)) hasFound = true;
    if (except?.has(cursor.name)) return false;
  });
  return hasFound;
}

/** The items of all lines: what the tree has no statement for is a note, a blank line, or text that is no Python. */
function withCommentsAndBlanks(statements: ProgramItem[], lines: string[], root: StatementBody): ProgramItem[] {
  const items: ProgramItem[] = [];
  let nextLine = 0;
  for (const item of [...statements, null]) {
    const endLine = item ? item.first : lines.length;
    if (nextLine < endLine) items.push(...commentAndBlankItems(lines, nextLine, endLine, statements, root));
    if (item) items.push(item);
    nextLine = item ? item.last + 1 : endLine;
  }
  return items;
}

function commentAndBlankItems(
  lines: string[],
  from: number,
  to: number,
  statements: ProgramItem[],
  root: StatementBody,
): ProgramItem[] {
  const items: ProgramItem[] = [];
  for (const { first, last, kind } of classifyLinesWithoutStatement(lines, from, to)) {
    const line = lines[first];
    const depth = depthOfComment(indentationOf(line), first, statements);
    const isUnparsed = kind === "statement";
    items.push({
      kind,
      first,
      last,
      end: last,
      depth: line.trim() ? depth : 0,
      indent: indentationOf(line),
      word: "",
      body: isUnparsed ? root : null,
      bodies: [],
      nodes: [],
      broken: isUnparsed,
    });
  }
  return items;
}

/** How deep a comment stands: in the innermost block around its line that is not further to the right. */
function depthOfComment(indent: string, line: number, statements: ProgramItem[]) {
  const before = statements.findLast(({ first }) => first < line);
  let body = before?.bodies.length && before.last < line ? before.bodies[0] : (before?.body ?? null);
  while (body && body.indent.length > indent.length) body = body.of?.body ?? null;
  return body?.depth ?? 0;
}
