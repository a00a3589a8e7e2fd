/** What the picture says in its attributes is what the trace says: every cell, handle, counter, bead, edge and pin. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { textWidth } from "../../layout/text/metrics.ts";
import { versionTextThatFits } from "../../marks/memory/row_counter.ts";
import { encodedValueJson } from "../../trace/format.ts";
import { stepPicture } from "../../marks/still.ts";
import { openTrace } from "../../trace/state.ts";
import { h, vnodeToSvg, type VNode } from "../../browser/svg.ts";
import { ALL, saved } from "../traces.ts";
import { frame, node, ref, storage, tensor, trace } from "../entities.ts";

const ROOM = { w: 1080, h: Infinity };

/** Every mark of a step, with room for all of them. `peeks` says from where on big storages show their cells. */
function marks(document: any, i: number, peeks?: Map<string, number>): VNode[] {
  const all = [] as VNode[];
  const walk = (v: VNode) => {
    all.push(v);
    v.children.forEach(walk);
  };
  stepPicture(openTrace(document), i, {}, { ...ROOM, peeks }).nodes.forEach(walk);
  return all;
}

const having = (list: VNode[], name: string, value?: string) =>
  list.filter((v) => name in v.attrs && (value === undefined || v.attrs[name] === value));
const only = (list: VNode[], name: string, value: string) => {
  const matching = having(list, name, value);
  assert.equal(matching.length, 1, `${name}=${value}: ${matching.length}`);
  return matching[0];
};

test("detach wears the same badge, .data its own", () => {
  assert.equal(only(marks(saved("stale"), 3), "data-counter-badge", "c2").attrs["data-version"], "1");
  const silent = marks(saved("changed"), 3);
  assert.equal(only(silent, "data-counter-badge", "c2").attrs["data-version"], "0");
  assert.equal(only(silent, "data-counter-badge", "c3").attrs["data-version"], "1");
});

test("only an alarming pin has a link to its slot", () => {
  assert.deepEqual(
    having(marks(saved(), 1), "data-link").filter((v) => v.attrs.class.includes("broken")),
    [],
  );
  const [link, ...others] = having(marks(saved(), 3), "data-link").filter((v) => v.attrs.class.includes("broken"));
  assert.equal(link.attrs["data-link"], "n2:result pin n2:result");
  assert.deepEqual(others, []);
});

test("a backward's visit shows the gradients that it passes on", () => {
  const list = marks(ALL.backward(), 4);
  assert.equal(having(list, "data-grad", "n4:0").length, 1);
  assert.equal(having(list, "data-grad", "n4:1").length, 1);
  assert.match(only(list, "data-node", "n4").attrs.class, /running/);
  assert.match(only(list, "data-node", "n5").attrs.class, /done/);
  assert.match(only(list, "data-node", "n3").attrs.class, /waiting/);
  const later = having(marks(ALL.backward(), 8), "data-grad");
  assert.ok(later.length && later.every((v) => !v.attrs.class.includes("now")), "what it passed on stays, as past");
});

const cellsOf = (list: VNode[]) => having(list, "data-cell").map((v) => [v.attrs["data-cell"], v.attrs["data-value"]]);

test("big storages are told in numbers with their windows", () => {
  const recorded = trace("", [
    {
      set: {
        s1: {
          kind: "storage",
          nbytes: 8000,
          summary: { float32: { min: 0, max: 5, mean: 0.1, bins: [3, 0, 1] } },
          windows: {
            float32: [
              [0, [1, 2]],
              [1998, [3, { $f: "inf" }]],
            ],
          },
        },
        t1: tensor({ shape: [2000] }),
        c1: { kind: "counter", value: 0 },
      },
    },
  ]);
  const list = marks(recorded, 0);
  assert.deepEqual(cellsOf(list), [
    ["s1:0", "1"],
    ["s1:1", "2"],
  ]);
  assert.deepEqual(cellsOf(marks(recorded, 0, new Map([["s1", 1998]]))), [
    ["s1:1998", "3"],
    ["s1:1999", '{"$f":"inf"}'],
  ]);
  assert.equal(having(list, "data-bead").length, 0);
});

test("a big storage's strip says the mean of every stretch, what was written, and opens any place", () => {
  const means = [...Array(64).keys()].map((k) => k - 32);
  const recorded = trace("", [
    {
      set: {
        s1: {
          kind: "storage",
          nbytes: 25600,
          summary: { float32: { min: 0, max: 5, mean: 1, bins: null, heat: means } },
          windows: {
            float32: [
              [0, [1, 2]],
              [3000, [7]],
            ],
          },
        },
        t1: tensor({ shape: [6400] }),
      },
    },
    {
      set: {
        s1: {
          windows: {
            float32: [
              [0, [1, 2]],
              [3000, [8]],
            ],
          },
        },
      },
      log: [
        {
          kind: "event",
          event: "written",
          storage: "s1",
          changed: 1,
          region: { offset: 3000, shape: [1], stride: [1] },
        },
      ],
    },
  ]);
  const list = marks(recorded, 1);
  const stretches = having(list, "data-mean");
  assert.deepEqual(
    stretches.map((v) => v.attrs["data-mean"]),
    means.map(encodedValueJson),
  );
  assert.deepEqual(
    stretches.slice(0, 2).map((v) => v.target),
    [0, 100].map((from) => ({ kind: "stretch", storage: "s1", from, span: 100, dtype: "float32" })),
  );
  assert.equal(having(list, "data-wrote")[0].attrs["data-wrote"], "3000:3000");
  const box = stretches[30].children[0].attrs;
  const wrote = having(list, "data-wrote")[0].attrs;
  assert.ok(Number(wrote.x) >= Number(box.x) - 0.1 && Number(wrote.x) <= Number(box.x) + Number(box.width));
});

test("long and wide storages keep every cell; what two read of a short one has brackets, in another order beads", () => {
  for (const n of [13, 24, 25, 100, 128, 600]) {
    const readers = { t1: tensor({ shape: [n] }), t2: tensor({ shape: [n - 1], offset: 1 }) };
    const main = { kind: "frame", name: "<module>", caller: null, vars: { a: { ref: "t1" }, b: { ref: "t2" } } };
    const list = marks(
      trace("", [
        { set: { s1: storage([...Array(n).keys()]), ...readers, c1: { kind: "counter", value: 0 }, f1: main } },
      ]),
      0,
    );
    assert.equal(having(list, "data-cell").length, n);
    assert.equal(having(list, "data-bead").length, 0);
    const words = list.filter(({ attrs }) => attrs.class === "reading-words").map(({ text }) => text);
    assert.deepEqual(words, n <= 25 ? [`reads a[1] to a[${n - 1}]`] : []);
    assert.equal(having(list, "data-wire").length, 2);
  }
});

test("a program's text cannot become markup", () => {
  const text = vnodeToSvg(h("g", { "data-name": '"><script>' }, h("text", {}, "<b>&")));
  assert.equal(text, '<g data-name="&quot;&gt;&lt;script&gt;"><text>&lt;b&gt;&amp;</text></g>');
});

test("siblings have keys of their own, so that no element is taken for another", () => {
  const check = (list: VNode[]) => {
    const keys = list.filter((v) => v.key !== null).map((v) => `${v.tag}#${v.key}`);
    assert.equal(new Set(keys).size, keys.length, keys.filter((k, n) => keys.indexOf(k) !== n).join());
    list.forEach((v) => check(v.children));
  };
  for (const make of Object.values(ALL)) {
    const opened = openTrace(make());
    for (const h of [Infinity, 300])
      for (let i = 0; i < opened.count; i++) check(stepPicture(opened, i, {}, { w: 1080, h }).nodes);
  }
});

test("a version fits its window, however often it moved", () => {
  for (const room of [22, 31])
    for (const [before, value] of [
      [0, 1],
      [9, 10],
      [535, 2000],
      [841352, 841353],
      [2 ** 31, 2 ** 31 + 1],
    ]) {
      for (const bumped of [true, false]) {
        const text = versionTextThatFits(before, value, bumped, room);
        assert.ok(textWidth(text, 12) <= room, `${text} in ${room}`);
        assert.ok(text.endsWith(String(value).slice(-2)), text);
      }
    }
  assert.equal(versionTextThatFits(0, 1, true, 30), "0→1");
});

/** The struck-out numbers of a picture, by their cells. */
function struckOut(list: VNode[]) {
  const cells = having(list, "data-cell").map((cell): [string, VNode | undefined] => [
    `${cell.attrs["data-cell"]}`,
    cell.children.find((v) => v.attrs.class === "was"),
  ]);
  return Object.fromEntries(cells.flatMap(([key, was]) => (was ? [[key, was.text]] : [])));
}

test("a number that a node saved and backward will not find stays in sight, struck out, after the write too", () => {
  const numbers = { "s2:0": ".7311", "s2:1": ".8808", "s2:2": ".9526" };
  for (const state of ["stale", "changed"] as const) {
    assert.deepEqual(struckOut(marks(saved(state), 2)), {});
    for (const step of [3, 4]) assert.deepEqual(struckOut(marks(saved(state), step)), numbers, `${state} ${step}`);
  }
});

test("what a .grad held before a backward added to it is struck out where that backward is over", () => {
  const gradient = (value: number, rest: any) => ({ set: { s2: storage([value]), ...rest } });
  const visit = { backward: "b1", node: "n1", grad_outputs: [null], grad_inputs: [], accumulates: "t1" };
  const run = trace("w = 1\nf()\nf()\nx = 1\n", [
    { set: { f1: frame({ w: ref("t1") }), s1: storage([1]), t1: tensor({ shape: [1] }) } },
    { ...gradient(3, { t2: tensor({ shape: [1], storage: "s2" }), t1: { grad: "t2" } }), stmt: 1 },
    { set: { s2: { cells_at: { float32: { 0: 5 } } } }, kind: "visit", stmt: 2, visit },
    { set: { s2: { cells_at: { float32: { 0: 7 } } } }, kind: "visit", stmt: 2, visit },
    { set: {}, stmt: 2 },
    { set: {}, stmt: 3 },
  ]);
  const was = [2, 3, 4, 5].map((i) => Object.values(struckOut(marks(run, i))).join());
  assert.deepEqual(was, ["3", "5", "3", ""]);
});

test("the line from a tensor to its memory begins at its card, or at its version where that is told", () => {
  for (const [document, i] of [
    [saved(), 4],
    [ALL.sharing(), 3],
    [ALL.views(), 3],
  ] as [any, number][]) {
    const list = marks(document, i);
    const right = (v: VNode) => Number(v.attrs.x) + Number(v.attrs.width);
    const ofClass = (v: VNode, name: string): VNode[] => [
      ...(`${v.attrs.class}`.split(" ").includes(name) ? [v] : []),
      ...v.children.flatMap((child) => ofClass(child, name)),
    ];
    const ends = list.flatMap((v) => [...ofClass(v, "card-box"), ...ofClass(v, "rail-box")]).map(right);
    const leads = having(list, "data-wire").flatMap((v) => ofClass(v, "wire").filter(({ attrs }) => attrs.d));
    const starts = leads.filter(({ key }) => key === "lead" || key === "trunk").map(({ attrs }) => attrs.d);
    assert.ok(starts.length);
    for (const d of starts) {
      const x = Number(`${d}`.match(/^M(-?[\d.]+)/)?.[1]);
      assert.ok(
        ends.some((end) => Math.abs(end - x) <= 1.5),
        `${d} begins at none of ${ends}`,
      );
    }
  }
});

test("versions have a heading where a version is told", () => {
  const heads = (i: number) => having(marks(saved(), i), "class", "lane-head").map(({ text }) => text);
  assert.ok(!heads(0).includes("Version"));
  assert.ok(heads(4).includes("Version"));
});

test("memory of one length is drawn in one form, however many tensors read it and however wide the pane is", () => {
  const shared = { counter: "c1", storage: "s1", shape: [12] };
  const cells = Array.from({ length: 12 }, (_, k) => k);
  const document = trace("", [
    { set: { f1: frame({ a: ref("t1") }), s1: storage(cells), t1: tensor(shared) } },
    {
      set: {
        f1: { vars: { b: ref("t2") } },
        s2: storage(cells),
        t2: tensor({ storage: "s2", shape: [12] }),
      },
    },
    { set: { f1: { vars: { v: ref("t3") } }, t3: tensor({ ...shared, shape: [6], stride: [2] }) } },
  ]);
  for (let w = 420; w <= 1100; w += 20) {
    const lines = new Map<string, Set<string>>();
    const walk = (v: VNode) => {
      if ("data-cell" in v.attrs) {
        const [uid] = v.attrs["data-cell"].split(":");
        const box = v.attrs.y === undefined ? v.children[0] : v;
        lines.set(uid, (lines.get(uid) ?? new Set()).add(`${box.attrs.y}`));
      }
      v.children.forEach(walk);
    };
    stepPicture(openTrace(document), 2, {}, { ...ROOM, w }).nodes.forEach(walk);
    assert.equal(lines.get("s1")?.size, lines.get("s2")?.size, `${w}`);
  }
});

test("that a graph is gone is said in lines that its pane holds", () => {
  const document = trace("", [
    { set: { f1: frame({ a: ref("t1") }), s1: storage([1]), t1: tensor({ shape: [1] }), n1: node("MulBackward0") } },
    { set: {}, gone: ["n1"] },
  ]);
  const lines: VNode[] = [];
  const walk = (v: VNode) => {
    if (v.attrs.class === "graph-empty") lines.push(v);
    v.children.forEach(walk);
  };
  stepPicture(openTrace(document), 1, {}, { w: 700, h: 400 }).nodes.forEach(walk);
  assert.equal(lines.map(({ text }) => text).join(" "), "The graph is gone: nothing keeps it any more.");
  assert.ok(lines.length > 1 && new Set(lines.map(({ attrs }) => attrs.y)).size === lines.length);
});
