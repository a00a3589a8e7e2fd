/** Where a statement can stand: the places between the lines of a program, each in a body and with its indentation. */

import type { StatementBody, ProgramItem, ParsedProgram } from "./statements.ts";

/** before that line */
export interface StatementPosition {
  line: number;
  indent: string;
  depth: number;
  body: StatementBody;
}

function positionInBody(body: StatementBody, line: number): StatementPosition {
  return { line, indent: body.indent, depth: body.depth, body };
}

/** The body that the lines after an item are in. */
function bodyAfterItem(program: ParsedProgram, item: ProgramItem): StatementBody {
  if (item.body) return item.body;
  const { items, root } = program;
  const previous = items.slice(0, items.indexOf(item)).findLast(({ body }) => body);
  let body = previous?.bodies[0] && previous.last < item.first ? previous.bodies[0] : (previous?.body ?? root);
  while (body.of && body.of.end < item.first && body.depth > item.depth) body = body.of.body ?? root;
  return body;
}

/** Below an item: within a head, after any other. */
export function positionBelow(program: ParsedProgram, item: ProgramItem): StatementPosition {
  const ownBody = item.bodies.find(({ head }) => head === item);
  if (ownBody) return positionInBody(ownBody, item.last + 1);
  if (item.kind === "head") return positionAfterBlock(program, item);
  if (item.kind === "clause") return positionAfterBlock(program, compoundStatementOfClause(item));
  return positionInBody(bodyAfterItem(program, item), item.last + 1);
}

/** The compound statement that a clause belongs to. */
export function compoundStatementOfClause(clause: ProgramItem): ProgramItem {
  const { body, first } = clause;
  return (clause.word === "case" ? body?.of : body?.statements.findLast((other) => other.first < first)) ?? clause;
}

/** At the end of the program: after its last line that is not blank. */
export function positionAtEnd({ items, root }: ParsedProgram): StatementPosition {
  const last = items.findLast(({ kind }) => kind !== "blank");
  return positionInBody(root, last ? last.end + 1 : 0);
}

/** Above a statement, and above the comments that stand directly over it. */
export function positionAbove(program: ParsedProgram, item: ProgramItem): StatementPosition {
  let line = item.first;
  const { items } = program;
  for (let k = items.indexOf(item) - 1; k >= 0 && ["note", "off"].includes(items[k].kind); k--) {
    if (items[k].indent !== item.indent) break;
    line = items[k].first;
  }
  return positionInBody(bodyAfterItem(program, item), line);
}

/** After the block of a statement. */
function positionAfterBlock(program: ParsedProgram, item: ProgramItem): StatementPosition {
  return positionInBody(bodyAfterItem(program, item), item.end + 1);
}

/** One place further up for a statement or a head; null at the top. */
export function positionUp(program: ParsedProgram, item: ProgramItem): StatementPosition | null {
  const { body } = item;
  if (!body) return null;
  const index = body.statements.indexOf(item);
  if (index > 0) {
    const previous = body.statements[index - 1];
    const lastBody = previous.bodies.at(-1);
    return lastBody && lastBody.head === lastHeadOrClause(program, previous)
      ? positionInBody(lastBody, previous.end + 1)
      : positionAbove(program, previous);
  }
  if (!body.head || !body.of) return null;
  const bodies = body.of.bodies.filter(({ head }) => head?.kind !== "head" || head.word !== "match");
  const bodyIndex = bodies.indexOf(body);
  if (body.head.kind === "clause" && bodyIndex > 0)
    return positionInBody(bodies[bodyIndex - 1], (bodies[bodyIndex - 1].head ?? item).end + 1);
  return positionAbove(program, body.of);
}

/** One place further down for a statement or a head; null at the bottom. */
export function positionDown(program: ParsedProgram, item: ProgramItem): StatementPosition | null {
  const { body } = item;
  if (!body) return null;
  const nextStatement = body.statements[body.statements.indexOf(item) + 1];
  if (nextStatement) {
    const ownBody = nextStatement.bodies.find(({ head }) => head === nextStatement);
    const isOpen = ownBody && nextStatement.word !== "match";
    return isOpen ? positionInBody(ownBody, nextStatement.last + 1) : positionInBody(body, nextStatement.end + 1);
  }
  if (!body.head || !body.of) return null;
  const bodies = body.of.bodies;
  const nextBody = bodies[bodies.indexOf(body) + 1];
  if (nextBody?.head) return positionInBody(nextBody, nextBody.head.last + 1);
  return positionInBody(body.of.body ?? program.root, body.of.end + 1);
}

/** The head or clause that stands last in a compound statement. */
function lastHeadOrClause({ items }: ParsedProgram, head: ProgramItem) {
  return (
    items.findLast(
      ({ kind, first, body }) => kind === "clause" && body === head.body && first > head.first && first <= head.end,
    ) ?? head
  );
}
