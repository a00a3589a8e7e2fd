/** A statement as it is written, on one line and without comments; of a block its head. */

import { programSource, statementTree, walk } from "./tree.ts";
import type { Program } from "../trace/wire.ts";

const BLOCKS = new Set(
  "For AsyncFor With AsyncWith FunctionDef AsyncFunctionDef ClassDef While If Try TryStar Match".split(" "),
);

/** What a block holds beside its head. */
const INNER_FIELDS = new Set(["body", "handlers", "cases"]);

/** Where the syntax is unknown comments stay, and a head ends with its line. */
export function textOfStatement(program: Program, stmt: number): string {
  const statement = program.statements?.[stmt];
  if (!statement) return "";
  const { line, col, end_line: endLine, end_col: endCol, kind } = statement;
  const tree = statementTree(program, stmt);
  const source = programSource(program);
  const [start, isBlock] = [source.offset(line, col), BLOCKS.has(kind)];
  const end = isBlock && !tree ? source.offset(line + 1, 0) - 1 : source.offset(endLine, endCol);
  const strings = tree ? [...walk(tree)].filter((node) => ["Constant", "JoinedStr"].includes(node.kind)) : [];
  const endsInHead = tree?.children.filter(({ field }) => !INNER_FIELDS.has(field)).map((node) => node.end) ?? [];
  const headEnd = isBlock && tree ? Math.max(start, ...endsInHead) : end;
  let [text, isComment] = ["", false];
  for (let place = start; place < end; place++) {
    const character = source.text(place, place + 1);
    if (character === "\n") isComment = false;
    else if (character === "#" && tree && !strings.some((node) => node.start <= place && place < node.end))
      isComment = true;
    if (!isComment) text += character;
    if (character === ":" && !isComment && place >= headEnd) break;
  }
  const lines = text.split("\n").map((part) => part.trim());
  return lines.filter(Boolean).join(" ");
}
