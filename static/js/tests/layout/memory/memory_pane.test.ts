/**
 * The memory pane: order never changes, what a step touched is in sight, nothing overlaps, and what is drawn is true.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { isHandle } from "../../../trace/entities.ts";
import { encodedValueJson } from "../../../trace/format.ts";
import {
  buildMemoryModel,
  layoutMemoryPane,
  memoryHeightForFixedPlaces,
  type MemoryPane,
} from "../../../layout/memory/memory_pane.ts";
import { cellReads } from "../../../trace/reads.ts";
import { UNBOUNDED_BAND } from "../../../layout/view.ts";
import { STAGE_LABELS } from "../../../marks/labels.ts";
import { memoryMarks } from "../../../marks/memory/memory_marks.ts";
import { createRenderContext } from "../../../marks/render_context.ts";
import { openTrace, type OpenTrace } from "../../../trace/state.ts";
import { counter, frame, node, ref, storage, tensor, trace } from "../../entities.ts";
import { ALL } from "../../traces.ts";
import type { VNode } from "../../../browser/svg.ts";
import { foldedInMemory } from "../folded.ts";

const goldens = readdirSync("tests/golden")
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, JSON.parse(readFileSync(`tests/golden/${name}`, "utf8"))] as const);
const made = Object.entries(ALL).map(([name, make]) => [name, make()] as const);
const ROOMS = [
  { w: 640, h: 660 },
  { w: 560, h: 500 },
  { w: 430, h: 550 },
  { w: 390, h: 540 },
];

function open(document: any) {
  const opened = openTrace(document);
  return { opened, model: buildMemoryModel(opened) };
}

/** Every mark, with those around it before it. */
function marks(opened: OpenTrace, pane: MemoryPane, i: number): VNode[] {
  const { heading, body } = memoryMarks(createRenderContext(opened, opened.at(i), STAGE_LABELS), pane, UNBOUNDED_BAND);
  const all = [] as VNode[];
  const walk = (mark: VNode) => {
    all.push(mark);
    mark.children.forEach(walk);
  };
  [...heading, ...body].forEach(walk);
  return all;
}

const having = (list: VNode[], name: string, value?: string) =>
  list.filter(({ attrs }) => name in attrs && (value === undefined || attrs[name] === value));

for (const [name, document] of [...goldens, ...made]) {
  test(`${name}: what is above what never changes, and nothing overlaps`, () => {
    const { opened, model } = open(document);
    for (const room of ROOMS) {
      const above = new Set<string>();
      for (let i = 0; i < opened.count; i++) {
        const { placed } = layoutMemoryPane(model, i, room);
        const shown = placed.filter((placedItem) => placedItem.h > 0 && !placedItem.hidden).sort((a, b) => a.y - b.y);
        for (let k = 1; k < shown.length; k++)
          assert.ok(shown[k].y >= shown[k - 1].y + shown[k - 1].h - 0.01, `step ${i}: ${shown[k].item.key}`);
        const rows = shown.flatMap(({ item }) => (item.kind === "row" && !item.small ? [item.key] : []));
        rows.forEach((upper, k) => {
          for (const lower of rows.slice(k + 1)) {
            assert.ok(!above.has(`${lower}<${upper}`), `step ${i}: ${upper} over ${lower}`);
            above.add(`${upper}<${lower}`);
          }
        });
      }
    }
  });

  test(`${name}: what a step touched has a row, with all names, and where it all fits in sight`, () => {
    const { opened, model } = open(document);
    for (const room of ROOMS)
      for (let i = 0; i < opened.count; i++) {
        const pane = layoutMemoryPane(model, i, room);
        const list = marks(opened, pane, i);
        for (const uid of pane.step.touched.uids) {
          if (!isHandle(opened.state(i).get(uid))) continue;
          const own = pane.step.namesShownOn(uid).list;
          if (!own.some((tag) => tag.kind === "var")) continue;
          const anchor = pane.anchors.get(uid);
          assert.ok(anchor, `step ${i}: ${uid}`);
          assert.equal(having(list, "data-handle", uid).length, 1, `step ${i}: ${uid}`);
          assert.equal(having(list, "data-ref", uid).length, own.length, `step ${i}: names of ${uid}`);
          if (pane.height <= room.h) assert.ok(anchor.y + anchor.h <= room.h, `step ${i}: ${uid} at ${anchor.y}`);
        }
      }
  });

  test(`${name}: at the height where everything is open nothing moves`, () => {
    const { opened, model } = open(document);
    const h = memoryHeightForFixedPlaces(model, 640);
    if (!Number.isFinite(h)) return;
    const places = new Map<string, number>();
    for (let i = 0; i < opened.count; i++) {
      const pane = layoutMemoryPane(model, i, { w: 640, h });
      assert.ok(pane.height <= h, `step ${i}`);
      for (const { item, y, layout } of pane.placed) {
        if (item.kind !== "row" || item.small) continue;
        assert.equal(layout?.level, "full", `step ${i}: ${item.key}`);
        assert.equal(places.get(item.key) ?? y, y, `step ${i}: ${item.key}`);
        places.set(item.key, y);
      }
    }
  });

  test(`${name}: what the marks say is what the state says`, () => {
    const { opened, model } = open(document);
    for (let i = 0; i < opened.count; i++) {
      const pane = layoutMemoryPane(model, i, { w: 640, h: Infinity });
      const list = marks(opened, pane, i);
      const { entities } = opened.at(i);
      for (const { attrs } of having(list, "data-cell")) {
        const [uid, k] = attrs["data-cell"].split(":");
        const storage = entities.get(uid);
        assert.ok(storage?.kind === "storage");
        const cells = storage.cells?.[attrs["data-dtype"]];
        if (cells)
          assert.equal(attrs["data-value"], encodedValueJson(cells[Number(k)]), `step ${i}: ${attrs["data-cell"]}`);
      }
      for (const { attrs } of having(list, "data-bead")) {
        const [uid, k] = attrs["data-bead"].split(":");
        const handle = entities.get(uid);
        assert.ok(isHandle(handle));
        const read = cellReads(handle)[Number(k)];
        assert.equal(attrs["data-reads"], `${handle.storage}:${read.cell}`);
        assert.equal(attrs["data-index"], read.index.join(","));
      }
      for (const { attrs } of having(list, "data-counter-badge")) {
        const counter = entities.get(attrs["data-counter-badge"]);
        assert.equal(attrs["data-version"], String(counter?.kind === "counter" ? counter.value : null));
      }
      for (const { attrs } of having(list, "data-pin")) {
        const [uid, slot] = [
          attrs["data-pin"].split(":")[0],
          attrs["data-pin"].slice(attrs["data-pin"].indexOf(":") + 1),
        ];
        const node = entities.get(uid);
        const saved = node?.kind === "node" ? node.saved?.[slot] : undefined;
        assert.equal(attrs["data-state"], saved?.state);
        assert.equal(attrs["data-storage"], saved?.storage);
      }
      for (const { attrs } of having(list, "data-ref"))
        if (attrs["data-name"]) {
          const frame = entities.get(attrs["data-frame"]);
          assert.ok(frame?.kind === "frame");
          assert.deepEqual(frame.vars.get(attrs["data-name"]), { ref: attrs["data-ref"] });
        }
    }
  });

  test(`${name}: with room for all, every cell, counter and pin is drawn or counted by a fold`, () => {
    const { opened, model } = open(document);
    for (let i = 0; i < opened.count; i++) {
      const pane = layoutMemoryPane(model, i, { w: 640, h: Infinity });
      const list = marks(opened, pane, i);
      const folds = foldedInMemory(pane);
      for (const [uid, entity] of opened.state(i)) {
        if (folds.has(uid)) continue;
        if (entity.kind === "storage") {
          assert.equal(having(list, "data-storage-strip", uid).length, 1, `step ${i}: ${uid}`);
          for (const [dtype, cells] of Object.entries(entity.cells ?? {})) {
            const drawn = list.filter(
              ({ attrs }) => attrs["data-cell"]?.startsWith(`${uid}:`) && attrs["data-dtype"] === dtype,
            );
            assert.equal(drawn.length, cells.length, `step ${i}: ${uid} ${dtype}`);
          }
        }
        if (entity.kind === "counter" && entity.value && opened.index.handlesSharingCounter(uid, i).length)
          assert.ok(having(list, "data-counter-badge", uid).length >= 1, `step ${i}: ${uid}`);
        if (isHandle(entity)) assert.equal(having(list, "data-handle", uid).length, 1, `step ${i}: ${uid}`);
      }
      for (const key of new Set(folds.values())) assert.ok(having(list, "data-fold", key).length, `step ${i}: ${key}`);
    }
  });
}

test("a view of one cell read over and over is one bead upon another", () => {
  const { opened, model } = open(ALL.views());
  const last = opened.count - 1;
  const pane = layoutMemoryPane(model, last, { w: 640, h: Infinity });
  const beads = having(marks(opened, pane, last), "data-bead");
  assert.ok(beads.length > 0);
  for (const [uid, handle] of opened.state(last)) {
    if (!isHandle(handle) || !cellReads(handle).length) continue;
    const own = beads.filter(({ attrs }) => attrs["data-bead"].startsWith(`${uid}:`));
    if (own.length) assert.equal(own.length, cellReads(handle).length, uid);
  }
});

test("a gradient is on its way until the step at which the node that it goes to runs", () => {
  let [underway, arrived] = [0, 0];
  for (const [name, document] of [...goldens, ...made]) {
    const { opened, model } = open(document);
    /** by storage, the node that its gradient was last handed to */
    const handed = new Map<string, { to: string; ran: boolean }>();
    opened.trace.steps.forEach(({ visit }, i) => {
      for (const entry of handed.values()) entry.ran ||= opened.trace.steps[i - 1]?.visit?.node === entry.to;
      const from = visit && opened.state(i).get(visit.node);
      (visit?.grad_inputs ?? []).forEach((grad: any, k: number) => {
        const to = from?.kind === "node" ? from.next?.[k]?.[0] : undefined;
        if (grad?.storage && to) handed.set(grad.storage, { to, ran: false });
      });
      const { placed } = layoutMemoryPane(model, i, ROOMS[0]);
      const blocks = placed.flatMap(({ item }) =>
        item.kind === "row" ? [item.block] : item.kind === "fold" ? item.blocks : [],
      );
      for (const { storage, purpose } of blocks) {
        const entry = handed.get(storage ?? "");
        if (!entry || (purpose?.labelKey !== "gradient" && purpose?.labelKey !== "gradientFor")) continue;
        assert.equal(purpose.foldKind, entry.ran ? "unnamed" : "flight", `${name} step ${i}, ${storage}`);
        if (entry.ran) arrived += 1;
        else underway += 1;
      }
    });
  }
  assert.ok(underway > 0 && arrived > 0, `${underway} ${arrived}`);
});

test("a broken pin says what it expects, what there is now, and which statement wrote it", () => {
  const { opened, model } = open(ALL.stale());
  const broken = [...Array(opened.count).keys()].filter((i) =>
    [...opened.state(i).values()].some(
      (entity) => entity.kind === "node" && Object.values(entity.saved ?? {}).some((slot) => slot.state === "stale"),
    ),
  );
  assert.ok(broken.length);
  for (const i of broken) {
    const pane = layoutMemoryPane(model, i, { w: 640, h: 600 });
    const list = marks(opened, pane, i);
    const alarm = list.find(({ attrs }) => attrs.class?.startsWith("alarm"));
    assert.match(alarm?.text ?? "", /^\w.* expects v\d+, is v\d+ now$/);
    assert.match(list.find(({ attrs }) => attrs.class === "cause")?.text ?? "", /line \d+/);
    const pin = list.find(({ attrs }) => attrs["data-state"] === "stale");
    const texts = list.filter(({ attrs }) => attrs.class === "pin-head").map(({ children }) => children[1]?.text);
    for (const text of texts) if (text) assert.match(text, / expects v\d+, is v\d+ now$|^kept by .+ · v\d+$/);
    assert.match(pin?.attrs["aria-label"], /saved this for backward as \w+, at version 0\nwritten since/);
  }
});

test("folds open and close by the reader's hand", () => {
  const { opened, model } = open(ALL.crowd());
  const last = opened.count - 1;
  const room = { w: 640, h: 300 };
  const closed = layoutMemoryPane(model, last, room);
  const keys = [...new Set(foldedInMemory(closed).values())].filter((key) => key.startsWith("rows "));
  assert.ok(keys.length);
  const opened2 = layoutMemoryPane(model, last, room, { selected: null, toggled: new Set(keys) });
  assert.ok(![...foldedInMemory(opened2).values()].some((key) => keys.includes(key)));
  assert.ok(opened2.height > closed.height);
  const wide = layoutMemoryPane(model, last, { w: 640, h: Infinity }, { selected: null, toggled: new Set(keys) });
  assert.ok([...foldedInMemory(wide).values()].some((key) => keys.includes(key)));
});

test("a selected thing has an open row", () => {
  const { opened, model } = open(ALL.crowd());
  const last = opened.count - 1;
  const closed = layoutMemoryPane(model, last, { w: 640, h: 500 });
  const slim = closed.placed.find(
    ({ item, layout, hidden }) => item.kind === "row" && (hidden || layout?.level === "slim"),
  );
  assert.ok(slim?.item.kind === "row");
  const { storage } = slim.item.block;
  const pane = layoutMemoryPane(model, last, { w: 640, h: 500 }, { selected: storage, toggled: new Set() });
  const row = pane.placed.find(({ item }) => item.key === storage);
  assert.ok(row && !row.hidden && row.layout?.level !== "slim");
});

test("where rows are folded, one row comes and one goes while each is written in its turn", () => {
  const all = [...Array(40).keys()].map((k) => k + 1);
  const set = {
    f1: frame(Object.fromEntries(all.map((k) => [`v${k}`, ref(`t${k}`)]))),
  } as Record<string, any>;
  for (const k of all) {
    set[`s${k}`] = storage([k, 0]);
    set[`c${k}`] = counter();
    set[`t${k}`] = tensor({ shape: [2], storage: `s${k}`, counter: `c${k}` });
  }
  const writes = all.map((k) => ({ set: { [`s${k}`]: storage([k, 1]), [`c${k}`]: counter(1) } }));
  const { opened, model } = open(trace("", [{ set }, ...writes]));
  const shownAt = (i: number) => {
    const { placed } = layoutMemoryPane(model, i, { w: 640, h: 600 });
    return placed.flatMap(({ item, hidden, layout }) =>
      item.kind === "row" && !hidden ? [{ key: item.key, level: layout?.level }] : [],
    );
  };
  for (let i = 2; i < opened.count; i++) {
    const [before, now] = [shownAt(i - 1), shownAt(i)];
    const left = before.filter(({ key }) => !now.some((row) => row.key === key));
    assert.ok(now.length < all.length && left.length <= 1, `step ${i}: ${left.map(({ key }) => key)}`);
    const open = now.flatMap(({ key, level }) => (level === "slim" ? [] : [key]));
    assert.deepEqual(open, [`s${i}`], `step ${i}`);
  }
});

test("a compact row keeps no room for pins that come later", () => {
  const self = { storage: "s1", dtype: "float32", offset: 0, shape: [2], stride: [1], counter: "c1", expected: 0 };
  const given = { s1: storage([1, 2]), c1: counter(), t1: tensor({ shape: [2], storage: "s1", counter: "c1" }) };
  const { opened, model } = open(
    trace("", [
      { set: { f1: frame({ x: ref("t1") }), ...given } },
      { set: { n1: node("SinBackward0", [], { saved: { self: { ...self, state: "ok" } } }) } },
    ]),
  );
  const high = (i: number, compact: boolean) =>
    layoutMemoryPane(model, i, { w: 640, h: Infinity }, { selected: null, toggled: new Set(), compact }).height;
  assert.equal(opened.count, 2);
  assert.ok(high(0, true) < high(0, false));
  assert.equal(high(1, true), high(1, false));
});

test("what a step touched has a row in the lowest of panes, too", () => {
  const { opened, model } = open(ALL.crowd());
  const last = opened.count - 1;
  const pane = layoutMemoryPane(model, last, { w: 640, h: 40 });
  const row = pane.placed.find(({ item }) => item.key === "s50");
  assert.ok(row && !row.hidden && row.layout);
  assert.ok(pane.focus.some(({ y }) => y === row.y));
});
