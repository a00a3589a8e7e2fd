/** The loom's place on the page until its script has come: fetched when it is asked for, or when a reader has come. */

import type { LoomView, createLoom } from "./loom.ts";

/**
 * @param loomArguments the loom's own
 * @param onLoadFailed called where the script can not be fetched
 * @returns prepare: resolves once the loom draws at once
 */
export function createLazyLoom(
  loomArguments: Parameters<typeof createLoom>,
  onLoadFailed: () => void,
): LoomView & { prepare: () => Promise<void> } {
  let loom: LoomView | null = null;
  let loading: Promise<void> | null = null;
  /** what to show when it has come */
  let wantedView: Parameters<LoomView["show"]> | null = null;

  async function load() {
    const script = await import("./loom.ts").catch(() => null);
    if (!script) {
      loading = null; // the next one who asks tries again
      if (wantedView) onLoadFailed();
      return;
    }
    loom = script.createLoom(...loomArguments);
    if (wantedView) loom.show(...wantedView);
  }

  function prepare() {
    loading ??= load();
    return loading;
  }

  return {
    prepare,
    show(...view) {
      wantedView = view;
      if (loom) loom.show(...view);
      else void prepare();
    },
    print: (opened) => loom?.print(opened),
    clearPrint: () => loom?.clearPrint(),
  };
}
