/** How a program is run: the form fields of its seed and its device, and the same in the address. */

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
    /** @param {{seed?: number | string | null, device?: string | null}} values what is not said is as it is by itself */
    write(values) {
      seed.value = String(number(values.seed ?? 0));
      if (device)
        device.value = [...device.options].some(({ value }) => value === values.device)
          ? (values.device ?? "cpu")
          : "cpu";
    },
    /** Whether this is what an address says. @param {{seed?: string | null, device?: string | null}} values */
    matchesFragment: (values) =>
      number(values.seed ?? 0) === read().seed && (!device || (values.device ?? "cpu") === device.value),
    /** Whether a trace was made so. @param {any} trace */
    matchesTrace: ({ runtime }) => runtime.seed === read().seed && (!device || runtime.device.startsWith(device.value)),
    /** What an address says of it: what is not so by itself. */
    fragment() {
      const current = read();
      return `${current.seed ? `&seed=${current.seed}` : ""}${current.device && current.device !== "cpu" ? `&device=${current.device}` : ""}`;
    },
  };
}

/** @param {number | string} text */
function number(text) {
  const value = Math.trunc(Number(text));
  return value >= 0 && value <= LARGEST ? value : 0;
}
