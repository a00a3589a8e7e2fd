/** Opens the command palette: what it lists is put together each time, for only what can be done now is in it. */

import { commandEntries, fetchScenariosAndOperations, operationEntries, scenarioEntries } from "./entries.ts";
import { insertOperation, type TextEditor } from "./insert_operation.ts";
import { createCommandPalette } from "./palette.ts";
import { createLocale, type Locale } from "../words/sentences.ts";
import type { Command } from "../browser/commands.ts";
import type { CardCommand } from "../builder/card_keys.ts";
import type { PaletteEntry } from "./match.ts";
import type { PageState } from "../page_state/state.ts";

const LABEL_LOADERS: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  en: () => import("../../locales/commands.en.json", { with: { type: "json" } }),
  zh: () => import("../../locales/commands.zh.json", { with: { type: "json" } }),
};

/** The labels of the commands: in the reader's language, and in English, by which they are found as well. */
async function loadCommandLocale(language: string): Promise<{ say: Locale["say"]; english: Record<string, string> }> {
  const knownLanguage = language in LABEL_LOADERS ? language : "en";
  const [sentences, english] = await Promise.all([LABEL_LOADERS[knownLanguage](), LABEL_LOADERS.en()]);
  return { say: createLocale({ [knownLanguage]: sentences.default })(knownLanguage).say, english: english.default };
}

/** The program on the page: operations are put into its text, or into its cards while these are shown. */
export interface ProgramForCommands {
  editor: TextEditor;
  cards: {
    /** false while the text is shown */
    insert: (operation: string) => boolean;
    commands: () => CardCommand[];
  };
}

interface CommandPaletteParts {
  registry: { available: () => Command[] };
  program: ProgramForCommands;
  state: () => PageState;
}

/** Returns the function that opens the palette. */
export async function createPaletteOpener({ registry, program, state }: CommandPaletteParts): Promise<() => void> {
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
