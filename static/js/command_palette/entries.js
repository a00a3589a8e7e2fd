/** What the palette lists: commands that can be done now, the scenarios of the gallery, the operations of the catalogue. */

import { ROOT } from "../requests/root.js";
import { keyLabel } from "./key_labels.js";

/** @typedef {import("./match.js").Entry} Entry */
/** @typedef {{name: string, text: Record<string, {title: string, question: string}>}} Scenario */
/** @typedef {{name: string, group: string, template: string, sentence: string}} Operation */

/** @param {import("../browser/commands.js").Command[]} commands @param {import("../builder/builder.js").Command[]} cardCommands
 * @param {import("../words/sentences.js").Locale["say"]} say @param {Record<string, string>} english @returns {Entry[]} */
export function commandEntries(commands, cardCommands, say, english) {
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

/** @param {Scenario[]} scenarios @param {string} language @param {(address: string) => void} open @returns {Entry[]} */
export function scenarioEntries(scenarios, language, open) {
  return scenarios.map(({ name, text }) => ({
    id: `scenario-${name}`,
    label: text[language]?.title ?? name,
    names: [text.en?.title ?? ""],
    note: text[language]?.question ?? "",
    run: () => open(`${ROOT}/?s=${encodeURIComponent(name)}&lang=${language}`),
  }));
}

/** @param {Operation[]} operations @param {(name: string) => unknown} insert @returns {Entry[]} */
export function operationEntries(operations, insert) {
  return operations.map(({ name, group, template, sentence }) => ({
    id: `operation-entry-${name}`,
    label: template
      .replace(/^\{out\} = /, "")
      .replace(/\{(\w+)\}/g, "$1")
      .split("\n")[0],
    names: [name, name.replaceAll("_", " "), group],
    note: sentence,
    thumbnail: `${ROOT}/operations/${encodeURIComponent(name)}.svg`,
    run: () => insert(name),
  }));
}

/** @param {string} path @returns {Promise<any>} */
async function fetchJson(path) {
  const response = await fetch(`${ROOT}${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

/** @param {string} language @returns {Promise<{scenarios: Scenario[], operations: Operation[]}>} */
export async function fetchScenariosAndOperations(language) {
  const [{ scenarios }, { operations }] = await Promise.all([
    fetchJson("/gallery.json"),
    fetchJson(`/api/operations?lang=${language}`),
  ]);
  return { scenarios, operations };
}
