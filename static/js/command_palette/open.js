/** Opens the command palette: what it lists is put together each time, for only what can be done now is in it. */

import { commandEntries, fetchScenariosAndOperations, operationEntries, scenarioEntries } from "./entries.js";
import { insertOperation } from "./insert.js";
import { createPalette } from "./palette.js";
import { loadCommandLocale } from "./words.js";

/**
 * @param {object} parts
 * @param {{available: () => import("../browser/commands.js").Command[]}} parts.registry
 * @param {ReturnType<typeof import("../page/program_pane.js").createProgramPane>} parts.program
 * @param {() => import("../page_state/page_state.js").PageState} parts.state
 * @returns {Promise<() => void>} opens it
 */
export async function startPalette({ registry, program, state }) {
  const { lang: language } = document.documentElement;
  const { say, english } = await loadCommandLocale(language);
  const palette = createPalette(say);
  /** @type {Awaited<ReturnType<typeof fetchScenariosAndOperations>>} */
  let catalogue = { scenarios: [], operations: [] };

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

  const paletteGroups = () => [
    { name: "commands", entries: commands },
    {
      name: "scenarios",
      entries: scenarioEntries(catalogue.scenarios, language, (address) => location.assign(address)),
    },
    { name: "operations", entries: operationEntries(catalogue.operations, insert) },
  ];
  /** @type {import("./match.js").Entry[]} */
  let commands = [];

  async function fetchLists() {
    try {
      catalogue = await fetchScenariosAndOperations(language);
      palette.extend(paletteGroups());
    } catch {
      palette.showProblem(say("palette_failed"));
    }
  }

  return () => {
    commands = commandEntries(registry.available(), program.cards.commands(), say, english);
    palette.open(paletteGroups());
    if (!catalogue.operations.length) void fetchLists();
  };
}
