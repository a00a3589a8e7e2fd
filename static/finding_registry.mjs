/**
 * Keeps the tables of findings: a file of static/js/findings that exports `FINDINGS` is in registry.ts, one that
 * exports `ERROR_FINDINGS` in error_registry.ts. What stands there keeps its place, and what is new comes last.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const FOLDER = "static/js/findings";

const TABLES = [
  {
    file: "error_registry.ts",
    exported: "ERROR_FINDINGS",
    head: "Every finding that explains an error; of several that explain one, the first is shown.",
    table: "ERROR_DIAGNOSES",
    first: [],
  },
  {
    file: "registry.ts",
    exported: "FINDINGS",
    head: "Every finding. Of several with their cause at one step, the first is shown first.",
    table: "DIAGNOSES",
    first: ["ERROR_DIAGNOSES"],
  },
];

/** @returns the text of each table by its path, as it should be */
export function findingRegistries(folder = FOLDER) {
  const modules = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .sort();
  return new Map(TABLES.map((table) => [join(folder, table.file), registryText(folder, modules, table)]));
}

function registryText(folder, modules, { file, exported, head, table, first }) {
  const declares = new RegExp(`^export const ${exported}\\b`, "m");
  const declaring = new Set(modules.filter((path) => declares.test(readFileSync(join(folder, path), "utf8"))));
  const listed = [...readFileSync(join(folder, file), "utf8").matchAll(/^import \{ \w+ as \w+ \} from "\.\/(.+)";$/gm)];
  const kept = listed.map(([, path]) => path).filter((path) => declaring.has(path));
  const paths = [...new Set([...kept, ...declaring])];
  return [
    "/**",
    ` * ${head}`,
    " * `npm run build` adds what is new at the end; the order stays.",
    " */",
    "",
    ...first.map((name) => `import { ${name} } from "./error_registry.ts";`),
    ...paths.map((path) => `import { ${exported} as ${camelCase(path)} } from "./${path}";`),
    'import type { DiagnosisRow } from "./diagnosis.ts";',
    "",
    `export const ${table}: DiagnosisRow[] = [`,
    ...[...first, ...paths.map(camelCase)].map((name) => `  ...${name},`),
    "];",
    "",
  ].join("\n");
}

const camelCase = (path) => basename(path, ".ts").replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Writes the tables that are not current. */
export function writeFindingRegistries() {
  for (const [path, text] of findingRegistries()) if (readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
