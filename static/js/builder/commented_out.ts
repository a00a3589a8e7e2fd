/** Statements that are switched off: comments that hold them to the character. */

import { indentationOf, hasNoSyntaxErrors, parsePython } from "./grammar.ts";
import type { SyntaxNode } from "@lezer/common";

const COMMENT_MARK = "# ";
/** Expressions that a comment's prose does not look like. */
const CODE_NODE_NAMES = new Set([
  "AssignStatement",
  "UpdateStatement",
  "DeleteStatement",
  "ImportStatement",
  "AssertStatement",
  "RaiseStatement",
  "ReturnStatement",
  "IfStatement",
  "ForStatement",
  "WhileStatement",
  "TryStatement",
  "WithStatement",
  "FunctionDefinition",
  "ClassDefinition",
  "DecoratedStatement",
  "StatementGroup",
  "PassStatement",
  "MatchStatement",
]);

/** What a line of prose seldom begins with. */
const CODE_START_PATTERN =
  /^(@|(async|if|for|while|with|try|def|class|match|del|import|from|assert|raise|return|pass)\b|[\w.,[\]() *:"']+[-+*/@%&|^<>]*=|[\w.[\]]+\()/;
/** A line that goes on with the statement before. */
const CONTINUATION_LINE_PATTERN = /^(\s+\S|(elif|else|except|finally)\b)/;
/** Longer ones stay comments. */
const MAX_COMMENTED_OUT_LINES = 60;

/** The lines of a block as comments. `indent` is that of its first line. */
export function commentOutLines(lines: string[], indent: string) {
  return lines.map((line) => {
    if (line.startsWith(indent) && line !== indent) return indent + COMMENT_MARK + line.slice(indent.length);
    return line ? COMMENT_MARK + line : "#";
  });
}

/** Comments as the lines that they were. */
export function uncommentLines(lines: string[], indent: string) {
  return lines.map((line) => {
    if (line.startsWith(indent + COMMENT_MARK)) return indent + line.slice(indent.length + COMMENT_MARK.length);
    return line.startsWith(COMMENT_MARK) ? line.slice(COMMENT_MARK.length) : line === "#" ? "" : line;
  });
}

/** Lines that hold no statement, by what they are; `statement` is text that is no Python. */
export function classifyLinesWithoutStatement(
  lines: string[],
  from: number,
  to: number,
): { first: number; last: number; kind: "off" | "note" | "blank" | "statement" }[] {
  const runs: ReturnType<typeof classifyLinesWithoutStatement> = [];
  for (let k = from; k < to; k++) {
    const text = lines[k].trimStart();
    const last = text.startsWith("#") ? lastLineOfCommentedStatement(lines, k, to) : null;
    const kind = !text ? "blank" : last !== null ? "off" : text.startsWith("#") ? "note" : "statement";
    runs.push({ first: k, last: last ?? k, kind });
    k = last ?? k;
  }
  return runs;
}

/** The last line of the statement that a comment holds; null where it holds none. */
function lastLineOfCommentedStatement(lines: string[], from: number, to: number) {
  const indent = indentationOf(lines[from]);
  if (!lines[from].startsWith(indent + COMMENT_MARK)) return null;
  let end = from + 1;
  while (
    end < to &&
    (lines[end].startsWith(indent + COMMENT_MARK) || lines[end].startsWith(COMMENT_MARK) || lines[end] === "#")
  )
    end++;
  const uncommented = uncommentLines(lines.slice(from, Math.min(end, from + MAX_COMMENTED_OUT_LINES)), indent);
  const statementLines = uncommented.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  if (!CODE_START_PATTERN.test(statementLines[0])) return null;
  for (let count = 1; count <= statementLines.length; count++)
    if (isWholeStatement(statementLines, count)) return from + count - 1;
  return null;
}

/** Whether that many lines are a statement, with which the next line does not go on. */
function isWholeStatement(lines: string[], count: number) {
  if (!lines[count - 1].trim()) return false;
  const next = lines.slice(count).find((line) => line.trim()) ?? "";
  return !CONTINUATION_LINE_PATTERN.test(next) && isStatementText(lines.slice(0, count).join("\n"));
}

/** Whether a text is one statement, and no prose. */
function isStatementText(source: string) {
  const tree = parsePython(source);
  const node = tree.topNode.firstChild;
  return node !== null && node.nextSibling === null && hasNoSyntaxErrors(tree) && isCodeNode(node);
}

function isCodeNode(node: SyntaxNode) {
  if (CODE_NODE_NAMES.has(node.name)) return true;
  return node.name === "ExpressionStatement" && node.firstChild?.name === "CallExpression";
}
