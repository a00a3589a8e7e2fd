/** The net's place on the page until its script has come. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import type { NetView, createNet } from "./net_view.ts";

/** `prepare` resolves once the net draws at once; `headline` and `nextRow` are null until then. */
export function createLazyNet(
  netArguments: Parameters<typeof createNet>,
  onLoadFailed: () => void,
): NetView & { prepare: () => Promise<void> } {
  let chain: ChainMark[] = [];
  const { prepare, show, current } = createLazyView<Parameters<NetView["show"]>, NetView>(async () => {
    const net = (await import("./net_view.ts")).createNet(...netArguments);
    net.tell(chain);
    return net;
  }, onLoadFailed);
  return {
    prepare,
    show,
    tell(next) {
      chain = next;
      current()?.tell(chain);
    },
    headline: (opened, i) => current()?.headline(opened, i) ?? null,
    nextRow: (direction) => current()?.nextRow(direction) ?? null,
  };
}
