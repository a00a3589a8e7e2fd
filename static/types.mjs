/** Writes static/js/trace.d.ts from the schema of the trace; with --check only says whether it is current. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { compile } from "json-schema-to-typescript";

const python = existsSync(".venv/bin/python") ? ".venv/bin/python" : "python3";
const schema = JSON.parse(execFileSync(python, ["-m", "server", "schema"], { encoding: "utf8" }));
const text = await compile(schema, "Trace", {
  bannerComment: "/** The trace as TypeScript: `npm run types` writes this from the schema. */",
  additionalProperties: false,
  unreachableDefinitions: true,
});
const file = "static/js/trace.d.ts";
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
  console.error(`${file} is not what the schema says`);
  process.exit(1);
}
