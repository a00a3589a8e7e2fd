/** The registry of what a reader can do with the page: the keys and the command palette both take it from here. */

export interface Command {
  /** its label is the sentence `command_ID` */
  id: string;
  /** like `ArrowRight`, `Shift+ArrowRight`, `Mod+e`; Mod is Ctrl or Command. Of commands with a key in common, one
   * at most is available */
  keys?: string[];
  /** the editor has bound its keys itself */
  isEditorKey?: boolean;
  /** of a command whose label is no sentence of the palette's */
  label?: string;
  /** whether it can be done now; always, where there is none */
  available?: () => boolean;
  run: () => unknown;
}

const isCommandAvailable = ({ available }: Command) => available?.() ?? true;

export function createCommandRegistry(commands: Command[]) {
  const byKey = new Map<string, Command[]>();
  for (const command of commands) {
    if (command.isEditorKey) continue;
    for (const key of command.keys ?? []) byKey.set(key, [...(byKey.get(key) ?? []), command]);
  }

  return {
    /** What can be done now, in order. */
    available: (): Command[] => commands.filter(isCommandAvailable),
    /** Does what a key stands for, where that can be done now. Returns whether it is the key of a command. */
    press(key: string, shift = false): boolean {
      const boundCommands = (shift ? byKey.get(`Shift+${key}`) : undefined) ?? byKey.get(key);
      boundCommands?.find(isCommandAvailable)?.run();
      return boundCommands !== undefined;
    },
  };
}
