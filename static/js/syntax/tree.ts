/** The syntax of each statement of a program, as the recorder wrote it down: nobody here reads Python. */

import type { Program, Statement } from "../trace/wire.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

export type Literal = string | number | boolean | null;

/** A node of a statement's syntax tree; kind and field are called as in Python's `ast`. */
export interface SyntaxNode {
  kind: string;
  /** of the parent that has it; empty for a statement */
  field: string;
  parent: SyntaxNode | null;
  /** in the order of the fields; keys and values of a dict alternate */
  children: SyntaxNode[];
  /** what it is called, its operator or its literal; see `StatementSyntax.values` */
  value: Literal | undefined;
  /** of a name: the dotted path that it leads to, where the program imports it or Python has it */
  path: string | null;
  /** as it is written, without brackets around it; of a block the whole of it */
  text: string;
  /** of the source, from 1 */
  line: number;
  /** in characters of the source */
  start: number;
  end: number;
}

/** by program, then by statement; null where a statement's syntax is unknown */
const treesByProgram = new WeakMap<Program, Map<number, SyntaxNode | null>>();

/** The tree of a statement; null where what it mentions is unknown, or where there is no such statement. */
export function statementTree(program: Program, stmt: number | null | undefined): SyntaxNode | null {
  if (stmt === null || stmt === undefined) return null;
  const trees = treesByProgram.get(program) ?? new Map<number, SyntaxNode | null>();
  treesByProgram.set(program, trees);
  let tree = trees.get(stmt);
  if (tree === undefined) {
    const statement = program.statements?.[stmt];
    tree = statement ? treeOf(statement, programSource(program)) : null;
    trees.set(stmt, tree);
  }
  return tree;
}

/** The trees of all statements, by their indices; null where what one mentions is unknown. */
export function statementTrees(program: Program): (SyntaxNode | null)[] {
  return (program.statements ?? []).map((_, stmt) => statementTree(program, stmt));
}

function treeOf(statement: Statement, source: ProgramSource): SyntaxNode | null {
  const { syntax } = statement;
  if (!syntax) return null;
  const base = source.offset(statement.line, statement.col);
  const nodes: SyntaxNode[] = [];
  syntax.kinds.forEach((kind, k) => {
    const parent = nodes[syntax.parents[k]] ?? null;
    const node = {
      kind,
      field: syntax.fields[k],
      parent,
      children: [],
      value: syntax.values?.[k],
      path: syntax.paths?.[k] ?? null,
      text: source.text(base + syntax.starts[k], base + syntax.ends[k]),
      line: source.lineAt(base + syntax.starts[k]),
      start: base + syntax.starts[k],
      end: base + syntax.ends[k],
    };
    nodes.push(node);
    parent?.children.push(node);
  });
  return nodes[0] ?? null;
}

/** The source of a program by places in it. */
export const programSource = weakMemoize((program: Program): ProgramSource => new ProgramSource(program.source));

/** A source in which places are counted in characters, as Python does; a string here counts some of them twice. */
class ProgramSource {
  source: string;
  /** null where each is one unit of the string */
  characters: string[] | null;
  /** where each line begins */
  starts: number[];

  constructor(source: string) {
    this.source = source;
    const characters = Array.from(source);
    this.characters = characters.length === source.length ? null : characters;
    this.starts = [0];
    characters.forEach((character, at) => {
      if (character === "\n") this.starts.push(at + 1);
    });
  }

  offset(line: number, col: number) {
    return (this.starts[line - 1] ?? 0) + col;
  }

  text(from: number, to: number) {
    return this.characters ? this.characters.slice(from, to).join("") : this.source.slice(from, to);
  }

  lineAt(place: number) {
    let [low, high] = [0, this.starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}

/** A node and all nodes in it, each before those in it. */
export function* walk(node: SyntaxNode): Generator<SyntaxNode> {
  const pending = [node];
  for (let next = pending.pop(); next; next = pending.pop()) {
    yield next;
    for (let k = next.children.length - 1; k >= 0; k--) pending.push(next.children[k]);
  }
}

/** The nodes of a kind in a node, itself included, in the order in which they are written. */
export function nodesOfKind(node: SyntaxNode | null, ...kinds: string[]): SyntaxNode[] {
  return node ? [...walk(node)].filter(({ kind }) => kinds.includes(kind)) : [];
}

/** The first node in a field of a node. */
export function childOf(node: SyntaxNode | null | undefined, field: string): SyntaxNode | null {
  return node?.children.find((child) => child.field === field) ?? null;
}

/** The nodes in a field of a node. */
export function childrenOf(node: SyntaxNode | null | undefined, field: string): SyntaxNode[] {
  return node?.children.filter((child) => child.field === field) ?? [];
}
