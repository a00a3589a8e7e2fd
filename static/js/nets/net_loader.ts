/** The net's place on the page until its script has come: fetched when a run opens there, or when it is asked for. */

import type { NetView, createNet } from "./net_view.ts";

/** @returns prepare: resolves once the net draws at once; nextRow: null until then */
export function createLazyNet(
  netArguments: Parameters<typeof createNet>,
  onLoadFailed: () => void,
): NetView & { prepare: () => Promise<void> } {
  let net: NetView | null = null;
  let loading: Promise<void> | null = null;
  /** what to show when it has come */
  let wanted: Parameters<NetView["show"]> | null = null;

  async function load() {
    const script = await import("./net_view.ts").catch(() => null);
    if (!script) {
      loading = null; // the next one who asks tries again
      if (wanted) onLoadFailed();
      return;
    }
    net = script.createNet(...netArguments);
    if (wanted) net.show(...wanted);
  }

  function prepare() {
    loading ??= load();
    return loading;
  }

  return {
    prepare,
    show(...view) {
      wanted = view;
      if (net) net.show(...view);
      else void prepare();
    },
    nextRow: (direction) => net?.nextRow(direction) ?? null,
  };
}
