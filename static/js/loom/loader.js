/** The loom's place on the page until its script has come: fetched when it is asked for, or when a reader has come. */

/** @typedef {import("./loom.js").LoomView} LoomView */

/**
 * @param {Parameters<typeof import("./loom.js").createLoom>} loomArguments the loom's own
 * @param {() => void} onLoadFailed called where the script can not be fetched
 * @returns {LoomView & {prepare: () => Promise<void>}} prepare: resolves once the loom draws at once
 */
export function createLoomLoader(loomArguments, onLoadFailed) {
  /** @type {LoomView | null} */
  let loom = null;
  /** @type {Promise<void> | null} */
  let loading = null;
  /** what to show when it has come @type {Parameters<LoomView["show"]> | null} */
  let wantedView = null;

  async function load() {
    const script = await import("./loom.js").catch(() => null);
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
