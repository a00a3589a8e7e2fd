/** What statements say, asked of syntax as the recorder writes it down. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import {
  callArgument,
  calleeName,
  calleePath,
  callsIn,
  firstNameOf,
  hasUnpackedArguments,
  isTorchMember,
  literalValue,
  methodCalls,
  pathText,
  receiver,
} from "../../syntax/expressions.ts";
import { isOnlyBound, mentionedNames, nameUses } from "../../syntax/name_uses.ts";
import {
  assignments,
  functionAround,
  gradReads,
  isConditional,
  loopHead,
  loopVariables,
  singleAssignment,
  namesWritten,
} from "../../syntax/statements.ts";
import { textOfStatement } from "../../syntax/statement_text.ts";
import { nodesOfKind, childOf, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { Program } from "../../trace/wire.ts";

const PYTHON = existsSync(".venv/bin/python") ? ".venv/bin/python" : "python3";
const RECORD = `
import ast, json, sys
from gradbox.language.statement_syntax import statement_records
from gradbox.language.tree import SyntaxNodes
from gradbox.recorder.instrument import instrument_tree
for line in sys.stdin:
    programs = []
    for source in json.loads(line):
        _, table = instrument_tree(SyntaxNodes(ast.parse(source)))
        programs.append({"source": source, "statements": statement_records(source, table.rows, table.syntaxes)})
    print(json.dumps(programs), flush=True)
`;

/** One for all tests: it imports torch. */
const recorder = spawn(PYTHON, ["-c", RECORD], { stdio: ["pipe", "pipe", "inherit"] });
const replies = createInterface(recorder.stdout)[Symbol.asyncIterator]();
after(() => recorder.stdin.end());

/** Programs as a trace has them. */
async function recordedPrograms(...sources: string[]): Promise<Program[]> {
  recorder.stdin.write(`${JSON.stringify(sources)}\n`);
  const { value } = await replies.next();
  assert.ok(value, "the recorder wrote no programs");
  return JSON.parse(value);
}

/** The tree of the last statement of each program. */
async function lastStatementTrees(...sources: string[]): Promise<SyntaxNode[]> {
  return (await recordedPrograms(...sources)).map((program) => statementTrees(program).at(-1) as SyntaxNode);
}

test("a gradient that is read in any spelling is read of the same path", async () => {
  const spellings = [
    "print(中间.grad)",
    "print((中间).grad)",
    "print(中间 . grad)",
    "print(中间\n.grad)",
    "getattr(中间, 'grad')",
    "x = f'{中间.grad}'",
    "中间.grad += 1",
    "中间.grad.zero_()",
    "(y := 中间).grad",
  ];
  for (const tree of await lastStatementTrees(...spellings))
    assert.deepEqual(gradReads(tree).map(pathText).slice(0, 1).map(String), ["中间"], tree.text);
});

test("a question whether there is a gradient reads none", async () => {
  const questions = [
    "if x.grad is not None: pass",
    "y = x.grad.norm() if x.grad is not None else 0",
    "assert x.grad",
    "while not x.grad and n: pass",
    "x.grad = None",
    "del x.grad",
    "[p for p in ps if p.grad is not None]",
  ];
  const programs = await recordedPrograms(...questions);
  for (const program of programs)
    assert.deepEqual(gradReads(statementTrees(program)[0] as SyntaxNode), [], program.source);
});

test("keywords, attributes and parameters are no names that a statement mentions", async () => {
  const [keyword, lambda, comprehension, walrus, text] = await lastStatementTrees(
    "print(dict(b=1), c.d)",
    "f = lambda b, c=d: b + c + e",
    "xs = [b for b in c if b for e in b.f]",
    "xs = [y := b for b in c]",
    "print('b', f'{c:{d}}')  # e",
  );
  assert.deepEqual([...mentionedNames(keyword)], ["print", "dict", "c"]);
  assert.deepEqual([...mentionedNames(lambda)].sort(), ["d", "e", "f"]);
  assert.deepEqual([...mentionedNames(comprehension)].sort(), ["c", "xs"]);
  assert.deepEqual([...nameUses(walrus).bound.keys()].sort(), ["xs", "y"]);
  assert.deepEqual([...mentionedNames(text)].sort(), ["c", "d", "print"]);
});

test("a name is only bound where nothing of the statement reads it", async () => {
  const [plain, own, element, loop, augmented] = await lastStatementTrees(
    "x = f(y)",
    "x = f(x)",
    "x[0] = 1",
    "for x in y: pass",
    "x += 1",
  );
  assert.deepEqual(
    [plain, own, element, augmented].map((tree) => isOnlyBound(tree, "x")),
    [true, false, false, false],
  );
  assert.ok(loop.kind === "Pass");
});

test("what is assigned to what", async () => {
  const pairsOf = (tree: SyntaxNode) =>
    assignments(tree).map(({ target, value, operator }) => [target.text, value?.text ?? null, operator]);
  const [swap, chain, starred, annotated, augmented, walrus] = await lastStatementTrees(
    "a, b = b, a",
    "a = b.c = d",
    "a, *b = c, d",
    "a: int = 1",
    "a[0] @= b",
    "print(a := 1)",
  );
  assert.deepEqual(pairsOf(swap), [
    ["a", "b", ""],
    ["b", "a", ""],
  ]);
  assert.deepEqual(pairsOf(chain), [
    ["a", "d", ""],
    ["b.c", "d", ""],
  ]);
  assert.deepEqual(pairsOf(starred), [
    ["a", null, ""],
    ["*b", null, ""],
  ]);
  assert.deepEqual(pairsOf(annotated), [["a", "1", ""]]);
  assert.deepEqual(pairsOf(augmented), [["a[0]", "b", "@"]]);
  assert.deepEqual(pairsOf(walrus), [["a", "1", ""]]);
  assert.equal(singleAssignment(annotated)?.name, "a");
  assert.equal(singleAssignment(swap), null);
});

test("a call with its arguments, by name or by place", async () => {
  const trees = await lastStatementTrees(
    "from torch.nn import functional as F\nF.softmax(x, -1)",
    "import torch as th\nth.nn.functional.softmax(input=x, dim=(-1))",
    "from torch.nn.functional import softmax\nsoftmax(\n  x,\n  dim=1 - 2,\n)",
    "from torch.nn.functional import softmax as 概率\n概率(x, dim=-1)",
  );
  for (const tree of trees) {
    const [call] = callsIn(tree);
    assert.equal(calleePath(call), "torch.nn.functional.softmax");
    assert.equal(calleeName(call), "softmax");
    assert.equal(literalValue(callArgument(call, "dim", 1)), -1);
    assert.equal(pathText(callArgument(call, "input", 0)), "x");
    assert.ok(isTorchMember(childOf(call, "func")));
  }
  const [renamed] = (await lastStatementTrees("from torch.nn.functional import softmax as s\ns(x)")).map(
    (tree) => callsIn(tree)[0],
  );
  assert.equal(calleeName(renamed), "softmax");
  const [unpacked] = (await lastStatementTrees("f(*a, b, **c)")).map((tree) => callsIn(tree)[0]);
  assert.ok(hasUnpackedArguments(unpacked));
  assert.equal(callArgument(unpacked, "second", 1), null);
});

test("what a method is called on, through calls and brackets", async () => {
  const [chain, own] = await lastStatementTrees("(net).fc[0](x).sum().backward()", "torch = f()\ntorch.add(x)");
  const [backward] = methodCalls(chain, "backward");
  assert.equal(receiver(backward)?.text, "(net).fc[0](x).sum()");
  assert.ok(!isTorchMember(childOf(callsIn(own)[0], "func")));
});

test("paths are as the names of a trace are written", async () => {
  const trees = await lastStatementTrees(
    `a . b[0]["k"].c`,
    "a[-1]",
    "a[i].b",
    "a[1:2]",
    "f(a).b",
    "a[2 - 1]",
    "getattr(a, 'b').c",
  );
  const paths = trees.map((tree) => pathText(childOf(tree, "value")));
  assert.deepEqual(paths, ["a.b[0]['k'].c", "a[-1]", "a[i].b", null, null, "a[1]", "a.b.c"]);
  assert.equal(firstNameOf("网[0].weight"), "网");
});

test("the names through which a statement writes", async () => {
  const written = async (source: string) => [...namesWritten((await lastStatementTrees(source))[0])].sort();
  assert.deepEqual(await written("net.fc[0].weight.mul_(2)"), ["net"]);
  assert.deepEqual(await written("x.view(2).add_(1)"), ["x"]);
  assert.deepEqual(await written("x[0], (y, *z) = 1, (2, 3)"), ["x", "y", "z"]);
  assert.deepEqual(await written("out = self.conv(x)"), ["out"]);
  assert.deepEqual(await written("import torch as th\nth.add(a, b, out=(total))"), ["total"]);
  assert.deepEqual(await written("from torch.nn import init\ninit.zeros_(x)"), ["x"]);
  assert.deepEqual(await written("import torch\ntorch.diagonal(c).add_(-1)"), ["c"]);
  assert.deepEqual(await written("x.register_hook(lambda g: g.mul_(2))"), []);
  assert.deepEqual(await written("x.__len__()"), []);
});

test("heads of loops, and what statements stand in", async () => {
  const [program] = await recordedPrograms(
    "for k, (x, y) in enumerate(zs):\n    if k:\n        def f(a):\n            b = [c for c in a]\n",
  );
  const trees = statementTrees(program) as SyntaxNode[];
  assert.equal(loopHead(trees[0])?.iterable.text, "enumerate(zs)");
  assert.deepEqual([...loopVariables(trees[0])], ["k", "x", "y"]);
  assert.deepEqual([...loopVariables(trees[3])], ["c"]);
  assert.equal(functionAround(program, 3), 2);
  assert.deepEqual(
    [1, 2, 3].map((stmt) => isConditional(program, stmt)),
    [false, true, false],
  );
});

test("a text with characters that count twice keeps its places", async () => {
  const [tree] = await lastStatementTrees(`s = "😀😀"; t = f("😀", 名)`);
  assert.deepEqual(
    nodesOfKind(tree, "Name").map(({ text }) => text),
    ["t", "f", "名"],
  );
});

test("a statement whose syntax is unknown has no tree", async () => {
  const program: Program = {
    source: "x = 1",
    statements: [{ line: 1, col: 0, end_line: 1, end_col: 5, kind: "Assign" }],
  };
  assert.deepEqual(statementTrees(program), [null]);
});

test("a statement is one line without comments, a block its head", async () => {
  const texts = {
    "x = 1  # one": "x = 1",
    "x = f('a #b',  # first: one\n      # second\n      y)": "x = f('a #b', y)",
    "x = f'😀{y} #'; z = 2 # 二": "x = f'😀{y} #'",
    "if (a and  # both:\n    b[1:]): c()": "if (a and b[1:]):",
    "@d  # :\ndef f(x: int = 1) -> {1: 2}:  # f\n  pass": "def f(x: int = 1) -> {1: 2}:",
    "class A: x = 1": "class A:",
    "with a as b, c:\n  pass": "with a as b, c:",
    "try:  # it\n  pass\nexcept E: pass": "try:",
    "match x:\n  case 1: pass": "match x:",
  };
  const programs = await recordedPrograms(...Object.keys(texts));
  assert.deepEqual(
    programs.map((program) => textOfStatement(program, 0)),
    Object.values(texts),
  );
  const [{ source, statements }] = await recordedPrograms("if (a and  # both\n    b): c()");
  const unknown = { source, statements: statements?.map(({ syntax: _, ...statement }) => statement) } as Program;
  assert.equal(textOfStatement(unknown, 0), "if (a and  # both");
  assert.equal(textOfStatement(unknown, 1), "c()");
});
