/** How a program is run, its seed and its device: as values, in the form's fields and in the address. */

/** @typedef {{seed: number, device?: string}} Settings   device: absent where the server has but one */
/** @typedef {{seed?: number | string | null, device?: string | null}} LooseSettings   as an address or a saved program has them */

const LARGEST_SEED = 2 ** 32 - 1;

/**
 * Settings that can be run: what is missing or out of range is replaced by its default.
 * @param {LooseSettings} values @param {string[]} devices those that the server offers @returns {Settings}
 */
export function normalizeSettings({ seed, device }, devices) {
  const number = Math.trunc(Number(seed ?? 0));
  return {
    seed: number >= 0 && number <= LARGEST_SEED ? number : 0,
    ...(devices.length > 1 && { device: devices.find((name) => name === device) ?? "cpu" }),
  };
}

/** @param {Settings} a @param {Settings} b */
export function sameSettings(a, b) {
  return a.seed === b.seed && a.device === b.device;
}

/** Whether a trace was made with these settings. @param {Settings} settings @param {import("./trace.js").Trace} trace */
export function madeWith({ seed, device }, { runtime }) {
  return runtime.seed === seed && (device === undefined || (runtime.device ?? "").startsWith(device));
}

/** What an address says of settings: those that are not the defaults. @param {Settings} settings */
export function settingsFragment({ seed, device }) {
  return `${seed ? `&seed=${seed}` : ""}${device && device !== "cpu" ? `&device=${device}` : ""}`;
}

/**
 * @param {{seed: HTMLInputElement, device: HTMLSelectElement | null}} fields device: null where there is but one
 * @param {(settings: Settings) => void} onChange called with what the reader chose
 */
export function createSettingsFields({ seed, device }, onChange) {
  const devices = device ? [...device.options].map(({ value }) => value) : [];
  const read = () => normalizeSettings({ seed: seed.value, device: device?.value }, devices);
  seed.addEventListener("input", () => onChange(read()));
  device?.addEventListener("change", () => onChange(read()));
  return {
    devices,
    /** @param {Settings} settings */
    show(settings) {
      if (sameSettings(read(), settings)) return; // a field that is being typed in stays as it is
      seed.value = String(settings.seed);
      if (device) device.value = settings.device ?? "cpu";
    },
  };
}
