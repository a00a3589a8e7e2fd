/**
 * Styles of one page stay in that page: all pages but the matrix get one file, in which a common word means what came
 * last.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";

const folder = new URL("../../css/", import.meta.url);

/** Pages whose styles begin with a class of their own, and the parts of other files that they lay out anew. */
const PAGES = [
  { root: "comparison", files: /^compare/, shared: ["busy", "controls", "listing", "sentences"] },
  { root: "matrix", files: /^matrix_/, shared: ["tagline", "top", "wordmark"] },
];

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".css"))
  .map((path) => {
    const css = readFileSync(new URL(path, folder), "utf8");
    return { path, name: basename(path), css, selectors: selectorsOf(css) };
  });

/** The selectors of a style sheet, one by one. */
function selectorsOf(css: string) {
  const rules = css.replace(/\/\*.*?\*\//gs, "").matchAll(/([^{};]+)\{/g);
  return [...rules]
    .flatMap(([, text]) => (text.trim().startsWith("@") ? [] : text.split(/,(?![^(]*\))/)))
    .map((text) => text.trim());
}

function classesOf(selector: string) {
  return [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map((match) => match[1]);
}

function startsFrom(root: string) {
  return new RegExp(`^(\\.${root}(?![\\w])|:where\\(\\.${root}\\) |body:has\\(\\.${root}\\))`);
}

test("a rule with :has() names what it styles: the browser would look at every element after every change", () => {
  const onPage = files.filter(({ name }) => name !== "print.css" && !name.startsWith("matrix"));
  const withHas = onPage.flatMap(({ selectors }) => selectors).filter((selector) => selector.includes(":has("));
  assert.ok(withHas.length);
  const unnamed = withHas.filter((selector) =>
    /[\s>+~](\*|:(?!is\b)[\w:-]*)$/.test(selector.replace(/\([^()]*\)/g, "")),
  );
  assert.deepEqual(unnamed, []);
});

test("a rule ends in an id, a class, an attribute or an element: one for anything is asked of all that a step draws", () => {
  const anything = files.flatMap(({ name, css }) => {
    // other windows draw less
    const always = css.replace(/\/\*.*?\*\//gs, "").replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
    return selectorsOf(always)
      .filter(endsInAnything)
      .map((selector) => `${name}: ${selector}`);
  });
  const onPage = anything.filter((rule) => !rule.startsWith("matrix") && !rule.startsWith("print.css"));
  assert.deepEqual(onPage, ["page.css: *", "page.css: :focus-visible"]);
});

/** Whether a selector's end says neither id, class, attribute nor element. */
function endsInAnything(selector: string) {
  let plain = selector.replace(/::[\w-]+(\(.*\))?$/, "");
  for (let before = ""; before !== plain; ) {
    before = plain;
    plain = plain.replace(/\([^()]*\)/g, "");
  }
  const end = plain.split(/[\s>+~]+/).at(-1) ?? "";
  return /^\*?(:[\w-]+)*$/.test(end) && end !== ":root" && end !== "";
}

for (const { root, files: own, shared } of PAGES) {
  const pageFiles = files.filter(({ name }) => own.test(name));
  const pageSelectors = pageFiles.flatMap(({ selectors }) => selectors);

  test(`styles of the page .${root} begin with it`, () => {
    assert.ok(pageSelectors.includes(`.${root}`), "no rule of the page was read");
    const leaking = pageSelectors.filter((selector) => !startsFrom(root).test(selector));
    assert.deepEqual(leaking, [], `these would style other pages: begin them with .${root}`);
  });

  test(`what the page .${root} styles, no other file styles on every page`, () => {
    const others = files.filter(({ name }) => !own.test(name)).flatMap(({ selectors }) => selectors);
    const everywhere = new Set(others.map((selector) => /^\.([\w-]+)/.exec(selector)?.[1]));
    const both = new Set(pageSelectors.flatMap(classesOf).filter((name) => everywhere.has(name)));
    assert.deepEqual(
      [...both].sort(),
      shared,
      "give the class another name, or add it to `shared` if it is the same part",
    );
  });
}

test("what stands in a notebook's picture has the styles of a page: without its rule, a hidden view takes the stage's height", () => {
  const imported = (bundle: string): string[] =>
    [...readFileSync(new URL(bundle, folder), "utf8").matchAll(/@import "\.\/(.+)"/g)].flatMap(([, path]) =>
      path.includes("/") ? [path] : imported(path),
    );
  const selectors = (paths: string[]) =>
    new Set(files.flatMap(({ path, selectors: own }) => (paths.includes(path) ? own : [])));
  const inPages = selectors(imported("all.css"));
  const inNotebooks = selectors(imported("notebook_all.css"));
  const markup = readFileSync(new URL("../../../templates/partials/_viewer.html", import.meta.url), "utf8");
  const ids = [...markup.matchAll(/ id="([\w-]+)"/g)].map((match) => `#${match[1]}`);
  assert.ok(ids.includes("#net"), "the markup was not read");
  const ofViews = [...inPages].filter((selector) => ids.some((id) => selector === id || selector === `${id}.aside`));
  assert.deepEqual(
    ofViews.filter((selector) => !inNotebooks.has(selector)),
    [],
  );
});
