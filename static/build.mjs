/**
 * Bundles the page's scripts and styles into static/dist; with --watch, again whenever one changes, until it is ended.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { build, context } from "esbuild";
import { SCRIPT } from "./bundle.mjs";
import { writeFindingRegistries } from "./finding_registry.mjs";

/** The program of every first visit. */
const OPENING_PROGRAM = "scenarios/clone.py";

/** What a page fetches at once besides its script, by the name in chunks.json. */
const ALSO_PRELOADED = {
  editor_tools: "static/js/editor/editor_tools.ts",
  "locale.en": "static/locales/en.json",
  "locale.zh": "static/locales/zh.json",
};

/** What a page's script imports before it runs, for `<link rel="modulepreload">`: by script, in chunks.json. */
const listChunks = {
  name: "chunks",
  setup({ onEnd }) {
    onEnd(({ metafile }) => {
      if (!metafile) return;
      const { outputs } = metafile;
      const lists = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
        entryPoint && !path.includes("/chunks/") ? [[basename(path, ".js"), importedBy(outputs, path)]] : [],
      );
      for (const [name, entryPoint] of Object.entries(ALSO_PRELOADED)) {
        const [path] = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
        lists.push([name, [path.replace("static/dist/", ""), ...importedBy(outputs, path)]]);
      }
      writeFileSync("static/dist/chunks.json", JSON.stringify(Object.fromEntries(lists)));
    });
  },
};

/** The chunks that an output imports, and those that they import. */
function importedBy(outputs, path) {
  const direct = outputs[path].imports.filter(({ kind }) => kind === "import-statement").map((chunk) => chunk.path);
  const all = direct.flatMap((chunk) => [chunk.replace("static/dist/", ""), ...importedBy(outputs, chunk)]);
  return [...new Set(all)];
}

/** Leaves the sentences of other languages out. */
const oneLanguage = (language) => ({
  name: "one-language",
  setup({ onLoad }) {
    onLoad({ filter: /\b(en|zh)\.json$/ }, ({ path }) =>
      path.endsWith(`${language}.json`) ? undefined : { contents: "{}", loader: "json" },
    );
  },
});

/** Leaves the styles of other pages out. */
const frontPageAlone = {
  name: "front-page-alone",
  setup({ onLoad }) {
    const others = "settled|open_file|course|series|embed|specimen_sheet|sign_in|status|compare";
    onLoad({ filter: new RegExp(`/css/pages/(${others})\\.css$`) }, () => ({ contents: "", loader: "css" }));
  },
};

/** Modules in the place of others, by their paths, where nothing asks for those. */
const inPlaceOf = (others) => ({
  name: "in-place-of",
  setup({ onResolve }) {
    for (const [path, other] of Object.entries(others))
      onResolve({ filter: new RegExp(`/${path}$`) }, () => ({ path: resolve("static/js", other) }));
  },
});

const KEPT = { "run_sentences.ts": "offline/stored_run_sentences.ts" };
/** The scripts of offline files, by what one holds: a run that has one picture, several runs, or two to compare. */
const OFFLINE = {
  list: ["static/js/offline.ts", { ...KEPT, "stage.ts": "offline/stage_placeholder.ts" }],
  stage: [
    "static/js/offline.ts",
    { ...KEPT, "(net_view|module_list_picture).ts": "offline/module_list_placeholder.ts" },
  ],
  series: ["static/js/offline_series.ts", {}],
  compare: ["static/js/offline_compare.ts", {}],
};
const LANGUAGES = ["en", "zh"];

const both = {
  outdir: "static/dist",
  bundle: true,
  minify: true,
  sourcemap: false,
  target: "es2022",
  logLevel: "warning",
};

const bundles = [
  { ...both, entryPoints: { first_visit: "static/css/all.css" }, plugins: [frontPageAlone] },
  {
    ...both,
    entryPoints: {
      style: "static/css/all.css",
      matrix: "static/css/matrix.css",
      notebook: "static/css/notebook_all.css",
      "offline.stage": "static/css/offline_stage.css",
      "offline.list": "static/css/offline_list.css",
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
      main: "static/js/main.ts",
      htmx: "htmx.org",
      embed: "static/js/embed.ts",
      compare: "static/js/compare/page.ts",
      series_new: "static/js/series/page.ts",
      open: "static/js/open_file/page.ts",
      compare_embed: "static/js/compare/embed.ts",
    },
    plugins: [...SCRIPT.plugins, listChunks],
  },
  {
    ...both,
    ...SCRIPT,
    format: "esm",
    entryPoints: {
      gallery: "static/js/gallery.ts",
      matrix: "static/js/matrix/page.ts",
      marks: "static/js/specimens/sheet.ts",
      sign_in: "static/js/sign_in.ts",
    },
  },
  ...Object.entries(OFFLINE).flatMap(([name, [path, others]]) =>
    LANGUAGES.map((language) => ({
      ...both,
      ...SCRIPT,
      charset: "utf8",
      entryPoints: { [`offline.${name}.${language}`]: path },
      format: "iife",
      plugins: [inPlaceOf(others), oneLanguage(language), ...SCRIPT.plugins],
    })),
  ),
  // each cell of a notebook holds a copy, so it has the sentences of one language
  ...LANGUAGES.map((language) => ({
    ...both,
    ...SCRIPT,
    entryPoints: { [`notebook.${language}`]: "static/js/notebook.ts" },
    format: "iife",
    plugins: [oneLanguage(language), ...SCRIPT.plugins],
  })),
  {
    ...both,
    ...SCRIPT,
    entryPoints: { exports: "static/js/exports.ts" },
    format: "iife",
    globalName: "exports",
  },
];

/** Writes the colours of the opening program, as the editor's grammar finds them, into painted.json. */
async function paintOpeningProgram() {
  const { outputFiles } = await build({
    ...SCRIPT,
    entryPoints: ["static/js/editor/highlight_python.ts"],
    bundle: true,
    format: "esm",
    write: false,
  });
  const { highlightPython } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`
  );
  const source = readFileSync(OPENING_PROGRAM, "utf8");
  let at = 0;
  const parts = highlightPython(source).flatMap((line) => {
    const painted = line.flatMap(({ text, style }) => {
      at += text.length;
      return style ? [[at - text.length, at, style]] : [];
    });
    at += 1;
    return painted;
  });
  mkdirSync("static/dist", { recursive: true });
  writeFileSync("static/dist/painted.json", JSON.stringify({ source, parts }));
}

writeFindingRegistries();
rmSync("static/dist/chunks", { recursive: true, force: true });
await paintOpeningProgram();
if (process.argv.includes("--watch")) {
  const contexts = await Promise.all(bundles.map((bundle) => context(bundle)));
  await Promise.all(contexts.map((watched) => watched.rebuild()));
  await Promise.all(contexts.map((watched) => watched.watch()));
  console.log("watching");
} else {
  await Promise.all(bundles.map((bundle) => build(bundle)));
}
