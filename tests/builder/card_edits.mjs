/** Reads `{programs: [source], edits: n, seed}` from stdin, and writes what the builder makes of them: the texts of the
 * cards put together, and programs after random edits, each with what was done. */
import { readFileSync } from "node:fs";
import { EditorState } from "@codemirror/state";
import { applyLineEdits, textChanges } from "../../static/js/builder/line_edits.ts";
import {
  insertStatements,
  duplicateCard,
  moveCard,
  moveCardDown,
  moveCardUp,
  removeCard,
  rewriteCard,
  toggleComment,
  cardText,
} from "../../static/js/builder/edits.ts";
import { positionAtEnd, positionBelow } from "../../static/js/builder/positions.ts";
import { parseProgram } from "../../static/js/builder/statements.ts";

const { programs, edits, seed } = JSON.parse(readFileSync(0, "utf8"));
let state = seed;
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const NEW = [
  "z = x * 2",
  "for step in range(2):\n    pass",
  "with torch.no_grad():\n    z = 1",
  "def double(x):\n    return x * 2",
];

const DEEDS = {
  removeCard,
  duplicateCard,
  toggleComment,
  moveCardUp,
  moveCardDown,
  moveCard: (program, item) =>
    moveCard(program, item, positionBelow(program, program.items[random(program.items.length)])),
  insertStatements: (program, item) =>
    insertStatements(
      program,
      random(4) ? positionBelow(program, item) : positionAtEnd(program),
      NEW[random(NEW.length)],
      random(3) ? [] : ["import copy"],
    ),
  rewriteCard: (program, item) => rewriteCard(program, item, cardText(program, item)),
};

/** The text after the editor has taken the changes, and after one undo. */
function inEditor(lines, done) {
  const { changes, state, startState } = EditorState.create({ doc: lines.join("\n") }).update({
    changes: textChanges(lines, done),
  });
  return { text: state.doc.toString(), undone: changes.invert(startState.doc).apply(state.doc).toString() };
}

const asText = (lines, done) => inEditor(lines, done).text;

const after = [];
const names = Object.keys(DEEDS);
let refused = 0;
while (programs.length && after.length < edits) {
  let source = programs[random(programs.length)];
  for (let k = 0; k < 10; k++) {
    const program = parseProgram(source);
    const items = program.items.filter(({ kind }) => kind !== "blank");
    if (!items.length) break;
    const item = items[random(items.length)];
    const name = names[random(names.length)];
    const outcome = DEEDS[name](program, item);
    if ("refused" in outcome) {
      refused++;
      continue;
    }
    const { text, undone: taken } = inEditor(program.lines, outcome.edits);
    const isTakenBack = taken === source;
    const undone = name === "toggleComment" && item.kind !== "off" ? back(text, outcome.line) : null;
    after.push({
      name,
      before: source,
      line: item.first,
      text,
      same: text === applyLineEdits(program.lines, outcome.edits).join("\n"),
      isTakenBack,
      undone,
    });
    source = text;
  }
}

/** A card that was switched off, switched on again: the text, or null where it is one that prose looks like. */
function back(source, line) {
  const program = parseProgram(source);
  const item = program.items.find(({ first, kind }) => first === line && kind === "off");
  const outcome = item && toggleComment(program, item);
  return outcome && "edits" in outcome ? asText(program.lines, outcome.edits) : null;
}

/** The text again, put together from its items. */
const textOf = ({ lines, items }) => items.map(({ first, last }) => lines.slice(first, last + 1).join("\n")).join("\n");
const together = programs.map((source) => textOf(parseProgram(source)));
process.stdout.write(JSON.stringify({ together, after, refused }));
