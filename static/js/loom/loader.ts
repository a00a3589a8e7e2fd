/** The loom's place on the page until its script has come. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { LoomView, createLoomView } from "./loom_view.ts";

/** `onLoadFailed` is called where the script can't be fetched; `prepare` resolves once the loom draws at once. */
export function createLazyLoom(
  loomArguments: Parameters<typeof createLoomView>,
  onLoadFailed: () => void,
): LoomView & { prepare: () => Promise<void> } {
  const { prepare, show, current } = createLazyView<Parameters<LoomView["show"]>, LoomView>(
    async () => (await import("./loom_view.ts")).createLoomView(...loomArguments),
    onLoadFailed,
  );
  return {
    prepare,
    show,
    print: (opened) => current()?.print(opened),
    clearPrint: () => current()?.clearPrint(),
    nextRow: (direction) => current()?.nextRow(direction) ?? null,
  };
}
