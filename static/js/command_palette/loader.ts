/** The command palette's script, fetched when the palette is first opened. */

import type { Command } from "../browser/commands.ts";
import type { Action } from "../page_state/actions.ts";
import type { ProgramForCommands } from "./palette_opener.ts";
import type { PageState } from "../page_state/state.ts";

/** Returns the function that opens the palette. */
export function lazyPaletteOpener(
  registry: { available: () => Command[] },
  program: ProgramForCommands,
  { state, dispatch }: { state: () => PageState; dispatch: (action: Action) => void },
): () => void {
  let loading: Promise<() => void> | null = null;
  return async () => {
    loading ??= import("./palette_opener.ts").then(({ createPaletteOpener: startPalette }) =>
      startPalette({ registry, program, state }),
    );
    try {
      (await loading)();
    } catch {
      loading = null; // the next one who asks tries again
      dispatch({ type: "problemFound", problem: { key: "error_network" } });
    }
  };
}
