/**
 * What the palette lists: commands that can be done now, the scenarios of the gallery, the operations of the catalogue.
 */

import { SERVER_ROOT } from "../requests/root.ts";
import type { Command } from "../browser/commands.ts";
import type { Locale } from "../words/sentences.ts";
import type { PaletteEntry } from "./match.ts";
import type { CardCommand as BuilderCommand } from "../builder/card_keys.ts";

interface GalleryScenario {
  name: string;
  text: Record<string, { title: string; question: string }>;
}

interface CatalogueOperation {
  name: string;
  group: string;
  template: string;
  sentence: string;
}

export function commandEntries(
  commands: Command[],
  cardCommands: BuilderCommand[],
  say: Locale["say"],
  english: Record<string, string>,
): PaletteEntry[] {
  const pageEntries = commands
    .filter(({ id }) => id !== "palette")
    .map(({ id, keys, run }) => ({
      id: `command-${id}`,
      label: say(`command_${id}`),
      names: [english[`command_${id}`] ?? id],
      keys: keyLabel(keys?.[0]),
      run,
    }));
  const cardEntries = cardCommands.map(({ id, label, keys, run }) => ({
    id: `command-${id}`,
    label,
    names: [id.replaceAll("_", " ")],
    keys,
    run,
  }));
  return [...pageEntries, ...cardEntries];
}

export function scenarioEntries(
  scenarios: GalleryScenario[],
  language: string,
  open: (address: string) => void,
): PaletteEntry[] {
  return scenarios.map(({ name, text }) => ({
    id: `scenario-${name}`,
    label: text[language]?.title ?? name,
    names: [text.en?.title ?? ""],
    note: text[language]?.question ?? "",
    run: () => open(`${SERVER_ROOT}/?s=${encodeURIComponent(name)}&lang=${language}`),
  }));
}

export function operationEntries(operations: CatalogueOperation[], insert: (name: string) => unknown): PaletteEntry[] {
  return operations.map(({ name, group, template, sentence }) => ({
    id: `operation-entry-${name}`,
    label: template
      .replace(/^\{out\} = /, "")
      .replace(/\{(\w+)\}/g, "$1")
      .split("\n")[0],
    names: [name, name.replaceAll("_", " "), group],
    note: sentence,
    thumbnail: `${SERVER_ROOT}/operations/${encodeURIComponent(name)}.svg`,
    run: () => insert(name),
  }));
}

async function fetchJson<T>(path: string): Promise<T> {
  const response = await fetch(`${SERVER_ROOT}${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

export async function fetchScenariosAndOperations(
  language: string,
): Promise<{ scenarios: GalleryScenario[]; operations: CatalogueOperation[] }> {
  const [{ scenarios }, { operations }] = await Promise.all([
    fetchJson<{ scenarios: GalleryScenario[] }>("/gallery.json"),
    fetchJson<{ operations: CatalogueOperation[] }>(`/api/operations?lang=${language}`),
  ]);
  return { scenarios, operations };
}

const KEY_SIGNS: Record<string, string> = {
  Mod: "⌃",
  Shift: "⇧",
  ArrowRight: "→",
  ArrowLeft: "←",
  Enter: "⏎",
  " ": "Space",
  "-": "−",
};

/** A key like `Mod+Shift+z` as `⌃⇧Z`; empty where a command has none. */
export function keyLabel(key: string | undefined): string {
  if (!key) return "";
  const parts = key === "+" ? ["+"] : key.split("+");
  const isChord = parts.length > 1;
  return parts.map((part) => KEY_SIGNS[part] ?? (isChord ? part.toUpperCase() : part)).join("");
}
