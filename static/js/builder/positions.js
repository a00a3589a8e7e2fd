/** Where a statement can stand: the places between the lines of a program, each in a body and with its indentation. */

/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./statements.js").Body} Body */
/** @typedef {import("./statements.js").Program} Program */
/** @typedef {{line: number, indent: string, depth: number, body: Body}} Position   before that line */

/** @param {Body} body @param {number} line @returns {Position} */
function position(body, line) {
  return { line, indent: body.indent, depth: body.depth, body };
}

/** The body that the lines after an item are in. @param {Program} program @param {Item} item @returns {Body} */
function bodyOf(program, item) {
  if (item.body) return item.body;
  const { items, root } = program;
  const before = items.slice(0, items.indexOf(item)).findLast(({ body }) => body);
  let body = before?.bodies[0] && before.last < item.first ? before.bodies[0] : (before?.body ?? root);
  while (body.of && body.of.end < item.first && body.depth > item.depth) body = body.of.body ?? root;
  return body;
}

/** Below an item: within a head, after any other. @param {Program} program @param {Item} item @returns {Position} */
export function positionBelow(program, item) {
  const own = item.bodies.find(({ head }) => head === item);
  if (own) return position(own, item.last + 1);
  if (item.kind === "head") return positionAfter(program, item);
  if (item.kind === "clause") return positionAfter(program, headOfClause(item));
  return position(bodyOf(program, item), item.last + 1);
}

/** The compound statement that a clause belongs to. @param {Item} clause @returns {Item} */
export function headOfClause(clause) {
  const { body, first } = clause;
  return (clause.word === "case" ? body?.of : body?.statements.findLast((other) => other.first < first)) ?? clause;
}

/** At the end of the program: after its last line that is not blank. @param {Program} program @returns {Position} */
export function positionAtEnd({ items, root }) {
  const last = items.findLast(({ kind }) => kind !== "blank");
  return position(root, last ? last.end + 1 : 0);
}

/** Above a statement, and above the comments that stand directly over it. @param {Program} program @param {Item} item @returns {Position} */
export function positionAbove(program, item) {
  let line = item.first;
  const { items } = program;
  for (let k = items.indexOf(item) - 1; k >= 0 && ["note", "off"].includes(items[k].kind); k--) {
    if (items[k].indent !== item.indent) break;
    line = items[k].first;
  }
  return position(bodyOf(program, item), line);
}

/** After the block of a statement. @param {Program} program @param {Item} item @returns {Position} */
export function positionAfter(program, item) {
  return position(bodyOf(program, item), item.end + 1);
}

/** One place further up; null at the top. @param {Program} program @param {Item} item a statement or head @returns {Position | null} */
export function positionUp(program, item) {
  const { body } = item;
  if (!body) return null;
  const k = body.statements.indexOf(item);
  if (k > 0) {
    const before = body.statements[k - 1];
    const inner = before.bodies.at(-1);
    return inner && inner.head === lastPart(program, before)
      ? position(inner, before.end + 1)
      : positionAbove(program, before);
  }
  if (!body.head || !body.of) return null;
  const bodies = body.of.bodies.filter(({ head }) => head?.kind !== "head" || head.word !== "match");
  const at = bodies.indexOf(body);
  if (body.head.kind === "clause" && at > 0) return position(bodies[at - 1], (bodies[at - 1].head ?? item).end + 1);
  return positionAbove(program, body.of);
}

/** One place further down; null at the bottom. @param {Program} program @param {Item} item a statement or head @returns {Position | null} */
export function positionDown(program, item) {
  const { body } = item;
  if (!body) return null;
  const after = body.statements[body.statements.indexOf(item) + 1];
  if (after) {
    const inner = after.bodies.find(({ head }) => head === after);
    const isOpen = inner && after.word !== "match";
    return isOpen ? position(inner, after.last + 1) : position(body, after.end + 1);
  }
  if (!body.head || !body.of) return null;
  const bodies = body.of.bodies;
  const next = bodies[bodies.indexOf(body) + 1];
  if (next?.head) return position(next, next.head.last + 1);
  return position(body.of.body ?? program.root, body.of.end + 1);
}

/** The head or clause that stands last in a compound statement. @param {Program} program @param {Item} head */
function lastPart({ items }, head) {
  return (
    items.findLast(
      ({ kind, first, body }) => kind === "clause" && body === head.body && first > head.first && first <= head.end,
    ) ?? head
  );
}
