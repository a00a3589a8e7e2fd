/** How lines of the page's source are written, where neither compiler nor formatter looks. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const MAX_WIDTH = 120;
/** `npm run types` writes these. */
const GENERATED = ["trace/wire.ts", "trace/registry.ts"];
/** Strings, templates and patterns, which the formatter does not break. */
const LITERALS = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[\s(,])\/(?![/*])(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/\w*/g;

const files = readdirSync("static/js", { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !GENERATED.includes(file),
);
const lines = files.flatMap((file) =>
  readFileSync(join("static/js", file), "utf8")
    .split("\n")
    .map((text, k) => ({ text, place: `${file}:${k + 1}` })),
);

function isTooWide(line: string) {
  const isComment = /^\s*(?:\/\/|\/?\*)/.test(line);
  return (isComment ? line : line.replace(LITERALS, "")).length > MAX_WIDTH;
}

test("comments name no parameters by tags: types and names are in the code, and a sentence says what they do not", () => {
  const tagged = lines.filter(({ text }) => /^\s*(?:\/\*\*|\*).*@(?:param|returns?|throws)\b/.test(text));
  assert.ok(lines.length > 50_000, "the source was read");
  assert.deepEqual(
    tagged.map(({ place }) => place),
    [],
  );
});

test("lines are no wider than the screen, but for strings and patterns", () => {
  const wide = lines.filter(({ text }) => isTooWide(text));
  assert.deepEqual(
    wide.map(({ place }) => place),
    [],
  );
});

test("a wide line would be found", () => {
  const long = "word ".repeat(MAX_WIDTH / 5);
  for (const line of [`/** ${long} */`, ` * "${long}"`, `call(); // ${long}`, `call(${long});`])
    assert.ok(isTooWide(line), line);
  for (const line of [`say("${long}");`, `say(\`${long}\`);`, `  /${long}/.test(text);`])
    assert.ok(!isTooWide(line), line);
});
