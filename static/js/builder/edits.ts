/** What can be done with a card, each as edits of lines; or why it can not be done. */

import { applyLineEdits, offsetsOfLineStarts, reindentBlock, type LineEdit } from "./line_edits.ts";
import { parsePython } from "./grammar.ts";
import {
  compoundStatementOfClause,
  positionAbove,
  positionBelow,
  positionDown,
  positionUp,
  type StatementPosition,
} from "./positions.ts";
import { parseProgram, type StatementBody, type ProgramItem, type ParsedProgram } from "./statements.ts";
import { commentOutLines, uncommentLines } from "./commented_out.ts";
import type { SyntaxNode } from "@lezer/common";

interface CardEdit {
  edits: LineEdit[];
  /** from 0, of the card that the reader is at then */
  line: number;
}

/** a sentence's key */
interface EditRefusal {
  refused: string;
  args?: Record<string, unknown>;
}

export type EditOutcome = CardEdit | EditRefusal;

const PASS_STATEMENT = "pass";

/** An edit after which the text is Python, if it was before. */
function editOrSyntaxRefusal(program: ParsedProgram, edits: LineEdit[], line: number): EditOutcome {
  if (program.broken) return { edits, line };
  const programAfter = parseProgram(applyLineEdits(program.lines, edits).join("\n"));
  return !programAfter.broken && (areStatementsAligned(programAfter) || !areStatementsAligned(program))
    ? { edits, line }
    : { refused: "card_not_python" };
}

/** Whether each statement begins where its body does: the grammar is not so strict. */
function areStatementsAligned({ items }: ParsedProgram) {
  return items.every(({ body, indent }) => !body || indent === body.indent);
}

function linesOfBlock({ lines }: ParsedProgram, { first, end }: ProgramItem) {
  return lines.slice(first, end + 1);
}

/** Whether a line of a block begins within a string. */
function createLineInStringTest(
  { lines, tree }: Pick<ParsedProgram, "lines" | "tree">,
  { first }: { first: number },
): (k: number) => boolean {
  const starts = offsetsOfLineStarts(lines);
  return (k) => {
    const offset = starts[first + k];
    let node: SyntaxNode | null = tree.resolveInner(offset, 0);
    while (node && !(node.name.endsWith("String") && node.from < offset && node.to > offset)) node = node.parent;
    return node !== null;
  };
}

/** Whether a body has nothing without this item. */
function isOnlyStatementOfBody({ kind, body }: ProgramItem) {
  return kind !== "clause" && body?.head != null && body.statements.length === 1;
}

/** The line that a body keeps where its only statement goes. */
function passLineIfBodyEmpties(item: ProgramItem): string[] {
  return isOnlyStatementOfBody(item) ? [item.indent + PASS_STATEMENT] : [];
}

/** The `pass` that a body has in the place of statements. */
function placeholderPassOf({ lines }: ParsedProgram, { head, statements }: StatementBody): ProgramItem | null {
  const onlyStatement = head && statements.length === 1 ? statements[0] : null;
  return onlyStatement &&
    onlyStatement.first === onlyStatement.last &&
    lines[onlyStatement.first].trim() === PASS_STATEMENT
    ? onlyStatement
    : null;
}

/** Why a clause can not go by itself; null where it can. */
function clauseRemovalRefusal({ items }: ParsedProgram, clause: ProgramItem): EditRefusal | null {
  const head = compoundStatementOfClause(clause);
  const clausesOfHead = items.filter(
    ({ kind, body, first }) => kind === "clause" && body === clause.body && first > head.first && first <= head.end,
  );
  const otherWords = clausesOfHead.filter((other) => other !== clause).map(({ word }) => word);
  if (clause.word === "case") return otherWords.length ? null : { refused: "card_last_case" };
  if (clause.word === "except" && !otherWords.includes("except"))
    return otherWords.includes("finally") && !otherWords.includes("else") ? null : { refused: "card_last_except" };
  if (clause.word === "finally" && !otherWords.includes("except")) return { refused: "card_last_except" };
  return null;
}

/** Why a card can not be left out; null where it can. */
function removalRefusal(program: ParsedProgram, item: ProgramItem): EditRefusal | null {
  if (item.kind === "clause") return clauseRemovalRefusal(program, item);
  const isFiller = isOnlyStatementOfBody(item) && item.body && placeholderPassOf(program, item.body) === item;
  return isFiller ? { refused: "card_only_pass" } : null;
}

export function removeCard(program: ParsedProgram, item: ProgramItem): EditOutcome {
  const refusal = removalRefusal(program, item);
  if (refusal) return refusal;
  return editOrSyntaxRefusal(
    program,
    [{ from: item.first, to: item.end + 1, lines: passLineIfBodyEmpties(item) }],
    item.first,
  );
}

export function duplicateCard(program: ParsedProgram, item: ProgramItem): EditOutcome {
  if (item.kind === "clause") return { refused: "card_is_clause" };
  return editOrSyntaxRefusal(
    program,
    [{ from: item.end + 1, to: item.end + 1, lines: linesOfBlock(program, item) }],
    item.end + 1,
  );
}

/** A statement becomes a comment, or a comment the statement that it was. */
export function toggleComment(program: ParsedProgram, item: ProgramItem): EditOutcome {
  const block = linesOfBlock(program, item);
  if (item.kind === "off") {
    const edits = [{ from: item.first, to: item.end + 1, lines: uncommentLines(block, item.indent) }];
    const body = program.items.find((other) => other.first === item.end + 1)?.body;
    const pass = body ? placeholderPassOf(program, body) : null;
    if (pass?.first === item.end + 1 && pass.indent === item.indent)
      edits.push({ from: pass.first, to: pass.last + 1, lines: [] });
    return editOrSyntaxRefusal(program, edits, item.first);
  }
  const refusal = removalRefusal(program, item);
  if (refusal) return refusal;
  const passLines = passLineIfBodyEmpties(item);
  const lines = [...commentOutLines(block, item.indent), ...passLines];
  return editOrSyntaxRefusal(program, [{ from: item.first, to: item.end + 1, lines }], item.first);
}

/** Other text, without indentation, in the place of a card's own lines. */
export function rewriteCard(program: ParsedProgram, item: ProgramItem, text: string): EditOutcome {
  const lines = indentedLines(text, item.indent);
  const edits = [{ from: item.first, to: item.last + 1, lines }];
  return editOrSyntaxRefusal(program, edits, item.first);
}

/** The text of a card's own lines, without its indentation. */
export function cardText(program: ParsedProgram, { first, last, indent }: ProgramItem) {
  const isInString = createLineInStringTest(program, { first });
  return program.lines
    .slice(first, last + 1)
    .map((line, k) => (line.startsWith(indent) && !isInString(k) ? line.slice(indent.length) : line))
    .join("\n");
}

function indentedLines(text: string, indent: string): string[] {
  const lines = text.split("\n");
  const isInString = createLineInStringTest({ lines, tree: parsePython(text) }, { first: 0 });
  return lines.map((line, k) => (line && !(k && isInString(k)) ? indent + line : line));
}

/** New statements at a place, without indentation, with the imports that they need, like `import copy`. */
export function insertStatements(
  program: ParsedProgram,
  position: StatementPosition,
  text: string,
  imports: string[] = [],
): EditOutcome {
  const lines = indentedLines(text, position.indent);
  const replacedPass = placeholderPassOf(program, position.body);
  const missing = imports.filter((statement) => !isImported(program, statement));
  const edits = [
    replacedPass
      ? { from: replacedPass.first, to: replacedPass.last + 1, lines }
      : { from: position.line, to: position.line, lines },
  ];
  const importsEndLine = lineAfterImports(program);
  if (missing.length) edits.unshift({ from: importsEndLine, to: importsEndLine, lines: missing });
  const line = (replacedPass ? replacedPass.first : position.line) + missing.length;
  if (missing.length && position.line < importsEndLine) return { refused: "card_before_imports" };
  return editOrSyntaxRefusal(program, edits, line);
}

/** Whether a program has an import like `import copy`, by itself or in a list of them. */
function isImported({ root, lines }: ParsedProgram, statement: string) {
  return root.statements.some(({ first }) => {
    const [, modules = ""] = /^import\s+([^#;]+)/.exec(lines[first]) ?? [];
    return modules.split(",").some((module) => `import ${module.trim()}` === statement);
  });
}

/** The line after the first imports of a program: where others go. */
function lineAfterImports({ root, lines }: ParsedProgram) {
  let line = 0;
  for (const { first, last, nodes } of root.statements) {
    const isFirst =
      first === 0 || line > 0 || lines.slice(0, first).every((text) => !text.trim() || text.startsWith("#"));
    if (!isFirst || !nodes.some(({ name }) => name === "ImportStatement")) break;
    line = last + 1;
  }
  return line;
}

export function moveCardUp(program: ParsedProgram, item: ProgramItem): EditOutcome {
  return moveCard(program, item, isCommentItem(item) ? commentPositionUp(program, item) : positionUp(program, item));
}

export function moveCardDown(program: ParsedProgram, item: ProgramItem): EditOutcome {
  return moveCard(
    program,
    item,
    isCommentItem(item) ? commentPositionDown(program, item) : positionDown(program, item),
  );
}

/** A card let go over another one: below it, or above. */
export function dropCard(program: ParsedProgram, item: ProgramItem, other: ProgramItem, isBelow: boolean): EditOutcome {
  const goesBelow = isBelow || other.kind === "blank" || other.kind === "clause";
  return moveCard(program, item, goesBelow ? positionBelow(program, other) : positionAbove(program, other));
}

/** The block of a card at another place, in that place's indentation. */
export function moveCard(program: ParsedProgram, item: ProgramItem, target: StatementPosition | null): EditOutcome {
  const refusal = moveRefusal(program, item, target);
  if (refusal || !target) return refusal ?? { refused: "card_no_further" };
  const block = reindentBlock(
    linesOfBlock(program, item),
    item.indent,
    target.indent,
    createLineInStringTest(program, item),
  );
  const passLines = isCommentItem(item) || target.body === item.body ? [] : passLineIfBodyEmpties(item);
  const pass = isCommentItem(item) ? null : placeholderPassOf(program, target.body);
  const replacedPass = pass && pass !== item ? pass : null;
  const { first, end } = item;
  const line = replacedPass ? replacedPass.first : target.line;
  const shift = line > first ? passLines.length - (end + 1 - first) : 0;
  const edits = [
    { from: first, to: end + 1, lines: passLines },
    replacedPass
      ? { from: replacedPass.first, to: replacedPass.last + 1, lines: block }
      : { from: target.line, to: target.line, lines: block },
  ];
  if (!replacedPass && target.line === first)
    return editOrSyntaxRefusal(program, [{ from: first, to: end + 1, lines: [...block, ...passLines] }], first);
  return editOrSyntaxRefusal(program, edits, line + shift);
}

function moveRefusal(program: ParsedProgram, item: ProgramItem, target: StatementPosition | null): EditRefusal | null {
  if (item.kind === "clause") return { refused: "card_is_clause" };
  if (program.broken) return { refused: "card_broken" };
  if (!target) return { refused: "card_no_further" };
  if (isBodyOfBlock(target.body, item) || (target.line > item.first && target.line <= item.end))
    return { refused: "card_no_further" };
  if (isCommentItem(item)) return null;
  const futureImport = program.root.statements.findLast(({ first }) =>
    /^from\s+__future__\b/.test(program.lines[first]),
  );
  if (futureImport && (futureImport === item || target.line <= futureImport.last)) return { refused: "card_future" };
  const requiredKinds = requiredBlockKinds(item);
  const enclosingKinds = enclosingBlockKinds(target.body);
  if (requiredKinds.has("def") && !enclosingKinds.has("def")) return { refused: "card_needs_def" };
  if (requiredKinds.has("loop") && !enclosingKinds.has("loop")) return { refused: "card_needs_loop" };
  return null;
}

const FUNCTION_ONLY_NODES = new Set([
  "ReturnStatement",
  "YieldStatement",
  "YieldExpression",
  "AwaitExpression",
  "await",
]);
const LOOP_ONLY_NODES = new Set(["BreakStatement", "ContinueStatement"]);
const LOOP_NODES = new Set(["ForStatement", "WhileStatement"]);

/** What a block has to stand in, by the words that it uses. */
function requiredBlockKinds({ nodes }: ProgramItem): Set<string> {
  const kinds = new Set<string>();
  for (const node of nodes)
    node.cursor().iterate((cursor) => {
      if (cursor.name === "FunctionDefinition" || cursor.name === "LambdaExpression") return false;
      if (
        FUNCTION_ONLY_NODES.has(cursor.name) ||
        (cursor.name === "ScopeStatement" && cursor.node.firstChild?.name === "nonlocal")
      )
        kinds.add("def");
      if (LOOP_ONLY_NODES.has(cursor.name) && !isNodeInLoop(cursor.node, node.from)) kinds.add("loop");
    });
  return kinds;
}

/** Whether a node stands in a loop that begins at or after a place. */
function isNodeInLoop(node: SyntaxNode, from: number) {
  for (let ancestor = node.parent; ancestor && ancestor.from >= from; ancestor = ancestor.parent)
    if (LOOP_NODES.has(ancestor.name)) return true;
  return false;
}

/** `def` within a function, `loop` within a loop of it. */
function enclosingBlockKinds(body: StatementBody): Set<string> {
  const kinds = new Set<string>();
  for (let block = body.of; block; block = block.body?.of ?? null) {
    const isDef = block.nodes.some(
      (node) => node.name === "FunctionDefinition" || node.lastChild?.name === "FunctionDefinition",
    );
    if (block.word === "for" || block.word === "while") kinds.add("loop");
    if (isDef) return kinds.add("def");
    if (block.word === "class") return kinds;
  }
  return kinds;
}

/** Whether a body belongs to a block. */
function isBodyOfBlock(body: StatementBody, item: ProgramItem) {
  for (let block = body.of; block; block = block.body?.of ?? null) if (block === item) return true;
  return false;
}

/** Comments stand anywhere. */
function isCommentItem({ kind }: ProgramItem) {
  return kind === "note" || kind === "off";
}

function commentPositionUp({ items, root }: ParsedProgram, item: ProgramItem): StatementPosition | null {
  const before = items[items.indexOf(item) - 1];
  if (!before) return null;
  return {
    line: before.first,
    indent: before.kind === "blank" ? item.indent : before.indent,
    depth: before.depth,
    body: before.body ?? root,
  };
}

function commentPositionDown({ items, root, lines }: ParsedProgram, item: ProgramItem): StatementPosition | null {
  const after = items[items.indexOf(item) + 1];
  if (!after || (after.last === lines.length - 1 && !lines[after.last])) return null;
  const inner = after.bodies.find(({ head }) => head === after);
  const indent = inner ? inner.indent : after.kind === "blank" ? item.indent : after.indent;
  return { line: after.last + 1, indent, depth: after.depth, body: after.body ?? root };
}
