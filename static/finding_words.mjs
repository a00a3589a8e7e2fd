/**
 * The sentences of findings: those of all kinds in static/locales/findings.LANGUAGE.json, and those of each kind in a
 * file of its own, static/locales/findings/KIND.json, with both languages. Whoever imports the first gets all of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const FINDING_WORDS = /\blocales\/findings\.(en|zh)\.json$/;

/** The sentences of a language by key, with the files and the folder that have them. path: that of the first file. */
export function findingWords(path) {
  const [, language] = FINDING_WORDS.exec(path);
  const folder = join(dirname(path), "findings");
  const files = readdirSync(folder).sort();
  const sentences = JSON.parse(readFileSync(path, "utf8"));
  for (const file of files) {
    const ofKind = JSON.parse(readFileSync(join(folder, file), "utf8"))[language];
    for (const [key, sentence] of Object.entries(ofKind))
      sentences[`finding.${file.replace(/\.json$/, "")}.${key}`] = sentence;
  }
  return { files: [path, ...files.map((file) => join(folder, file))], folder, sentences };
}

/** For esbuild. */
export const findingWordsPlugin = {
  name: "finding-words",
  setup({ onLoad }) {
    onLoad({ filter: FINDING_WORDS }, ({ path }) => {
      const { files, folder, sentences } = findingWords(path);
      return { contents: JSON.stringify(sentences), loader: "json", watchFiles: files, watchDirs: [folder] };
    });
  },
};
