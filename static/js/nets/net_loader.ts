/** The net's place on the page until its script has come. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { NetView, createNet } from "./net_view.ts";

/** `prepare` resolves once the net draws at once; `nextRow` is null until then. */
export function createLazyNet(
  netArguments: Parameters<typeof createNet>,
  onLoadFailed: () => void,
): NetView & { prepare: () => Promise<void> } {
  const { prepare, show, current } = createLazyView<Parameters<NetView["show"]>, NetView>(
    async () => (await import("./net_view.ts")).createNet(...netArguments),
    onLoadFailed,
  );
  return { prepare, show, nextRow: (direction) => current()?.nextRow(direction) ?? null };
}
