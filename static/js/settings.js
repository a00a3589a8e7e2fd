/** How a program is run: its seed and its device, as the page has them and as an address says them. */

const LARGEST = 2 ** 32 - 1;

/** @typedef {{seed: number, device?: string}} Settings */

/**
 * @param {{seed: HTMLInputElement, device: HTMLSelectElement | null}} fields device: null where there is but one
 * @param {() => void} changed
 */
export function createSettings({ seed, device }, changed) {
  seed.addEventListener("input", changed);
  device?.addEventListener("change", changed);

  /** @returns {Settings} */
  function read() {
    return { seed: number(seed.value), ...(device && { device: device.value }) };
  }

  return {
    read,
    /** @param {{seed?: number | string | null, device?: string | null}} asked what is not said is as it is by itself */
    write(asked) {
      seed.value = String(number(asked.seed ?? 0));
      if (device)
        device.value = [...device.options].some(({ value }) => value === asked.device)
          ? (asked.device ?? "cpu")
          : "cpu";
    },
    /** Whether this is what an address says. @param {{seed?: string | null, device?: string | null}} asked */
    same: (asked) => number(asked.seed ?? 0) === read().seed && (!device || (asked.device ?? "cpu") === device.value),
    /** Whether a trace was made so. @param {any} trace */
    made: ({ runtime }) => runtime.seed === read().seed && (!device || runtime.device.startsWith(device.value)),
    /** What an address says of it: what is not so by itself. */
    fragment() {
      const now = read();
      return `${now.seed ? `&seed=${now.seed}` : ""}${now.device && now.device !== "cpu" ? `&device=${now.device}` : ""}`;
    },
  };
}

/** @param {number | string} text */
function number(text) {
  const found = Math.trunc(Number(text));
  return found >= 0 && found <= LARGEST ? found : 0;
}
