import assert from "node:assert/strict";
import test from "node:test";
import { netRowNamesThatFit, netRowLabel, pathThatFits } from "../../nets/net_row_labels.ts";
import { operationName } from "../../findings/facts/operation_name.ts";
import { operationLabel } from "../../nets/net_words.ts";
import { textWidth } from "../../layout/text/metrics.ts";

const fold = (...names: string[]) => ({ kind: "fold" as const, callSites: names.map((name) => ({ name })) as any[] });

test("the rows of a fold are told apart, and where there is no room for all, the first and the last are whole", () => {
  const row = fold("backward", "step", "zero_grad", "z");
  assert.equal(netRowLabel(row), "backward · step · zero_grad · z");
  const room = textWidth("backward · step … z", 13);
  assert.equal(netRowNamesThatFit(netRowLabel(row), row, room), "backward · step … z");
});

test("code that has no room ends in an ellipsis; the name of a module is never shortened", () => {
  const room = textWidth("zero_grad … for it in ran", 13);
  const folded = fold("zero_grad", "step", "for it in range(max_iters):");
  assert.equal(netRowNamesThatFit(netRowLabel(folded), folded, room), "zero_grad … for it in ra…");
  const first = fold("index, (inputs, targets)", "step", "zero_grad");
  assert.equal(netRowNamesThatFit(netRowLabel(first), first, room), "index, (inpu … zero_grad");
  const statement = { kind: "callSite" as const };
  assert.equal(netRowNamesThatFit("for it in range(0, max_iters):", statement, room), "for it in range(0, max_i…");
  assert.equal(netRowNamesThatFit("q, k, v", statement, textWidth("q … v", 13)), "q … v");
  assert.equal(
    netRowNamesThatFit("encoder.layers.0.self_attn.out_proj", statement, 60),
    "encoder.layers.0.self_attn.out_proj",
  );
});

test("a path without room loses parts in its middle, and keeps both its ends", () => {
  const path = "transformer.encoder.layers.0.self_attn.out_proj.weight";
  assert.equal(pathThatFits(path, textWidth(path, 12), 12), path);
  assert.equal(pathThatFits(path, textWidth("transformer.….out_proj.weight", 12), 12), "transformer.….out_proj.weight");
});

test("an operation with a dimension in its name is called as torch's functions are", () => {
  assert.equal(operationName("MaxPool2DWithIndicesBackward0"), "max_pool2d_with_indices");
  assert.equal(operationName("AvgPool2DBackward0"), "avg_pool2d");
  assert.equal(operationName("NllLoss2DBackward0"), "nll_loss2d");
  assert.equal(operationName("LogSoftmaxBackward0"), "log_softmax");
  assert.equal(operationLabel("ConstantPadNdBackward0"), "pad");
});
