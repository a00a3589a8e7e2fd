/** The page's address: the program, the step, the selection, the view, settings and focus, in its fragment. */

/**
 * @typedef {"stage" | "loom"} View
 * @typedef {import("../trace/wire.js").Focus} Focus
 * @typedef {{step: number | null, selection: string | null, view: View | null, predict?: boolean}} Position
 *   view: null where the address doesn't choose one; a step without a view is one of the stage; predict: what comes after the step is
 *   hidden
 * @typedef {Position & {source: string | null, seed: string | null, device: string | null, input: string | null, focus: Focus | null,
 *   broken: boolean}} Address
 *   source: null where the address holds no program; broken: it holds one that can't be read
 */

/** Characters of a fragment that forums, chats and mail still carry whole. */
export const MAX_FRAGMENT = 8000;
/** In a link's fragment, and in an address's query, where the server sees it. */
const PREDICT_PARAMETER = "predict";
/** Bytes of a program that an address may unpack to. */
const MAX_UNPACKED_BYTES = 1 << 20;

/** @param {string} fragment as `location.hash` gives it @returns {Promise<Address>} */
export async function readAddress(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = fields.get("p");
  const address = {
    ...readPosition(fragment),
    source: null,
    seed: fields.get("seed"),
    device: fields.get("device"),
    input: fields.get("input"),
    focus: readFocus(fields.get("focus")),
    broken: false,
  };
  if (packed === null) return address;
  try {
    return { ...address, source: await unpackText(packed) };
  } catch {
    return { ...address, step: null, selection: null, broken: true };
  }
}

/** The part of an address that needs no program. @param {string} fragment @returns {Position} */
export function readPosition(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = fields.get("v") ?? (fields.has("i") ? "stage" : null);
  return {
    step: readIndex(fields.get("i")),
    selection: fields.get("at"),
    view: view === "stage" || view === "loom" ? view : null,
    predict: fields.get(PREDICT_PARAMETER) === "1",
  };
}

/** @param {string | null} text @returns {Focus | null} */
function readFocus(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {string | null} text @returns {number | null} */
function readIndex(text) {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The beginning of a fragment that holds the program. @param {string} source @param {number | null} step @returns {Promise<string>} */
export async function programFragment(source, step) {
  return `#p=${await packText(source)}${step === null ? "" : `&i=${step}`}`;
}

/** The beginning of a fragment where the page's address itself names the program. @param {number | null} step */
export function stepFragment(step) {
  return step === null ? "#" : `#i=${step}`;
}

/** @param {string | null} selection */
export function selectionFragment(selection) {
  return selection === null ? "" : `&at=${encodeURIComponent(selection)}`;
}

/** @param {View} view */
export function viewFragment(view) {
  return view === "stage" ? "" : `&v=${view}`;
}

/** @param {boolean} predicts */
export function predictFragment(predicts) {
  return predicts ? `&${PREDICT_PARAMETER}=1` : "";
}

/** Whether an address asks for predict mode in its query. @param {string} query as `location.search` gives it */
export function asksToPredict(query) {
  return new URLSearchParams(query).get(PREDICT_PARAMETER) === "1";
}

/** A query that asks for it no more. @param {string} query */
export function withoutPredict(query) {
  if (!asksToPredict(query)) return query;
  const fields = new URLSearchParams(query);
  fields.delete(PREDICT_PARAMETER);
  return fields.size ? `?${fields}` : "";
}

/** @param {object | null} focus */
export function focusFragment(focus) {
  return focus === null ? "" : `&focus=${encodeURIComponent(JSON.stringify(focus))}`;
}

/** @param {string} text @returns {Promise<string>} deflated, in the alphabet of addresses */
export async function packText(text) {
  const bytes = await pipeThrough(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} packed @returns {Promise<string>} rejects where it is damaged or unpacks to too much */
export async function unpackText(packed) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const unpackedBytes = await pipeThrough(bytes, new DecompressionStream("deflate-raw"));
  return new TextDecoder("utf-8", { fatal: true }).decode(unpackedBytes);
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} stream @returns {Promise<Uint8Array>} */
async function pipeThrough(bytes, stream) {
  const writer = stream.writable.getWriter();
  const writing = writer.write(bytes).then(() => writer.close());
  writing.catch(() => {});
  const reader = stream.readable.getReader();
  const chunks = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MAX_UNPACKED_BYTES) throw new Error("too long");
    chunks.push(value);
  }
  await writing;
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
