/** Bundles the page's scripts and styles into static/dist. */
import { build } from "esbuild";
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

await Promise.all([
  build({ ...both, entryPoints: { style: "static/css/all.css" } }),
  build({
    ...both,
    ...SCRIPT,
    legalComments: "linked",
    format: "esm",
    entryPoints: {
      main: "static/js/main.js",
      gallery: "static/js/gallery.js",
      marks: "static/js/specimen_sheet.js",
      sign_in: "static/js/sign_in.js",
    },
  }),
  build({ ...both, ...SCRIPT, entryPoints: { offline: "static/js/offline.js" }, format: "iife" }),
  build({
    ...both,
    ...SCRIPT,
    entryPoints: { exports: "static/js/exports.js" },
    format: "iife",
    globalName: "exports",
  }),
]);
