/** Opens the command palette: what it lists is put together each time, for only what can be done now is in it. */

import { commandEntries, fetchScenariosAndOperations, operationEntries, scenarioEntries } from "./entries.ts";
import { insertOperation } from "./insert.ts";
import { createCommandPalette } from "./palette.ts";
import { loadCommandLocale } from "./words.ts";
import type { Command } from "../browser/commands.ts";
import type { createProgramPane } from "../page/program_pane.ts";
import type { PaletteEntry } from "./match.ts";
import type { PageState } from "../page_state/state.ts";

interface CommandPaletteParts {
  registry: { available: () => Command[] };
  program: ReturnType<typeof createProgramPane>;
  state: () => PageState;
}

/** @returns opens it */
export async function startCommandPalette({ registry, program, state }: CommandPaletteParts): Promise<() => void> {
  const { lang: language } = document.documentElement;
  const { say, english } = await loadCommandLocale(language);
  const palette = createCommandPalette(say);
  let catalogue: Awaited<ReturnType<typeof fetchScenariosAndOperations>> = { scenarios: [], operations: [] };

  async function insert(operation: string) {
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
  let commands: PaletteEntry[] = [];

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
