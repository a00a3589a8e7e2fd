import assert from "node:assert/strict";
import { test } from "node:test";
import { openTrace } from "../../trace/state.ts";
import { bytesText } from "../../trace/format.ts";
import { liveBytesByStep, nonDefaultModes } from "../../trace/modes_and_memory.ts";

test("bytes come and go with their storages, and a part counts with its whole", () => {
  const steps = [
    { set: { s1: { kind: "storage", nbytes: 12 }, t1: { kind: "tensor" } }, gone: [] },
    {
      set: { s2: { kind: "storage", nbytes: 100 }, s3: { kind: "storage", nbytes: 8, within: { storage: "s2" } } },
      gone: [],
    },
    { set: { s1: { nbytes: 20 }, s2: { cells: {} } }, gone: [] },
    { set: {}, gone: ["s2", "s3", "t1"] },
  ];
  assert.deepEqual(liveBytesByStep(openTrace({ steps } as any)), [12, 112, 120, 20]);
});

test("only modes that are not torch's own at the start are named", () => {
  const mode = {
    kind: "mode",
    grad: true,
    inference: false,
    anomaly: false,
    default_dtype: "float32",
    saved_hooks: false,
  };
  const modes = (change: any) => nonDefaultModes(new Map([["m1", { ...mode, ...change }]]));
  assert.deepEqual(modes({}), []);
  assert.deepEqual(modes({ grad: false }), ["no_grad"]);
  assert.deepEqual(modes({ grad: false, inference: true, default_dtype: "float64" }), ["inference_mode", "float64"]);
  assert.deepEqual(modes({ autocast: "cpu bfloat16", functorch: ["grad 1"] }), ["autocast cpu bfloat16", "grad 1"]);
  assert.deepEqual(nonDefaultModes(new Map()), []);
});

test("sizes are read at a glance", () => {
  assert.deepEqual([0, 12, 1024, 1536, 12.25 * 1024, 2 ** 20 - 1, 3 * 2 ** 20, 2 ** 31].map(bytesText), [
    "0 B",
    "12 B",
    "1 KiB",
    "1.5 KiB",
    "12.3 KiB",
    "1 MiB",
    "3 MiB",
    "2 GiB",
  ]);
});
