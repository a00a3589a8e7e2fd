/** The command palette's script, fetched when the palette is first opened. */

/**
 * @param {{available: () => import("../browser/commands.js").Command[]}} registry
 * @param {ReturnType<typeof import("./program_pane.js").createProgramPane>} program
 * @param {{state: () => import("../page_state/page_state.js").PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void}} store
 * @returns {() => void} opens it
 */
export function preparePalette(registry, program, { state, dispatch }) {
  /** @type {Promise<() => void> | null} */
  let loading = null;
  return async () => {
    loading ??= import("../command_palette/open.js").then(({ startPalette }) =>
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
