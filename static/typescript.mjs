/**
 * Lets Node import the page's modules, whose types esbuild takes out, and the words of findings: `node --import
 * ./static/typescript.mjs FILE`.
 */
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { transform } from "esbuild";
import { TYPESCRIPT } from "./bundle.mjs";
import { FINDING_WORDS, findingWords } from "./finding_words.mjs";

if (isMainThread) {
  register(import.meta.url);
  process.setSourceMapsEnabled(true);
}

/** A hook of Node's, which runs in a thread of its own. */
export async function load(url, context, nextLoad) {
  if (FINDING_WORDS.test(url)) {
    const { sentences } = findingWords(fileURLToPath(url));
    return { format: "json", source: JSON.stringify(sentences), shortCircuit: true };
  }
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const { code } = await transform(await readFile(path, "utf8"), {
    loader: "ts",
    tsconfigRaw: TYPESCRIPT,
    sourcefile: path,
    sourcemap: "inline",
    sourcesContent: false,
  });
  return { format: "module", source: code, shortCircuit: true };
}
