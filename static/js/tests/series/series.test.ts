import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftOfSavedSeries,
  itemsWithOneMoved,
  parseSeriesDraft,
  savedProgramIdInText,
  seriesRequestBody,
} from "../../series/series_draft.ts";
import { splitNoteAtLinks } from "../../browser/note_nodes.ts";
import { itemOfFragment } from "../../series/offline.ts";
import { addressAtNoteStep, orderedPagesOfSeries, shownNoteStep } from "../../page/series_reader.ts";
import { embedFrameAddress } from "../../series/workbench.ts";

/** The addresses in a note that become links. */
const links = (note: string) => splitNoteAtLinks(note).flatMap(({ url }) => (url ? [url] : []));
const say = ((key: string, args: object) => `${key} ${JSON.stringify(args)}`) as any;

test("addresses of the web become links, without the punctuation of their sentence", () => {
  assert.deepEqual(links("See https://a.org/x?y=1#z, (http://b.org/c) and https://c.org/A_(b)."), [
    "https://a.org/x?y=1#z",
    "http://b.org/c",
    "https://c.org/A_(b)",
  ]);
  assert.deepEqual(links("见https://a.org/x。然后看 HTTPS://B.org！"), ["https://a.org/x", "https://b.org/"]);
});

test("nothing else becomes a link, and no text is lost", () => {
  const notes = [
    "javascript:alert(1) data:text/html,x ftp://a.org //a.org www.a.org",
    '<a href="javascript:alert(1)">https://</a> http:// https://[ <script>alert(1)</script>',
    "one\n\ntwo https://a.org/\"onmouseover='x' three\nhttps://a.org",
    "",
  ];
  assert.deepEqual(notes.map(links), [[], [], ["https://a.org/", "https://a.org/"], []]);
  for (const note of notes)
    assert.equal(
      splitNoteAtLinks(note)
        .map(({ text }) => text)
        .join(""),
      note,
    );
  for (const url of notes.flatMap(links)) assert.match(url, /^https?:\/\/[^\s"'<>]+$/);
});

const NOTE = { text: "here", step: 3, description: "whole" };

test("a note stands at its step, once the reader has got there", () => {
  const upTo = (count: number) => ({ opened: { count } as any });
  assert.equal(shownNoteStep(NOTE, upTo(9)), 3);
  assert.equal(shownNoteStep(NOTE, upTo(4)), 3);
  assert.equal(shownNoteStep(NOTE, upTo(3)), null, "predict mode has not come to it yet");
  for (const note of [null, { ...NOTE, text: "" }, { ...NOTE, step: null }])
    assert.equal(shownNoteStep(note, upTo(9)), null);
  assert.equal(shownNoteStep(NOTE, { opened: null }), null);
});

test("the strip has the programs that there are, and the note of a whole program", () => {
  const items = [1, 3].map((place) => ({ place, title: place === 3 ? "" : "One", url: `/${place}` }));
  const series = { title: "S", url: "/s", place: 1, items, removed: 1 };
  const first = orderedPagesOfSeries(series, { ...NOTE, step: null }, say);
  assert.deepEqual([first.at, first.items[0].note], [0, ["whole\n\nhere"]]);
  const third = orderedPagesOfSeries({ ...series, place: 3 }, NOTE, say);
  assert.deepEqual([third.at, third.items[1].note, third.items[1].title], [1, [], 'series_program {"n":3}']);
});

test("an address without a step opens at the note, unless it asks to predict", () => {
  const address = { step: null, source: null, predict: false } as any;
  assert.equal(addressAtNoteStep(address, 3).step, 3);
  assert.equal(addressAtNoteStep({ ...address, step: 0 }, 3).step, 0);
  assert.equal(addressAtNoteStep({ ...address, predict: true }, 3).step, null);
  assert.equal(addressAtNoteStep({ ...address, source: "x" }, 3).step, null);
});

test("a draft is what it was, and damage is no draft", () => {
  const item = { program: "7kd5h2n9xt", title: "T", note: "n", step: 2, seen: null };
  const draft = { title: "A", description: "", items: [item, { ...item, note: " " }] };
  assert.deepEqual(parseSeriesDraft(JSON.stringify(draft)), draft);
  for (const text of [null, "{", "[]", '{"items":[{}]}']) assert.deepEqual(parseSeriesDraft(text).items, []);
  assert.deepEqual(parseSeriesDraft('{"items":[{"program":"x","step":-1,"note":1}]}').items[0], {
    program: "x",
    title: "",
    note: "",
    step: null,
    seen: null,
  });
  const { items } = seriesRequestBody(draft, "en");
  assert.deepEqual(
    items.map(({ step }) => step),
    [2, null],
    "a step without a note is none",
  );
  const available = draftOfSavedSeries({
    ...draft,
    items: [
      { ...item, available: false },
      { ...item, available: true },
    ],
  });
  assert.deepEqual(available.items.length, 1);
});

test("an item moves, but not out of the list", () => {
  const items = ["a", "b", "c"] as any[];
  assert.deepEqual(itemsWithOneMoved(items, 0, 2), ["b", "c", "a"]);
  assert.deepEqual(itemsWithOneMoved(items, 2, 1), ["a", "c", "b"]);
  assert.equal(itemsWithOneMoved(items, 0, -1), items);
  assert.equal(itemsWithOneMoved(items, 2, 3), items);
});

test("the id is found in what people paste", () => {
  for (const text of [
    "7kd5h2n9xt",
    " https://a.org/box/s/7kd5h2n9xt#i=3",
    "/s/7kd5h2n9xt?lang=zh",
    "http://x/embed/7kd5h2n9xt",
    "x/s/7kd5h2n9xt.svg",
  ])
    assert.equal(savedProgramIdInText(text), "7kd5h2n9xt", text);
  for (const text of ["", "hello", "https://a.org/7kd5h2n9xt/x", "7kd5h2"])
    assert.equal(savedProgramIdInText(text), null, text);
});

test("the file opens at the place that its address names", () => {
  const items = [{ place: 2 }, { place: 3 }] as any[];
  assert.deepEqual(
    ["#item=3", "#item=1", "", "#i=3"].map((at) => itemOfFragment(items, at).place),
    [3, 2, 2, 2],
  );
});

test("the frame of a series is beside its page", () => {
  assert.equal(
    embedFrameAddress("https://a.org/box/series/7kd5h2n9xt/2?lang=zh#i=3"),
    "https://a.org/box/embed/series/7kd5h2n9xt",
  );
});
