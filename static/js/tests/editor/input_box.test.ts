// The field for what a program reads stands where the program asks for it.

import assert from "node:assert/strict";
import test from "node:test";
import { doesProgramReadInput } from "../../editor/input_box.ts";

for (const text of [
  "n = int(input())",
  "x = 1\nname = input ('who? ')  # a name",
  "import sys\nfor line in sys.stdin:\n    pass",
  "from sys import stdin\nstdin.readline()",
])
  test(`asks for lines: ${text}`, () => assert.ok(doesProgramReadInput(text)));

for (const text of [
  "input = torch.ones(2)\nloss(input, 1)",
  "# n = input()",
  "x = 2  # sys.stdin",
  "model.input(3)",
  "def input(prompt):\n    return prompt",
  "my_input(3)",
])
  test(`asks for none: ${text}`, () => assert.ok(!doesProgramReadInput(text)));
