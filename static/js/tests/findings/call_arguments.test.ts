/** The arguments of a call, as the text of a statement has them. */

import assert from "node:assert/strict";
import test from "node:test";
import { callArguments } from "../../findings/statements/call_arguments.ts";

const DROPOUT = String.raw`\w*dropout\w*`;

test("the arguments of the first such call are told apart at their own commas", () => {
  assert.deepEqual(callArguments("x = F.dropout(x)", DROPOUT), ["x"]);
  assert.deepEqual(callArguments("x = F.dropout2d(f(x, y), p=0.5)", DROPOUT), ["f(x, y)", "p=0.5"]);
  assert.deepEqual(callArguments("y = a[dropout(x[0, 1], 0.1, self.training)]", DROPOUT), [
    "x[0, 1]",
    "0.1",
    "self.training",
  ]);
  assert.deepEqual(callArguments("F.dropout()", DROPOUT), []);
});

test("a text without the call, or without its end, gives none", () => {
  assert.equal(callArguments("x = relu(x)", DROPOUT), null);
  assert.equal(callArguments("x = F.dropout(x, p=", DROPOUT), null);
  assert.equal(callArguments("x = my_dropouts", DROPOUT), null);
});
