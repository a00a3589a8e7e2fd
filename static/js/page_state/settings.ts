/** How a program is run, its seed, its device and what it reads: as values, in the form's fields and in the address. */

import type { Trace } from "../trace/wire.ts";

export interface Settings {
  seed: number;
  /** absent where the server has but one */
  device?: string;
  /** where it is empty */
  input?: string;
}

/** as an address or a saved program has them */
interface UncheckedSettings {
  seed?: number | string | null;
  device?: string | null;
  input?: string | null;
}

const MAX_SEED = 2 ** 32 - 1;
/** Characters of an input, as the server allows them. */
const MAX_INPUT_CHARACTERS = 10_000;

/**
 * Settings that can be run: what is missing, out of range or not among the server's devices is replaced by its default.
 */
export function normalizeSettings({ seed, device, input }: UncheckedSettings, devices: string[]): Settings {
  const number = Math.trunc(Number(seed ?? 0));
  const lines = (input ?? "")
    .replace(/\r\n?/g, "\n")
    .slice(0, MAX_INPUT_CHARACTERS)
    .replace(/[\ud800-\udfff]/gu, "\ufffd"); // halves of characters
  return {
    seed: number >= 0 && number <= MAX_SEED ? number : 0,
    ...(devices.length > 1 && { device: devices.find((name) => name === device) ?? "cpu" }),
    ...(lines && { input: lines }),
  };
}

export function areSettingsEqual(a: Settings, b: Settings) {
  return a.seed === b.seed && a.device === b.device && a.input === b.input;
}

/** Whether a trace was made with these settings. */
export function wasTraceMadeWith({ seed, device, input = "" }: Settings, { runtime }: Trace) {
  const sameDevice = device === undefined || (runtime.device ?? "").startsWith(device);
  return runtime.seed === seed && sameDevice && (runtime.input ?? "") === input;
}

/** What an address says of settings: those that are not the defaults. */
export function settingsFragment({ seed, device, input }: Settings) {
  const parts = [
    seed ? `&seed=${seed}` : "",
    device && device !== "cpu" ? `&device=${device}` : "",
    input ? `&input=${encodeURIComponent(input)}` : "",
  ];
  return parts.join("");
}

interface SettingsFields {
  seed: HTMLInputElement;
  /** null where there is but one */
  device: HTMLSelectElement | null;
  input: HTMLTextAreaElement;
}

/** Calls `onChange` with what the reader chose. */
export function createSettingsFields({ seed, device, input }: SettingsFields, onChange: (settings: Settings) => void) {
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
    show(settings: Settings) {
      if (areSettingsEqual(readFields(), settings)) return; // a field that is being typed in stays as it is
      seed.value = String(settings.seed);
      input.value = settings.input ?? "";
      if (device) device.value = settings.device ?? "cpu";
    },
  };
}
