import assert from "node:assert/strict";
import { test } from "node:test";
import { orderStripView, stripDirectionOfKey } from "../../browser/order_strip.ts";

const ITEMS = [
  { title: "A", url: "/a", done: true },
  { title: "B", url: "/b", note: "see\nthis" },
  { title: "C", url: "/c", note: [] },
];

test("a strip has the ways back and on, the places and the note of the item that is shown", () => {
  const view = orderStripView({ title: "T", url: null, items: ITEMS, at: 1 });
  assert.deepEqual([view.previous?.url, view.next?.url, view.n, view.of], ["/a", "/c", 2, 3]);
  assert.deepEqual(
    view.places.map(({ isCurrent, isDone }) => [isCurrent, isDone]),
    [
      [false, true],
      [true, false],
      [false, false],
    ],
  );
  assert.deepEqual(view.note, ["see\nthis"]);
});

test("at its ends there is one way, and an item without a note has none", () => {
  const first = orderStripView({ title: "T", url: null, items: ITEMS, at: 0 });
  assert.deepEqual([first.previous, first.next?.url, first.note], [null, "/b", []]);
  const last = orderStripView({ title: "T", url: null, items: ITEMS, at: 2 });
  assert.deepEqual([last.previous?.url, last.next, last.note], ["/b", null, []]);
});

test("brackets go back and on", () => {
  assert.deepEqual(["[", "]", "p"].map(stripDirectionOfKey), ["previous", "next", null]);
});
