/** An operation as a line of the text: its statement with likely operands, below the cursor, as one change of the editor's history. */

import { aliveNames } from "../builder/alive_names.js";
import { stepsByLine } from "../builder/card_facts.js";
import * as edits from "../builder/edits.js";
import { textChanges } from "../builder/line_edits.js";
import { positionAtEnd, positionBelow } from "../builder/positions.js";
import { itemAt, readProgram } from "../builder/statements.js";
import { loadBuilderLocale } from "../builder/words.js";
import { isCurrent } from "../page_state/selectors.js";
import { ROOT } from "../requests/root.js";

/**
 * @param {string} operation
 * @param {{text: () => string, cursorLine: () => number, change: (changes: import("../builder/line_edits.js").Change[]) => void, openLine: (line: number) => void}} editor
 * @param {import("../page_state/page_state.js").PageState} state
 * @returns {Promise<string | null>} why it was not inserted; null where it was
 * Raises TypeError or Error where the server can not be reached.
 */
export async function insertOperation(operation, editor, state) {
  const program = readProgram(editor.text());
  const item = itemAt(program, editor.cursorLine() - 1);
  const position = item && item.kind !== "blank" ? positionBelow(program, item) : positionAtBlank(program, item);
  const opened = isCurrent(state) && state.opened?.count ? state.opened : null;
  const stepsOfLines = opened ? stepsByLine(opened) : new Map();
  const aliveNamesHere = aliveNames(program, position, opened, ({ first, last }) => {
    const lines = Array.from({ length: last - first + 1 }, (_, k) => first + 1 + k);
    return lines.flatMap((line) => stepsOfLines.get(line) ?? []).sort((a, b) => a - b);
  });
  const { statement, imports, problem } = await fetchProposal(operation, position.line, aliveNamesHere);
  if (!statement) return problem;
  const outcome = edits.insertStatements(program, position, statement, imports);
  if ("refused" in outcome)
    return (await loadBuilderLocale(document.documentElement.lang)).say(outcome.refused, outcome.args);
  editor.change(textChanges(program.lines, outcome.edits));
  editor.openLine(outcome.line + statement.split("\n").length);
  return null;
}

/** Below a blank line, in the block that it stands in; at the end, where it is one of the last lines.
 * @param {import("../builder/statements.js").Program} program @param {import("../builder/statements.js").Item | undefined} item */
function positionAtBlank(program, item) {
  const isLast = !item || program.items.slice(program.items.indexOf(item)).every(({ kind }) => kind === "blank");
  return isLast ? positionAtEnd(program) : positionBelow(program, item);
}

/** What the form of an operation proposes at a place. @param {string} operation @param {number} line
 * @param {import("../builder/alive_names.js").AliveName[]} aliveNamesHere */
async function fetchProposal(operation, line, aliveNamesHere) {
  const queryValues = {
    alive: JSON.stringify(aliveNamesHere),
    line: String(line),
    lang: document.documentElement.lang,
  };
  const query = new URLSearchParams(queryValues);
  const response = await fetch(`${ROOT}/builder/form/${encodeURIComponent(operation)}?${query}`);
  if (!response.ok) throw new Error(`the form of ${operation}: ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const { statement = "", imports = "" } =
    /** @type {HTMLElement | null} */ (page.querySelector(".card-form"))?.dataset ?? {};
  return {
    statement,
    imports: imports ? imports.split(",").map((name) => `import ${name}`) : [],
    problem: page.querySelector(".form-problem")?.textContent ?? "",
  };
}
