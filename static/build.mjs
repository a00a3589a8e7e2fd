/** Bundles the page's scripts and styles into static/dist; with --watch, again whenever one changes, until it is ended. */
import { build, context } from "esbuild";
import { SCRIPT } from "./bundle.mjs";

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
  { ...both, entryPoints: { style: "static/css/all.css" } },
  {
    ...both,
    ...SCRIPT,
    legalComments: "linked",
    format: "esm",
    entryPoints: {
      main: "static/js/main.js",
      embed: "static/js/embed.js",
      gallery: "static/js/gallery.js",
      marks: "static/js/specimen_sheet.js",
      sign_in: "static/js/sign_in.js",
    },
  },
  { ...both, ...SCRIPT, entryPoints: { offline: "static/js/offline.js" }, format: "iife" },
  {
    ...both,
    ...SCRIPT,
    entryPoints: { exports: "static/js/exports.js" },
    format: "iife",
    globalName: "exports",
  },
];

if (process.argv.includes("--watch")) {
  const contexts = await Promise.all(bundles.map((bundle) => context(bundle)));
  await Promise.all(contexts.map((watched) => watched.rebuild()));
  await Promise.all(contexts.map((watched) => watched.watch()));
  console.log("watching");
} else {
  await Promise.all(bundles.map((bundle) => build(bundle)));
}
