/** What is in a file of the reader's: a program, or recorded traces. It is read here and sent nowhere. */

import type { Step, Trace } from "../trace/wire.ts";

/** texts: each the JSON of a trace; `gradbox trace` prints several, a line each */
type ChosenFileContent = { kind: "program"; source: string } | { kind: "traces"; name: string; texts: string[] };

export const MAX_PROGRAM_BYTES = 256 * 1024;
export const MAX_TRACE_BYTES = 32 * 1024 * 1024;
export const MAX_TRACES = 20;
/** The schema that this page reads: `SCHEMA` of gradbox/wire/trace.py. */
export const TRACE_SCHEMA = 1;

/** Why a file can't be opened, as a sentence's key and facts. */
export class FileProblem extends Error {
  key: string;
  args: Record<string, unknown>;

  constructor(key: string, args: Record<string, unknown> = {}) {
    super(key);
    this.key = key;
    this.args = args;
  }
}

/** Raises FileProblem for what is neither, or too large. */
export async function readChosenFile(file: Pick<File, "name" | "size" | "arrayBuffer">): Promise<ChosenFileContent> {
  const { name } = file;
  const isNotebook = /\.ipynb$/i.test(name);
  const isProgram = /\.(pyw?|txt|md|diff|patch|log)$/i.test(name);
  checkFileSize(file, isProgram ? MAX_PROGRAM_BYTES : MAX_TRACE_BYTES);
  const text = decodeUtf8(await file.arrayBuffer(), name);
  if (isProgram) return { kind: "program", source: text };
  if (isNotebook) return { kind: "program", source: notebookWithoutPictures(text, name) };
  if (!/^\s*\{/.test(text)) throw new FileProblem(/\.json$/i.test(name) ? "file_no_json" : "file_neither", { name });
  return { kind: "traces", name: name.replace(/\.json$/i, ""), texts: splitTraceTexts(text, name) };
}

/** The cells of a notebook with their text; its pictures would be most of what is sent. Raises FileProblem. */
function notebookWithoutPictures(text: string, name: string) {
  const notebook = parseJsonOrUndefined(text) as { cells?: unknown } | undefined;
  if (!Array.isArray(notebook?.cells)) throw new FileProblem("file_no_json", { name });
  const source = JSON.stringify(notebook, (key, value) => (/^(image|application)\//.test(key) ? undefined : value), 1);
  checkFileSize({ name, size: source.length }, MAX_PROGRAM_BYTES);
  return source;
}

/** Raises FileProblem for a file that is too large. */
function checkFileSize({ name, size }: { name: string; size: number }, maxBytes: number) {
  if (size > maxBytes)
    throw new FileProblem("file_too_large", { name, size: sizeLabel(size), most: sizeLabel(maxBytes) });
}

/** Raises FileProblem where the bytes are no UTF-8. */
function decodeUtf8(bytes: ArrayBuffer, name: string) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // then it is no text
  }
  throw new FileProblem("file_neither", { name });
}

/** The JSON of each trace in a text. Raises FileProblem. */
function splitTraceTexts(text: string, name: string): string[] {
  const wholeValue = parseJsonOrUndefined(text);
  const texts = wholeValue === undefined ? text.split("\n").filter((line) => line.trim()) : [text];
  if (texts.length > MAX_TRACES) throw new FileProblem("file_too_many", { name, n: texts.length, most: MAX_TRACES });
  for (const traceText of texts) {
    const value = wholeValue ?? parseJsonOrUndefined(traceText);
    if (value === undefined) throw new FileProblem("file_no_json", { name });
    checkIsReadableTrace(value, name);
  }
  return texts;
}

/** Undefined where the text is no JSON. */
function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Raises FileProblem for what this page can't read. */
function checkIsReadableTrace(value: (Partial<Trace> & { cells?: unknown }) | null, name: string) {
  if (Array.isArray(value?.cells) && "nbformat" in value) throw new FileProblem("file_notebook", { name });
  const schema = value?.schema ?? TRACE_SCHEMA;
  if (Number.isInteger(schema) && schema > TRACE_SCHEMA)
    throw new FileProblem("file_newer", { name, schema, read: TRACE_SCHEMA });
  const isTrace =
    typeof value?.program?.source === "string" &&
    Array.isArray(value.program.statements) &&
    Array.isArray(value.steps) &&
    value.steps.every((step: Partial<Step> | null) => isObject(step?.set) && Array.isArray(step?.gone)) &&
    isObject(value.runtime) &&
    typeof value.outcome?.status === "string";
  if (!isTrace) throw new FileProblem("file_no_trace", { name });
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

function sizeLabel(bytes: number) {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
