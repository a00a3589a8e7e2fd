/** Bundles the page's script and styles into static/dist. */
import { build } from "esbuild";

await build({
  entryPoints: { main: "static/js/main.js", gallery: "static/js/gallery.js", style: "static/css/all.css" },
  outdir: "static/dist",
  bundle: true,
  minify: true,
  sourcemap: false,
  format: "esm",
  target: "es2022",
  loader: { ".json": "json" },
  legalComments: "linked",
  logLevel: "warning",
});
