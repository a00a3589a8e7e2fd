/** The loom's place on the page until its script has come. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { StorageLoom, createLoom } from "./loom.ts";

/** `onLoadFailed` is called where the script can't be fetched; `prepare` resolves once the loom draws at once. */
export function createLazyLoom(
  loomArguments: Parameters<typeof createLoom>,
  onLoadFailed: () => void,
): StorageLoom & { prepare: () => Promise<void> } {
  const { prepare, show, current } = createLazyView<Parameters<StorageLoom["show"]>, StorageLoom>(
    async () => (await import("./loom.ts")).createLoom(...loomArguments),
    onLoadFailed,
  );
  return {
    prepare,
    show,
    print: (opened) => current()?.print(opened),
    clearPrint: () => current()?.clearPrint(),
  };
}
