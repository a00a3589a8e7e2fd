/** What a statement's text mentions: found in a time that grows with its length, whatever it is. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { statementMentions } from "../../findings/statements/program_text.ts";

test("the names that a statement writes through", () => {
  assert.deepEqual([...statementMentions("net.fc[0].weight.mul_(2)", "Expr").targets], ["net"]);
  assert.deepEqual([...statementMentions("f(x).add_(1)", "Expr").targets], ["f"]);
  assert.deepEqual([...statementMentions("x[0], y = 1, 2", "Assign").targets], ["x", "y"]);
});

test("a variable named out is no argument of that name", () => {
  assert.deepEqual([...statementMentions("out = self.conv(x)", "Assign").targets], ["out"]);
  assert.deepEqual([...statementMentions("torch.add(a, b, out=(total))", "Expr").targets], ["total"]);
});

test("a name as long as a program is read in no time", () => {
  const began = process.cpuUsage();
  const { names } = statementMentions(`${"a".repeat(60_000)} = 1`, "Assign");
  assert.equal(names.size, 1);
  assert.ok(process.cpuUsage(began).user < 1_000_000);
});
