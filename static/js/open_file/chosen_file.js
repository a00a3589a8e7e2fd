/** What is in a file of the reader's: a program, or recorded traces. It is read here and sent nowhere. */

/** @typedef {{kind: "program", source: string} | {kind: "traces", name: string, texts: string[]}} Content
 *   texts: each the JSON of a trace; `gradbox trace` prints several, a line each */

export const MAX_PROGRAM_BYTES = 256 * 1024;
export const MAX_TRACE_BYTES = 32 * 1024 * 1024;
export const MAX_TRACES = 20;
/** The schema that this page reads: `SCHEMA` of gradbox/wire/trace.py. */
export const SCHEMA = 1;

/** Why a file can't be opened, as a sentence's key and facts. */
export class FileProblem extends Error {
  /** @param {string} key @param {Record<string, unknown>} [args] */
  constructor(key, args = {}) {
    super(key);
    this.key = key;
    this.args = args;
  }
}

/**
 * @param {Pick<File, "name" | "size" | "arrayBuffer">} file
 * @returns {Promise<Content>}
 * @throws {FileProblem} for what is neither, or too large
 */
export async function readFile(file) {
  const { name } = file;
  const isProgram = /\.(pyw?|txt)$/i.test(name);
  checkSize(file, isProgram ? MAX_PROGRAM_BYTES : MAX_TRACE_BYTES);
  const text = decodeText(await file.arrayBuffer(), name);
  if (isProgram) return { kind: "program", source: text };
  if (!/^\s*\{/.test(text)) throw new FileProblem(/\.json$/i.test(name) ? "file_no_json" : "file_neither", { name });
  return { kind: "traces", name: name.replace(/\.json$/i, ""), texts: traceTexts(text, name) };
}

/** @param {{name: string, size: number}} file @param {number} maxBytes @throws {FileProblem} */
function checkSize({ name, size }, maxBytes) {
  if (size > maxBytes)
    throw new FileProblem("file_too_large", { name, size: sizeLabel(size), most: sizeLabel(maxBytes) });
}

/** @param {ArrayBuffer} bytes @param {string} name @throws {FileProblem} */
function decodeText(bytes, name) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // then it is no text
  }
  throw new FileProblem("file_neither", { name });
}

/** The JSON of each trace in a text. @param {string} text @param {string} name @returns {string[]} @throws {FileProblem} */
function traceTexts(text, name) {
  const wholeValue = parseJson(text);
  const texts = wholeValue === undefined ? text.split("\n").filter((line) => line.trim()) : [text];
  if (texts.length > MAX_TRACES) throw new FileProblem("file_too_many", { name, n: texts.length, most: MAX_TRACES });
  for (const traceText of texts) {
    const value = wholeValue ?? parseJson(traceText);
    if (value === undefined) throw new FileProblem("file_no_json", { name });
    checkTrace(value, name);
  }
  return texts;
}

/** @param {string} text @returns {unknown} undefined where it is no JSON */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {any} value @param {string} name @throws {FileProblem} */
function checkTrace(value, name) {
  if (Array.isArray(value?.cells) && "nbformat" in value) throw new FileProblem("file_notebook", { name });
  const schema = value?.schema ?? SCHEMA;
  if (Number.isInteger(schema) && schema > SCHEMA) throw new FileProblem("file_newer", { name, schema, read: SCHEMA });
  const isTrace =
    typeof value?.program?.source === "string" &&
    Array.isArray(value.program.statements) &&
    Array.isArray(value.steps) &&
    value.steps.every((/** @type {any} */ step) => isObject(step?.set) && Array.isArray(step.gone)) &&
    isObject(value.runtime) &&
    typeof value.outcome?.status === "string";
  if (!isTrace) throw new FileProblem("file_no_trace", { name });
}

/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {number} bytes */
function sizeLabel(bytes) {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
