/** The view of parameters until its script has come: fetched when it is asked for. */

import type { ParametersView, createParametersView } from "./parameters_view.ts";

/** @returns prepare: resolves once it draws at once */
export function createLazyParameters(
  viewArguments: Parameters<typeof createParametersView>,
  onLoadFailed: () => void,
): ParametersView & { prepare: () => Promise<void> } {
  let view: ParametersView | null = null;
  let loading: Promise<void> | null = null;
  /** what to show when it has come */
  let wanted: Parameters<ParametersView["show"]> | null = null;

  async function load() {
    const script = await import("./parameters_view.ts").catch(() => null);
    if (!script) {
      loading = null; // the next one who asks tries again
      if (wanted) onLoadFailed();
      return;
    }
    view = script.createParametersView(...viewArguments);
    if (wanted) view.show(...wanted);
  }

  function prepare() {
    loading ??= load();
    return loading;
  }

  return {
    prepare,
    show(...shown) {
      wanted = shown;
      if (view) view.show(...shown);
      else void prepare();
    },
  };
}
