/** The scripts that Python's tests run find in the page's modules all that they import. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { build } from "esbuild";

const scripts = readdirSync("tests", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".mjs"));
assert.ok(scripts.length, "there are scripts");

for (const script of scripts) {
  test(`tests/${script}`, async () => {
    const { warnings } = await build({
      entryPoints: [`tests/${script}`],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      logLevel: "silent",
      loader: { ".css": "text" },
    });
    assert.deepEqual(warnings, []);
  });
}
