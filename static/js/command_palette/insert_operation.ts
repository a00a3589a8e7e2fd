/**
 * An operation as a line of the text: its statement with likely operands, below the cursor, as one change of the
 * editor's history.
 */

import { aliveNames, type AliveName } from "../builder/alive_names.ts";
import { stepsByLine } from "../builder/card_result.ts";
import * as edits from "../builder/edits.ts";
import { textChanges, type TextChange } from "../builder/line_edits.ts";
import { positionAtEnd, positionBelow } from "../builder/positions.ts";
import { itemAtLine, parseProgram, type ProgramItem, type ParsedProgram } from "../builder/statements.ts";
import { loadBuilderLocale } from "../builder/locale.ts";
import { doesTraceMatchText } from "../page_state/selectors.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import type { PageState } from "../page_state/state.ts";

export interface TextEditor {
  text: () => string;
  cursorLine: () => number;
  change: (changes: TextChange[]) => void;
  openLine: (line: number) => void;
}

/**
 * Returns why the operation was not inserted, null where it was. Raises TypeError or Error where the server can't be
 * reached.
 */
export async function insertOperation(operation: string, editor: TextEditor, state: PageState): Promise<string | null> {
  const program = parseProgram(editor.text());
  const item = itemAtLine(program, editor.cursorLine() - 1);
  const position = item && item.kind !== "blank" ? positionBelow(program, item) : positionBelowBlankLine(program, item);
  const opened = doesTraceMatchText(state) && state.opened?.count ? state.opened : null;
  const stepsOfLines = opened ? stepsByLine(opened) : new Map();
  const aliveNamesHere = aliveNames(program, position, opened, ({ first, last }) => {
    const lines = Array.from({ length: last - first + 1 }, (_, k) => first + 1 + k);
    return lines.flatMap((line) => stepsOfLines.get(line) ?? []).sort((a, b) => a - b);
  });
  const { statement, imports, problem } = await fetchProposedStatement(operation, position.line, aliveNamesHere);
  if (!statement) return problem;
  const outcome = edits.insertStatements(program, position, statement, imports);
  if ("refused" in outcome)
    return (await loadBuilderLocale(document.documentElement.lang)).say(outcome.refused, outcome.args);
  editor.change(textChanges(program.lines, outcome.edits));
  editor.openLine(outcome.line + statement.split("\n").length);
  return null;
}

/** Below a blank line, in the block that it stands in; at the end, where it is one of the last lines. */
function positionBelowBlankLine(program: ParsedProgram, item: ProgramItem | undefined) {
  const isLast = !item || program.items.slice(program.items.indexOf(item)).every(({ kind }) => kind === "blank");
  return isLast ? positionAtEnd(program) : positionBelow(program, item);
}

/** What the form of an operation proposes at a place. */
async function fetchProposedStatement(operation: string, line: number, aliveNamesHere: AliveName[]) {
  const queryValues = {
    alive: JSON.stringify(aliveNamesHere),
    line: String(line),
    lang: document.documentElement.lang,
  };
  const query = new URLSearchParams(queryValues);
  const response = await fetch(`${SERVER_ROOT}/builder/form/${encodeURIComponent(operation)}?${query}`);
  if (!response.ok) throw new Error(`the form of ${operation}: ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const { statement = "", imports = "" } = (page.querySelector(".card-form") as HTMLElement | null)?.dataset ?? {};
  return {
    statement,
    imports: imports ? imports.split(",").map((name) => `import ${name}`) : [],
    problem: page.querySelector(".form-problem")?.textContent ?? "",
  };
}
