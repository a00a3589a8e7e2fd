/** The address says everything: the program and the step live in its fragment, `#p=…&i=…`. */

/** @typedef {{source: string | null, step: number | null, selection: string | null, seed: string | null, device: string | null,
 *   focus: object | null, broken: boolean}} AddressState   focus: what of the run is shown besides, as a request names it */

/** Characters of a fragment that forums, chats and mail still carry whole. */
export const LONGEST = 8000;

/** @param {string} fragment as `location.hash` gives it @returns {Promise<AddressState>} */
export async function read(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = fields.get("p");
  const step = number(fields.get("i"));
  const state = {
    source: null,
    step,
    selection: fields.get("at"),
    seed: fields.get("seed"),
    device: fields.get("device"),
    focus: focus(fields.get("focus")),
    broken: false,
  };
  if (packed === null) return state;
  try {
    return { ...state, source: await unpack(packed) };
  } catch {
    return { ...state, step: null, selection: null, broken: true };
  }
}

/** The step that a fragment asks for. @param {string} fragment @returns {number | null} */
export function step(fragment) {
  return number(new URLSearchParams(fragment.replace(/^#/, "")).get("i"));
}

/** What a fragment asks to be lit. @param {string} fragment @returns {string | null} */
export function selection(fragment) {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("at");
}

/** @param {string | null} text @returns {object | null} */
function focus(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {string | null} text @returns {number | null} */
function number(text) {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** @param {string} source @param {number | null} step @returns {Promise<string>} */
export async function write(source, step) {
  return `#p=${await pack(source)}${step === null ? "" : `&i=${step}`}`;
}

/** The fragment of a step where the address itself says the program. @param {number | null} step */
export function at(step) {
  return step === null ? "#" : `#i=${step}`;
}

/** @param {string} text @returns {Promise<string>} */
export async function pack(text) {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

const MOST = 1 << 20;

/** @param {string | null} selection */
export function lit(selection) {
  return selection === null ? "" : `&at=${encodeURIComponent(selection)}`;
}

/** @param {string} packed @returns {Promise<string>} */
export async function unpack(packed) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const out = await through(bytes, new DecompressionStream("deflate-raw"));
  return new TextDecoder("utf-8", { fatal: true }).decode(out);
}

/** @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} stream @returns {Promise<Uint8Array>} */
async function through(bytes, stream) {
  const writer = stream.writable.getWriter();
  const written = writer.write(/** @type {any} */ (bytes)).then(() => writer.close());
  written.catch(() => {});
  const reader = stream.readable.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) throw new Error("too long");
    parts.push(value);
  }
  await written;
  const out = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
