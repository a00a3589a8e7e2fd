/**
 * What the page's modules import of each other: no circle of files or of folders, types included, and nothing is
 * exported that nobody imports. No folder holds more files than a reader can survey.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const PAGE = "static/js";
const MOST_FILES_IN_A_FOLDER = 25;
/** Modules whose exports are called by the server's process or by the tests of pictures. */
const ENTRY_POINTS = ["exports.ts", "picture/picture.ts"];

interface Import {
  file: string;
  /** null: all of it */
  names: string[] | null;
}

function importsOf(file: string, text: string): Import[] {
  const target = (path: string) => normalize(join(dirname(file), path));
  const out: Import[] = [];
  for (const [, clause, path] of text.matchAll(
    /^(?:import|export)\s+(?:type\s+)?([^;"]*?)\s*from\s+"(\.[^"]+\.ts)"/gm,
  )) {
    const names = /^\{([^}]*)\}$/.exec(clause.trim())?.[1].split(",") ?? null;
    const exported = names?.map(
      (name) =>
        name
          .trim()
          .replace(/^type /, "")
          .split(" as ")[0],
    );
    out.push({ file: target(path), names: exported?.filter(Boolean) ?? null });
  }
  for (const [, path] of text.matchAll(/(?:^import |\bimport\()\s*"(\.[^"]+\.ts)"/gm))
    out.push({ file: target(path), names: null });
  return out;
}

function exportsOf(text: string): string[] {
  const declared = [...text.matchAll(/^export (?:async )?(?:function|const|let|class|interface|type) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\};/gm)].flatMap(([, names]) => names.split(","));
  return [...declared, ...listed.map((name) => name.trim()).filter(Boolean)];
}

/**
 * What the parts of a folder import of each other: a part is a folder in it, with all that is below, or a file that
 * stands in it. `folder` ends with a slash; it is empty for all modules.
 */
function importsOfParts(graph: Map<string, string[]>, folder: string): Map<string, string[]> {
  const partOf = (file: string) => folder + file.slice(folder.length).split("/")[0];
  const parts = new Map<string, string[]>();
  for (const [file, others] of graph) {
    if (!file.startsWith(folder)) continue;
    const part = partOf(file);
    const partsBeside = others.filter((other) => other.startsWith(folder)).map(partOf);
    parts.set(part, [...(parts.get(part) ?? []), ...partsBeside.filter((other) => other !== part)]);
  }
  return parts;
}

/** All folders above the files, each with a slash at its end; the topmost is empty. */
function foldersAbove(files: Iterable<string>): string[] {
  const folders = new Set([""]);
  for (const file of files)
    for (let k = file.indexOf("/"); k >= 0; k = file.indexOf("/", k + 1)) folders.add(file.slice(0, k + 1));
  return [...folders].sort();
}

/** Files that import each other in a circle, or null. */
function circleIn(graph: Map<string, string[]>): string[] | null {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (finished.has(file)) return null;
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next);
      if (circle) return circle;
    }
    path.pop();
    finished.add(file);
    return null;
  };
  for (const file of graph.keys()) {
    const circle = visit(file);
    if (circle) return circle;
  }
  return null;
}

const texts = new Map(
  readdirSync(PAGE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => [file, readFileSync(join(PAGE, file), "utf8")]),
);
const modules = [...texts.keys()].filter((file) => !file.startsWith("tests/") && !file.endsWith(".d.ts"));
const imports = new Map([...texts].map(([file, text]) => [file, importsOf(file, text)]));
/** The programs in Python's tests, as far as they import modules of the page. */
const scripts = readdirSync("tests", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(mjs|py)$/.test(file))
  .map((file) => readFileSync(`tests/${file}`, "utf8"))
  .filter((text) => /from ['"][./]*static\/js\//.test(text));

const graph = new Map(modules.map((file) => [file, (imports.get(file) ?? []).map((other) => other.file)]));

test("modules do not import each other in a circle, not even for types", () => {
  assert.ok(graph.get("main.ts")?.includes("page_state/page_state.ts"), "imports are found");
  const missing = [...graph].flatMap(([file, others]) =>
    others.filter((other) => !texts.has(other)).map((other) => `${file}: ${other}`),
  );
  assert.deepEqual(missing, []);
  assert.equal(circleIn(graph), null);
});

test("folders do not import each other in a circle", () => {
  const folders = foldersAbove(modules);
  assert.ok(folders.includes("findings/memory/"), "folders within folders are found");
  for (const folder of folders) assert.equal(circleIn(importsOfParts(graph, folder)), null, folder);
});

test("a circle of folders would be found where the files have none", () => {
  const files = new Map([
    ["main.ts", ["a/one.ts"]],
    ["a/one.ts", ["b/two.ts"]],
    ["a/inner/three.ts", ["a/four.ts"]],
    ["a/four.ts", []],
    ["b/two.ts", ["a/four.ts", "a/inner/three.ts"]],
  ]);
  assert.equal(circleIn(files), null);
  assert.deepEqual(circleIn(importsOfParts(files, "")), ["a", "b", "a"]);
  assert.equal(circleIn(importsOfParts(files, "a/")), null);
  files.set("a/four.ts", ["a/inner/five.ts"]).set("a/inner/five.ts", []);
  assert.equal(circleIn(files), null);
  assert.deepEqual(circleIn(importsOfParts(files, "a/")), ["a/inner", "a/four.ts", "a/inner"]);
  assert.deepEqual(foldersAbove(files.keys()), ["", "a/", "a/inner/", "b/"]);
});

test("no folder of scripts or styles has more files than a reader can survey", () => {
  const counts = new Map<string, number>();
  for (const root of [PAGE, "static/css"])
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
  assert.ok((counts.get("static/js/findings/training") ?? 0) > 10, "files of folders within folders are counted");
  const crowded = [...counts].filter(([, count]) => count > MOST_FILES_IN_A_FOLDER);
  assert.deepEqual(crowded, [], "make a folder for those that belong together");
});

test("a circle would be found", () => {
  const text = (path: string) => `import type { A } from "${path}";`;
  const files = new Map([
    ["a/one.ts", importsOf("a/one.ts", text("../b/two.ts")).map(({ file }) => file)],
    ["b/two.ts", importsOf("b/two.ts", text("./three.ts")).map(({ file }) => file)],
    ["b/three.ts", importsOf("b/three.ts", text("../a/one.ts")).map(({ file }) => file)],
  ]);
  assert.deepEqual(circleIn(files), ["a/one.ts", "b/two.ts", "b/three.ts", "a/one.ts"]);
  files.delete("b/three.ts");
  assert.equal(circleIn(files), null);
});

test("what is exported is imported somewhere", () => {
  const used = new Map<string, Set<string> | null>(modules.map((file) => [file, new Set<string>()]));
  for (const { file, names } of [...imports.values()].flat()) {
    if (names === null) used.set(file, null);
    else for (const name of names) used.get(file)?.add(name);
  }
  const unused = modules.flatMap((file) => {
    const names = used.get(file);
    if (!names || ENTRY_POINTS.includes(file) || file === "trace/wire.ts") return [];
    const isInScript = (name: string) => scripts.some((text) => new RegExp(`\\b${name}\\b`).test(text));
    return exportsOf(texts.get(file) ?? "")
      .filter((name) => !names.has(name) && !isInScript(name))
      .map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(exportsOf("export const a = 1;\nexport type { B, C };\nconst d = 2;"), ["a", "B", "C"]);
  assert.deepEqual(unused, []);
});
