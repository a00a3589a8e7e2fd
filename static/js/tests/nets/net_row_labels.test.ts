import assert from "node:assert/strict";
import test from "node:test";
import { netRowNamesThatFit, netRowLabel } from "../../nets/net_row_labels.ts";
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

test("an operation with a dimension in its name is called as torch's functions are", () => {
  assert.equal(operationName("MaxPool2DWithIndicesBackward0"), "max_pool2d_with_indices");
  assert.equal(operationName("AvgPool2DBackward0"), "avg_pool2d");
  assert.equal(operationName("NllLoss2DBackward0"), "nll_loss2d");
  assert.equal(operationName("LogSoftmaxBackward0"), "log_softmax");
  assert.equal(operationLabel("ConstantPadNdBackward0"), "pad");
});
