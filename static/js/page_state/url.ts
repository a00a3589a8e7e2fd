/** The page's address: the program, the step, the selection, the view, settings and focus, in its fragment. */

import type { Focus } from "../trace/wire.ts";

/** step: what this step did; run: the whole run; storage: that by storage, where `run` shows something else */
export type View = "step" | "run" | "storage";

/** By its name in an address; those of older links lead to what shows the same now. */
const VIEW_BY_NAME: Record<string, View> = {
  step: "step",
  stage: "step",
  net: "step",
  run: "run",
  loom: "run",
  parameters: "run",
  storage: "storage",
};

interface AddressPosition {
  step: number | null;
  selection: string | null;
  /** null where the address doesn't choose one; a step without a view is shown as a step */
  view: View | null;
  /** what comes after the step is hidden */
  predict?: boolean;
}

export type Address = AddressPosition & {
  /** null where the address holds no program */
  source: string | null;
  seed: string | null;
  device: string | null;
  input: string | null;
  focus: Focus | null;
  /** it holds one that can't be read */
  broken: boolean;
};

/** Characters of a fragment that forums, chats and mail still carry whole. */
export const MAX_FRAGMENT_CHARACTERS = 8000;
/** In a link's fragment, and in an address's query, where the server sees it. */
const PREDICT_PARAMETER = "predict";
/** Bytes of a program that an address may unpack to. */
const MAX_UNPACKED_BYTES = 1 << 20;

/** Takes the fragment as `location.hash` gives it. */
export async function readAddress(fragment: string): Promise<Address> {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const packed = fields.get("p");
  const address = {
    ...readPosition(fragment),
    source: null,
    seed: fields.get("seed"),
    device: fields.get("device"),
    input: fields.get("input"),
    focus: parseFocus(fields.get("focus")),
    broken: false,
  };
  if (packed === null) return address;
  try {
    return { ...address, source: await decompressTextFromUrl(packed) };
  } catch {
    return { ...address, step: null, selection: null, broken: true };
  }
}

/** The part of an address that needs no program. */
export function readPosition(fragment: string): AddressPosition {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = fields.get("v") ?? (fields.has("i") ? "step" : "");
  return {
    step: parseIndex(fields.get("i")),
    selection: fields.get("at"),
    view: Object.hasOwn(VIEW_BY_NAME, view) ? VIEW_BY_NAME[view] : null,
    predict: fields.get(PREDICT_PARAMETER) === "1",
  };
}

function parseFocus(text: string | null): Focus | null {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function parseIndex(text: string | null): number | null {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The beginning of a fragment that holds the program. */
export async function programFragment(source: string, step: number | null): Promise<string> {
  return `#p=${await compressTextForUrl(source)}${step === null ? "" : `&i=${step}`}`;
}

/** The beginning of a fragment where the page's address itself names the program. */
export function stepFragment(step: number | null) {
  return step === null ? "#" : `#i=${step}`;
}

export function selectionFragment(selection: string | null) {
  return selection === null ? "" : `&at=${encodeURIComponent(selection)}`;
}

export function viewFragment(view: View) {
  return view === "step" ? "" : `&v=${view}`;
}

export function predictFragment(predicts: boolean) {
  return predicts ? `&${PREDICT_PARAMETER}=1` : "";
}

/** Whether an address asks for predict mode in its query, as `location.search` gives it. */
export function isPredictModeRequested(query: string) {
  return new URLSearchParams(query).get(PREDICT_PARAMETER) === "1";
}

/** A query that asks for it no more. */
export function queryWithoutPredict(query: string) {
  if (!isPredictModeRequested(query)) return query;
  const fields = new URLSearchParams(query);
  fields.delete(PREDICT_PARAMETER);
  return fields.size ? `?${fields}` : "";
}

export function focusFragment(focus: object | null) {
  return focus === null ? "" : `&focus=${encodeURIComponent(JSON.stringify(focus))}`;
}

/** While one steps through a run, its text stays. */
let lastCompressed: { text: string; packed: Promise<string> } | null = null;

/** The text deflated, in the alphabet of addresses. */
export function compressTextForUrl(text: string): Promise<string> {
  if (lastCompressed?.text !== text) lastCompressed = { text, packed: compress(text) };
  return lastCompressed.packed;
}

async function compress(text: string): Promise<string> {
  const bytes = await pipeBytesThrough(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Rejects where the text is damaged or unpacks to too much. */
export async function decompressTextFromUrl(packed: string): Promise<string> {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const unpackedBytes = await pipeBytesThrough(bytes, new DecompressionStream("deflate-raw"));
  return new TextDecoder("utf-8", { fatal: true }).decode(unpackedBytes);
}

async function pipeBytesThrough(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
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
