/** How a program is run, its seed, its device and what it reads: as values, in the form's fields and in the address. */

/** @typedef {{seed: number, device?: string, input?: string}} Settings   device: absent where the server has but one; input: where it is empty */
/** @typedef {{seed?: number | string | null, device?: string | null, input?: string | null}} LooseSettings   as an address or a saved program has them */

const MAX_SEED = 2 ** 32 - 1;
/** Characters of an input, as the server allows them. */
const MAX_INPUT = 10_000;

/**
 * Settings that can be run: what is missing or out of range is replaced by its default.
 * @param {LooseSettings} values @param {string[]} devices those that the server offers @returns {Settings}
 */
export function normalizeSettings({ seed, device, input }, devices) {
  const number = Math.trunc(Number(seed ?? 0));
  const lines = (input ?? "")
    .replace(/\r\n?/g, "\n")
    .slice(0, MAX_INPUT)
    .replace(/[\ud800-\udfff]/gu, "\ufffd"); // halves of characters
  return {
    seed: number >= 0 && number <= MAX_SEED ? number : 0,
    ...(devices.length > 1 && { device: devices.find((name) => name === device) ?? "cpu" }),
    ...(lines && { input: lines }),
  };
}

/** @param {Settings} a @param {Settings} b */
export function sameSettings(a, b) {
  return a.seed === b.seed && a.device === b.device && a.input === b.input;
}

/** Whether a trace was made with these settings. @param {Settings} settings @param {import("../trace/wire.js").Trace} trace */
export function wasMadeWith({ seed, device, input = "" }, { runtime }) {
  const sameDevice = device === undefined || (runtime.device ?? "").startsWith(device);
  return runtime.seed === seed && sameDevice && (runtime.input ?? "") === input;
}

/** What an address says of settings: those that are not the defaults. @param {Settings} settings */
export function settingsFragment({ seed, device, input }) {
  const parts = [
    seed ? `&seed=${seed}` : "",
    device && device !== "cpu" ? `&device=${device}` : "",
    input ? `&input=${encodeURIComponent(input)}` : "",
  ];
  return parts.join("");
}

/**
 * @param {{seed: HTMLInputElement, device: HTMLSelectElement | null, input: HTMLTextAreaElement}} fields
 *   device: null where there is but one
 * @param {(settings: Settings) => void} onChange called with what the reader chose
 */
export function createSettingsFields({ seed, device, input }, onChange) {
  const devices = device ? [...device.options].map(({ value }) => value) : [];
  const readFields = () => normalizeSettings({ seed: seed.value, device: device?.value, input: input.value }, devices);
  let chosenSettings = seed.value !== seed.defaultValue || input.value !== input.defaultValue ? readFields() : null;
  const onInput = () => {
    chosenSettings = readFields();
    onChange(chosenSettings);
  };
  seed.addEventListener("input", onInput);
  input.addEventListener("input", onInput);
  device?.addEventListener("change", onInput);
  return {
    devices,
    /** What the reader chose last, also before the page's script ran; null where nothing was chosen. */
    chosen: () => chosenSettings,
    /** @param {Settings} settings */
    show(settings) {
      if (sameSettings(readFields(), settings)) return; // a field that is being typed in stays as it is
      seed.value = String(settings.seed);
      input.value = settings.input ?? "";
      if (device) device.value = settings.device ?? "cpu";
    },
  };
}
