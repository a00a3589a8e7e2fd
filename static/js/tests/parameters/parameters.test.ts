/** The table of parameters: its tree of names, what is open at first, its texts, and its CSV. */

import assert from "node:assert/strict";
import test from "node:test";
import { itemsUnderNode, nameTree, initiallyOpenPaths } from "../../parameters/name_tree.ts";
import { commonModulePath, gradientRange, normText, shapeText } from "../../parameters/parameter_texts.ts";
import type { ParameterMoment } from "../../parameters/parameter_moments.ts";
import { csvText, tabbedText } from "../../parameters/tables_csv.ts";

const named = (names: string[]) => names.map((name) => ({ name, item: name }));

/** Names of a net of blocks, each with so many parameters. */
function blockNames(blocks: number, each: number) {
  return Array.from({ length: blocks * each }, (_, k) => `blocks.${Math.floor(k / each)}.mlp.${k % each}.weight`);
}

test("every parameter is in the tree once, in order", () => {
  const names = [
    "embed.weight",
    ...blockNames(3, 4),
    "head.weight",
    "head.bias",
    "layers[0].weight",
    "layers[1].weight",
  ];
  const tree = nameTree(named(names));
  assert.deepEqual(tree.flatMap(itemsUnderNode), names);
  assert.deepEqual(
    tree.map(({ label }) => label),
    ["embed.weight", "blocks", "head", "layers"],
  );
});

test("two things of the same name are two rows", () => {
  const tree = nameTree(named(["net.weight", "net.weight", "other.weight"]));
  const paths = tree.flatMap(({ children, path }) => (children.length ? children.map((child) => child.path) : [path]));
  assert.equal(new Set(paths).size, 3);
});

test("at first as many levels are open as there is room for, and nothing is left out when all is opened", () => {
  for (const [blocks, each] of [
    [2, 3],
    [12, 8],
    [48, 20],
    [1, 1000],
  ]) {
    const tree = nameTree(named(["embed.weight", ...blockNames(blocks, each)]));
    const open = initiallyOpenPaths(tree, 28);
    const rows = (nodes: typeof tree): number =>
      nodes.reduce((sum, node) => sum + 1 + (open.has(node.path) ? rows(node.children) : 0), 0);
    assert.ok(rows(tree) <= 28, `${blocks} blocks: ${rows(tree)} rows`);
    assert.equal(tree.flatMap(itemsUnderNode).length, blocks * each + 1);
  }
});

test("norms have three digits and shapes the field's sign", () => {
  assert.deepEqual([0, 1.23456, 0.000012345, 14.82, Number.NaN, Number.POSITIVE_INFINITY].map(normText), [
    "0",
    "1.23",
    "1.2e-5",
    "14.8",
    "?",
    "inf",
  ]);
  assert.deepEqual([[2, 6, 16], [], null].map(shapeText), ["2×6×16", "()", "?"]);
});

test("the common part of names ends where a module's does", () => {
  assert.equal(commonModulePath(["net.enc.weight", "net.enc.bias"]), "net.enc");
  assert.equal(commonModulePath(["net.encoder.weight", "net.enc.bias"]), "net");
  assert.equal(commonModulePath(["a", "b"]), "");
});

test("CSV quotes what needs it, and what is not known is empty", () => {
  assert.equal(csvText([['a "b", c', Number.NaN, null, 0, false]]), '"a ""b"", c",,,0,false\n');
  assert.equal(tabbedText([["a\tb", 1]]), "a b\t1\n");
});

const momentOf = (name: string, gradient: number, learns: string) =>
  ({ row: { name }, gradient, learns }) as unknown as ParameterMoment;
const said = (moments: ParameterMoment[]) => gradientRange(moments, (key, args) => `${key} ${JSON.stringify(args)}`);

test("that gradients vanish is said only of parameters that no step changed, while one changed that with the largest", () => {
  const last = momentOf("last", 1, "updated");
  const vanished = [momentOf("a", 1e-9, "not_updated"), momentOf("b", 1e-8, "not_updated"), last];
  assert.match(said(vanished) ?? "", /^say_vanished .*"smallest":"a".*"n":2,"all":3/);
  assert.match(said([momentOf("a", 1e-9, "updated"), last]) ?? "", /^say_range/); // as Adam does
  assert.match(said([momentOf("a", 1e-5, "not_updated"), last]) ?? "", /^say_range/);
  assert.match(said([momentOf("a", 1e-9, "not_updated"), momentOf("last", 1, "not_updated")]) ?? "", /^say_range/);
  assert.equal(said([momentOf("a", 0.1, "updated"), momentOf("zero", 0, "not_updated"), last]), null);
});
