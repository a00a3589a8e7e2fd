/** Bundles the page's scripts and styles into static/dist; with --watch, again whenever one changes, until it is ended. */
import { rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { build, context } from "esbuild";
import { SCRIPT } from "./bundle.mjs";

/** What a page's script imports before it runs, for `<link rel="modulepreload">`: by script, in chunks.json.
 * @type {import("esbuild").Plugin} */
const listChunks = {
  name: "chunks",
  setup({ onEnd }) {
    onEnd(({ metafile }) => {
      if (!metafile) return;
      const lists = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
        entryPoint && !path.includes("/chunks/") ? [[basename(path, ".js"), importedBy(metafile.outputs, path)]] : [],
      );
      writeFileSync("static/dist/chunks.json", JSON.stringify(Object.fromEntries(lists)));
    });
  },
};

/** @param {import("esbuild").Metafile["outputs"]} outputs @param {string} path @returns {string[]} */
function importedBy(outputs, path) {
  const direct = outputs[path].imports.filter(({ kind }) => kind === "import-statement").map((chunk) => chunk.path);
  const all = direct.flatMap((chunk) => [chunk.replace("static/dist/", ""), ...importedBy(outputs, chunk)]);
  return [...new Set(all)];
}

/** Leaves the sentences of other languages out. @param {string} language @returns {import("esbuild").Plugin} */
const oneLanguage = (language) => ({
  name: "one-language",
  setup({ onLoad }) {
    onLoad({ filter: /\b(en|zh)\.json$/ }, ({ path }) =>
      path.endsWith(`${language}.json`) ? undefined : { contents: "{}", loader: "json" },
    );
  },
});

/** @type {import("esbuild").BuildOptions} */
const both = {
  outdir: "static/dist",
  bundle: true,
  minify: true,
  sourcemap: false,
  target: "es2022",
  logLevel: "warning",
};

/** @type {import("esbuild").BuildOptions[]} */
const bundles = [
  {
    ...both,
    entryPoints: {
      style: "static/css/all.css",
      matrix: "static/css/matrix.css",
      notebook: "static/css/notebook_all.css",
    },
  },
  {
    ...both,
    ...SCRIPT,
    legalComments: "linked",
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    metafile: true,
    entryPoints: {
      main: "static/js/main.js",
      embed: "static/js/embed.js",
      compare: "static/js/compare/page.js",
      series_new: "static/js/series/page.js",
      open: "static/js/open_file/page.js",
      compare_embed: "static/js/compare/embed.js",
    },
    plugins: [listChunks],
  },
  {
    ...both,
    ...SCRIPT,
    format: "esm",
    entryPoints: {
      gallery: "static/js/gallery.js",
      matrix: "static/js/matrix/page.js",
      marks: "static/js/specimens/sheet.js",
      sign_in: "static/js/sign_in.js",
    },
  },
  { ...both, ...SCRIPT, entryPoints: { offline: "static/js/offline.js" }, format: "iife" },
  // each cell of a notebook holds a copy, so it has the sentences of one language
  ...["en", "zh"].map((language) => ({
    ...both,
    ...SCRIPT,
    entryPoints: { [`notebook.${language}`]: "static/js/notebook.js" },
    format: /** @type {const} */ ("iife"),
    plugins: [oneLanguage(language)],
  })),
  {
    ...both,
    ...SCRIPT,
    entryPoints: { exports: "static/js/exports.js" },
    format: "iife",
    globalName: "exports",
  },
];

rmSync("static/dist/chunks", { recursive: true, force: true });
if (process.argv.includes("--watch")) {
  const contexts = await Promise.all(bundles.map((bundle) => context(bundle)));
  await Promise.all(contexts.map((watched) => watched.rebuild()));
  await Promise.all(contexts.map((watched) => watched.watch()));
  console.log("watching");
} else {
  await Promise.all(bundles.map((bundle) => build(bundle)));
}
