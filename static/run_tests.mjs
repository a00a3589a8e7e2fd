/**
 * Runs every test of the page's scripts in this one process: a process for each file would load Node and the scripts
 * anew, for four tenths of the time. `npm test FILE` runs some of them.
 */
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import "./typescript.mjs";

const FOLDER = "static/js/tests";

const chosen = process.argv.slice(2);
const files = chosen.length
  ? chosen
  : readdirSync(FOLDER, { recursive: true })
      .sort()
      .map((path) => `${FOLDER}/${path}`);
for (const file of files) {
  if (file.endsWith(".test.ts")) await import(pathToFileURL(resolve(file)).href);
}
