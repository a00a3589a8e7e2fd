/** The registry of what a reader can do with the page: the keys and the command palette both take it from here. */

/**
 * @typedef {object} Command
 * @property {string} id its label is the sentence `command_ID`
 * @property {string[]} [keys] like `ArrowRight`, `Shift+ArrowRight`, `Mod+e`; Mod is Ctrl or Command. Of commands with a key in common,
 *   one at most is available
 * @property {boolean} [isEditorKey] the editor has bound its keys itself
 * @property {string} [label] of a command whose label is no sentence of the palette's
 * @property {() => boolean} [available] whether it can be done now; always, where there is none
 * @property {() => unknown} run
 */

/** @param {Command} command */
const isAvailable = ({ available }) => available?.() ?? true;

/** @param {Command[]} commands */
export function createRegistry(commands) {
  /** @type {Map<string, Command[]>} */
  const byKey = new Map();
  for (const command of commands) {
    if (command.isEditorKey) continue;
    for (const key of command.keys ?? []) byKey.set(key, [...(byKey.get(key) ?? []), command]);
  }

  return {
    /** What can be done now, in order. @returns {Command[]} */
    available: () => commands.filter(isAvailable),
    /** Does what a key stands for, where that can be done now. @param {string} key @param {boolean} [shift]
     * @returns {boolean} whether it is the key of a command */
    press(key, shift = false) {
      const boundCommands = (shift ? byKey.get(`Shift+${key}`) : undefined) ?? byKey.get(key);
      boundCommands?.find(isAvailable)?.run();
      return boundCommands !== undefined;
    },
  };
}
