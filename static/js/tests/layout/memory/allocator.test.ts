/** The memory of a GPU: its segments and blocks, what lies in each, and that each says so. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBytesText } from "../../../layout/memory/allocator.ts";
import { buildMemoryModel, layoutMemoryPane } from "../../../layout/memory/memory_pane.ts";
import { DEFAULT_PANE_OPTIONS } from "../../../layout/pane.ts";
import { UNBOUNDED_BAND } from "../../../layout/view.ts";
import { STAGE_LABELS } from "../../../marks/labels.ts";
import { memoryMarks } from "../../../marks/memory/memory_marks.ts";
import { createRenderContext } from "../../../marks/render_context.ts";
import { relatedHighlightKeys } from "../../../stage/relatives.ts";
import { gpuTrace } from "../../../specimens/traces.ts";
import { openTrace } from "../../../trace/state.ts";
import { counter, frame, ref, storage, tensor, trace } from "../../entities.ts";
import type { VNode } from "../../../browser/svg.ts";

const WIDTH = 620;
const FOLD = "allocator d1";

function drawn(recorded: any, i = 0, { w = WIDTH, toggled = new Set() }: { w?: number; toggled?: Set<string> } = {}) {
  const opened = openTrace(recorded);
  const pane = layoutMemoryPane(buildMemoryModel(opened), i, { w, h: Infinity }, { ...DEFAULT_PANE_OPTIONS, toggled });
  const placedItem = pane.placed.find(({ item }) => item.kind === "allocator");
  const marks = memoryMarks(createRenderContext(opened, opened.at(i), STAGE_LABELS), pane, UNBOUNDED_BAND);
  const allocator = marks.body.find(({ attrs }) => attrs["data-allocator"]);
  return {
    opened,
    placedItem,
    segments: placedItem?.allocator?.segments ?? [],
    marks: allocator ? all(allocator) : [],
  };
}

function all(mark: VNode): VNode[] {
  return [mark, ...mark.children.flatMap(all)];
}

/** What the blocks say. */
const said = (marks: VNode[]): string[] =>
  marks.filter(({ attrs }) => attrs.class?.startsWith("block ")).map(({ attrs }) => attrs["aria-label"]);

/** A run on a GPU with as many small tensors, and then one of them deleted. */
function many(count: number) {
  const ids = [...Array(count).keys()].map((k) => k + 1);
  const size = 512 * count;
  return trace("", [
    {
      set: {
        f1: frame(Object.fromEntries(ids.map((k) => [`name${k}`, ref(`t${k}`)]))),
        ...Object.fromEntries(ids.map((k) => [`s${k}`, storage([k])])),
        ...Object.fromEntries(ids.map((k) => [`c${k}`, counter()])),
        ...Object.fromEntries(ids.map((k) => [`t${k}`, tensor({ shape: [1], storage: `s${k}`, counter: `c${k}` })])),
        d1: {
          kind: "device",
          name: "GPU",
          allocated: size,
          reserved: 2 ** 21,
          peak: size,
          segments: [{ size: 2 ** 21, pool: "small" }],
          blocks: [
            ...ids.map((k) => ({
              address: 512 * (k - 1),
              size: 512,
              requested: 4,
              state: "active_allocated",
              storage: `s${k}`,
            })),
            { address: size, size: 2 ** 21 - size, state: "inactive" },
          ],
        },
      },
    },
    { set: { d1: { allocated: size - 512, splice: [[1, 1, [{ address: 512, size: 512, state: "inactive" }]]] } } },
  ]);
}

test("each block says what lies in it, how large it is and how much was asked for", () => {
  const { marks, segments } = drawn(gpuTrace);
  assert.deepEqual(said(marks), [
    "a · s1: 512 B, requested 12 B",
    `${STAGE_LABELS.awaitingFree}: 512 B, requested 400 B`,
    "free: 1.99 MiB",
    `${STAGE_LABELS.noStorage}: 8 MiB`,
    "free: 12 MiB",
  ]);
  assert.deepEqual(
    segments.map(({ pool, allocated }) => [pool, allocated]),
    [
      ["small", 1024],
      ["large", 8 * 2 ** 20],
    ],
  );
  const [button] = marks.filter(({ attrs }) => attrs["data-fold"] === FOLD);
  assert.equal(button.attrs["aria-expanded"], "true");
  assert.equal(button.attrs["aria-label"], "NVIDIA H200, allocated 8 MiB, reserved 22 MiB, peak 8 MiB");
});

test("blocks lie in their segment's bar, one after the other, at any width and number", () => {
  for (const recorded of [gpuTrace, many(3), many(20), many(700)]) {
    for (const w of [340, WIDTH, 1000]) {
      for (const toggled of [new Set(), new Set([FOLD])]) {
        const { placedItem, segments } = drawn(recorded, 0, { w, toggled });
        const bar = placedItem?.allocator?.w ?? 0;
        for (const { lines, y, h } of segments) {
          assert.ok(y + h <= (placedItem?.h ?? 0) + 0.01);
          for (const line of lines) {
            let end = 0;
            for (const part of line) {
              assert.ok(Math.abs(part.x - end) < 0.01 && part.w > 0);
              end = part.x + part.w;
            }
            assert.ok(end <= bar + 0.01, `${end} of ${bar}`);
          }
        }
        const blocks = segments.flatMap(({ lines }) => lines.flat().flatMap((part) => part.blocks));
        if (segments.length) assert.equal(blocks.length, recorded.steps[0].set.d1.blocks.length);
      }
    }
  }
});

test("many blocks, and those on a phone, are drawn when the reader asks for them", () => {
  assert.equal(drawn(many(20)).segments.length, 1);
  assert.equal(drawn(many(100)).segments.length, 0);
  assert.equal(drawn(many(100), 0, { toggled: new Set([FOLD]) }).segments.length, 1);
  assert.equal(drawn(gpuTrace, 0, { w: 340 }).segments.length, 0);
  assert.equal(drawn(gpuTrace, 0, { w: 340, toggled: new Set([FOLD]) }).segments.length, 2);
});

test("a splice changes the blocks of a device", () => {
  const { marks } = drawn(many(3), 1);
  assert.deepEqual(
    said(marks).map((text) => text.split(":")[0]),
    ["name1 · s1", "free", "name3 · s3", "free"],
  );
});

test("a block lights its storage, and a handle its block", () => {
  const { opened } = drawn(gpuTrace);
  const ofBlock = relatedHighlightKeys(opened, 0, { kind: "block", storage: "s1" });
  assert.ok(ofBlock.includes("strip:s1") && ofBlock.includes("handle:t1"));
  assert.ok(relatedHighlightKeys(opened, 0, { kind: "handle", uid: "t1" }).includes("block:s1"));
});

test("a device without blocks has its sums alone, and one that was never used nothing", () => {
  const sums = { kind: "device", name: "GPU", allocated: 512, reserved: 2 ** 21, peak: 512 };
  const { marks } = drawn(trace("", [{ set: { f1: frame({}), d1: sums } }]));
  assert.ok(marks.some(({ text }) => text?.startsWith("GPU · allocated 512 B · reserved 2 MiB")));
  assert.ok(!marks.some(({ attrs }) => attrs["data-fold"]));
  assert.equal(drawn(trace("", [{ set: { f1: frame({}), d1: { ...sums, reserved: 0 } } }])).marks.length, 0);
});

test("what is left of a segment is never rounded up to all of it", () => {
  assert.deepEqual([2 ** 21 - 512, 2 ** 21, 1000, 3 * 2 ** 30 - 1].map(freeBytesText), [
    "1.99 MiB",
    "2 MiB",
    "1000 B",
    "2.99 GiB",
  ]);
});

test("a segment of a stream or of a graph says so", () => {
  const segments = [
    { size: 2 ** 21, pool: "small", stream: 1 },
    { size: 2 ** 21, pool: "small", private: true },
  ];
  const blocks = [
    { address: 0, size: 2 ** 21, state: "inactive" },
    { address: 2 ** 21, size: 2 ** 21, state: "inactive" },
  ];
  const device = { kind: "device", name: "GPU", allocated: 0, reserved: 2 ** 22, peak: 0, segments, blocks };
  const { marks } = drawn(trace("", [{ set: { f1: frame({}), d1: device } }]));
  const groups = marks.filter(({ attrs }) => attrs.class === "segment");
  assert.deepEqual(
    groups.map(({ attrs }) => attrs["aria-label"]),
    [
      `${STAGE_LABELS.smallPool} · ${STAGE_LABELS.stream} 1 · 2 MiB · ${STAGE_LABELS.allocated} 0 B`,
      `${STAGE_LABELS.privatePool}, ${STAGE_LABELS.smallPool} · 2 MiB · ${STAGE_LABELS.allocated} 0 B`,
    ],
  );
});
