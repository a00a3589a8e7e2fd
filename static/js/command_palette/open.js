/** Opens the command palette: what it lists is put together each time, for only what can be done now is in it. */

import { commandEntries, loadLists, operationEntries, scenarioEntries } from "./entries.js";
import { insertOperation } from "./insert.js";
import { createPalette } from "./palette.js";
import { loadWords } from "./words.js";

/**
 * @param {object} parts
 * @param {{available: () => import("../commands.js").Command[]}} parts.registry
 * @param {ReturnType<typeof import("../program_pane.js").createProgramPane>} parts.program
 * @param {() => import("../page_state.js").PageState} parts.state
 * @returns {Promise<() => void>} opens it
 */
export async function startPalette({ registry, program, state }) {
  const { lang: language } = document.documentElement;
  const { say, english } = await loadWords(language);
  const palette = createPalette(say);
  /** @type {Awaited<ReturnType<typeof loadLists>>} */
  let lists = { scenarios: [], operations: [] };

  /** @param {string} operation */
  async function insert(operation) {
    if (program.cards.insert(operation)) return;
    try {
      const problem = await insertOperation(operation, program.editor, state());
      if (problem !== null) palette.showProblem(say("palette_not_inserted", { message: problem }));
    } catch {
      palette.showProblem(say("palette_failed"));
    }
  }

  const groups = () => [
    { name: "commands", entries: commands },
    { name: "scenarios", entries: scenarioEntries(lists.scenarios, language, (address) => location.assign(address)) },
    { name: "operations", entries: operationEntries(lists.operations, insert) },
  ];
  /** @type {import("./match.js").Entry[]} */
  let commands = [];

  async function fetchLists() {
    try {
      lists = await loadLists(language);
      palette.extend(groups());
    } catch {
      palette.showProblem(say("palette_failed"));
    }
  }

  return () => {
    commands = commandEntries(registry.available(), program.cards.commands(), say, english);
    palette.open(groups());
    if (!lists.operations.length) void fetchLists();
  };
}
