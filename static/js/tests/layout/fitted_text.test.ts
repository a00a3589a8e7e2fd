/** Texts fit their room, whole where one of their forms does. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fittedText } from "../../layout/text/fitted_text.ts";
import { textWidth } from "../../layout/text/metrics.ts";

const FORMS = ["f64 · no gradient", "f64 · no grad", "f64"];

test("the longest form that fits is taken, and no letters are smaller than 12", () => {
  assert.deepEqual(fittedText(FORMS, 200, 14), { text: FORMS[0], size: 14, spacing: null });
  assert.equal(fittedText(FORMS, 96).text, FORMS[1]);
  assert.equal(fittedText(FORMS, 30).text, FORMS[2]);
});

test("the letters of a text without a shorter form stand closer, as far as they can be read", () => {
  const { text, size, spacing } = fittedText(["made by Sigmoid"], 96);
  assert.equal(text, "made by Sigmoid");
  assert.ok(textWidth(text, size) + (spacing ?? 0) * (text.length - 1) <= 96);
  assert.match(fittedText(["made by BinaryCrossEntropyWithLogits"], 96).text, /…$/);
});
