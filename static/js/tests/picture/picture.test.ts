/** A step as a file: what it says is what the trace says, it needs nothing else, and no text becomes markup. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { encodedValueJson } from "../../trace/format.ts";
import { pictureExtent } from "../../marks/extent.ts";
import { resolveTokens, pictureStylesheet } from "../../marks/svg_styles.ts";
import { wrapText } from "../../marks/svg_document.ts";
import { jsonForScriptElement, offlineHtml } from "../../picture/standalone.ts";
import { findHandle } from "../../trace/entities.ts";
import { pictureOfRun } from "../../trace/run_picture.ts";
import { openTrace } from "../../trace/state.ts";
import { h } from "../../browser/svg.ts";
import { bare } from "../bare.ts";
import { ALL } from "../traces.ts";
import { storage, tensor, trace } from "../entities.ts";

const stageSvg = await bare();
const loomSvg = await bare("loomSvg");
const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))]);

/** The elements of a well-formed file, or a failure that says where it is not. */
function elements(svg: string) {
  const out = [] as { tag: string; attrs: Map<string, string> }[];
  const open = [] as string[];
  const plain = (text: string) =>
    text.replace(/&(amp|lt|gt|quot);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name] ?? "");
  let at = svg.indexOf("?>") + 2;
  for (const [element, close, tag, attrs, text] of svg
    .slice(at)
    .matchAll(/\s*<(\/?)([a-z]+)((?: [\w:-]+="[^"<]*")*)>([^<]*)/gi)) {
    at += element.length;
    if (close) assert.equal(open.pop(), tag);
    else {
      open.push(tag);
      out.push({
        tag,
        attrs: new Map([...attrs.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(([, k, v]) => [k, plain(v)])),
      });
    }
    assert.doesNotMatch(text, /&(?!(amp|lt|gt|quot);)/);
  }
  assert.equal(at, svg.length, svg.slice(at, at + 80));
  assert.deepEqual(open, []);
  return out;
}

const programs = [...goldens, ...Object.entries(ALL).map(([name, make]) => [name, make()])];
for (const [name, made] of programs.filter(([, made]) => pictureOfRun(openTrace(made)) === "stage"))
  test(`${name}: every step is a file whose cells are the trace's, with those of all that has a name`, () => {
    const opened = openTrace(made);
    for (let i = 0; i < opened.count; i++) {
      const drawn = elements(stageSvg(made, i, { theme: i % 2 ? "dark" : "light", language: i % 3 ? "en" : "zh" }));
      const cells = drawn
        .filter((e) => e.attrs.has("data-cell"))
        .map((e) => `${e.attrs.get("data-cell")} ${e.attrs.get("data-dtype")} ${e.attrs.get("data-value")}`);
      const expected = [...opened.at(i).entities].flatMap(([uid, e]) =>
        Object.entries(e.cells ?? {}).flatMap(([dtype, row]) =>
          row.map((value: any, k: number) => `${uid}:${k} ${dtype} ${encodedValueJson(value)}`),
        ),
      );
      const unique = new Set(cells);
      assert.equal(unique.size, cells.length, "each is there once");
      const { entities } = opened.at(i);
      const named = new Set([...opened.names(i).tags.keys()].map((uid) => findHandle(entities, uid)?.storage));
      const whole = new Set([...cells.map((cell) => cell.split(":")[0]), ...named]);
      assert.deepEqual(cells.sort(), expected.filter((cell) => whole.has(cell.split(":")[0])).sort());
    }
  });

test("the run as a file is well-formed, at every third step and the last", () => {
  for (const [, made] of goldens)
    for (let i = (made.steps.length - 1) % 3; i < made.steps.length; i += 3)
      assert.ok(elements(loomSvg(made, i)).length > 10);
});

test("a file needs no other: no variable, address, script or handler", () => {
  for (const [, made] of goldens)
    for (const [draw, theme] of [
      [stageSvg, "light"],
      [stageSvg, "dark"],
      [loomSvg, "light"],
      [loomSvg, "dark"],
    ]) {
      const svg = draw(made, null, { theme });
      assert.doesNotMatch(svg, /var\(|light-dark|@import|@media|<script|<foreignObject|\son\w+=|tabindex|javascript:/i);
      assert.doesNotMatch(svg.replace('xmlns="http://www.w3.org/2000/svg"', ""), /https?:|url\((?!&quot;#)/);
    }
});

test("the caption says the line, the step and the sentences, in the language asked for", () => {
  const made = ALL.stale();
  const [english, chinese] = ["en", "zh"].map((language) => stageSvg(made, 3, { language }));
  assert.match(english, /<text class="paper-line"[^>]*>d\.zero_\(\)</);
  assert.match(english, /Step 4 of 5 · line 4/);
  assert.match(english, /<text class="paper-note plain"[^>]*>Sigmoid kept out for backward at version 0/);
  assert.match(english, /<title id="picture-title">d\.zero_\(\) · Step 4 of 5 · line 4<\/title>/);
  assert.match(chinese, /xml:lang="zh"/);
  assert.match(chinese, /第 4 步/);
});

test("light and dark are the tokens' own colours", () => {
  const light = stageSvg(ALL.sharing(), 1);
  const dark = stageSvg(ALL.sharing(), 1, { theme: "dark" });
  assert.match(light, /\.paper\{fill: #ffffff\}/);
  assert.match(dark, /\.paper\{fill: #16191f\}/);
  assert.equal(resolveTokens(":root { --a: light-dark(#fff, #000); --b: 1px; }", "dark").get("a"), "#000");
  assert.equal(
    pictureStylesheet(
      ".a:hover, .b { cursor: pointer; fill: var(--c); } @media print { .b { fill: red; } } .a { fill: blue; }",
      "--c: light-dark(red, green);",
      "dark",
      new Set(["b"]),
    ),
    ".b{fill: green}",
  );
});

test("hostile names and texts stay texts, and what XML can't hold is replaced", () => {
  const evil = "</text><script>alert(1)</script>&amp;\"'<!--]]>\u0007\ud800";
  const made = trace(`${evil}\n`, [
    {
      set: {
        f1: {
          kind: "frame",
          name: evil,
          line: 1,
          state: "running",
          vars: { [evil]: { ref: "t1" }, note: evil, o: { ref: "o1" } },
        },
        s1: storage([1, 2]),
        c1: { kind: "counter", value: 0 },
        t1: tensor({ shape: [2] }),
        o1: { kind: "object", type: evil, len: 1, items: [[evil, 1]] },
        n1: { kind: "node", name: evil, next: [], saved: {}, attrs: { [evil]: evil } },
      },
      log: [{ kind: "event", event: "warning", category: evil, text: evil }],
    },
  ]);
  elements(loomSvg(made, 0));
  const svg = stageSvg(made, 0);
  assert.deepEqual([...new Set(elements(svg).map((e) => e.tag))].sort(), [
    "circle",
    "defs",
    "desc",
    "g",
    "path",
    "pattern",
    "rect",
    "style",
    "svg",
    "text",
    "title",
  ]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  assert.doesNotMatch(svg, /[\0-\x08\x0b\x0c\x0e-\x1f]|[\ud800-\udbff](?![\udc00-\udfff])/);
  assert.match(svg, /\ufffd/);
  assert.match(svg, /&lt;script&gt;alert\(1\)/);
});

test("an offline file's texts stay texts", () => {
  const evil = "</script><!-- <script>alert(1)</script> ]]>\u2028";
  const html = offlineHtml({
    title: evil,
    language: "en",
    theme: "dark",
    body: "<main></main>",
    style: "a{}",
    nonce: "ab",
    script: 'const a = "</script><!--";',
    data: { trace: evil, title: evil },
  });
  assert.equal(html.match(/<script/g)?.length, 2);
  assert.equal(html.match(/<\/script/g)?.length, 2);
  assert.doesNotMatch(html, /<!--/);
  assert.match(html, /default-src 'none'; script-src 'nonce-ab'/);
  assert.equal(JSON.parse(jsonForScriptElement(evil)), evil);
  const script = html.slice(html.lastIndexOf('nonce="ab">') + 11, html.lastIndexOf("</script>"));
  assert.equal(new Function(`${script}; return a;`)(), "</script><!--");
});

test("a caption is broken where lines may be broken", () => {
  assert.deepEqual(wrapText("one two three", 60, 10), ["one two", "three"]);
  assert.deepEqual(wrapText("第一行第二行", 40, 10), ["第一行", "第二行"]);
  assert.deepEqual(wrapText("x".repeat(25), 61, 10), ["x".repeat(10), "x".repeat(10), "x".repeat(5)]);
  assert.deepEqual(wrapText("", 60, 10), [""]);
});

test("a picture reaches as far as its marks", () => {
  assert.deepEqual(pictureExtent([h("rect", { x: 1, y: 2, width: 3, height: 4 })]), { x: 4, y: 6 });
  assert.deepEqual(pictureExtent([h("g", {}, h("path", { d: "M10 10h5v-20H40V30l1 1" }))]), { x: 41, y: 31 });
  assert.deepEqual(pictureExtent([h("g", { class: "tag tucked" }, h("rect", { x: 1, y: 2, width: 300, height: 4 }))]), {
    x: 0,
    y: 0,
  });
});

test("a stored trace of an earlier server is drawn, its stage and its loom", () => {
  const stored = JSON.parse(readFileSync("tests/contract/schema_1.json", "utf8"));
  for (const i of [0, Math.floor(stored.steps.length / 2), stored.steps.length - 1])
    assert.ok(elements(stageSvg(stored, i)).length > 10);
  assert.ok(elements(loomSvg(stored)).length > 10);
});
