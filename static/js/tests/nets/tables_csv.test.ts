import assert from "node:assert/strict";
import test from "node:test";
import { csvText } from "../../nets/tables_csv.ts";

test("CSV quotes what needs it, and what is not known is empty", () => {
  assert.equal(csvText([['a "b", c', Number.NaN, null, 0, false]]), '"a ""b"", c",,,0,false\n');
});
