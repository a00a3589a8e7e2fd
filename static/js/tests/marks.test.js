/** What the picture says in its attributes is what the trace says: every cell, handle, counter, bead, edge and pin. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { textWidth } from "../layout/metrics.js";
import { versionText } from "../marks/rail.js";
import { wireText } from "../layout/format.js";
import { reads } from "../layout/reads.js";
import { plan } from "../layout/plan.js";
import { knownCells, visibleWindow } from "../layout/strip.js";
import { scene } from "../marks/scene.js";
import { openTrace } from "../state.js";
import { h, render } from "../svg.js";
import { ALL, saved } from "./traces.js";
import { storage, tensor, trace } from "./entities.js";

/** @typedef {import("../svg.js").VNode} VNode */

/** Every mark of a step. @param {any} document @param {number} i @param {boolean} [stacked] @returns {VNode[]} */
function marks(document, i, stacked = false) {
  const opened = openTrace(document);
  const { memory, between, graph } = scene(plan(opened, { stacked }), opened, i);
  const all = /** @type {VNode[]} */ ([]);
  const walk = (/** @type {VNode} */ v) => {
    all.push(v);
    v.children.forEach(walk);
  };
  [...memory, ...between, ...graph].forEach(walk);
  return all;
}

/** @param {VNode[]} list @param {string} name @param {string} [value] */
const having = (list, name, value) =>
  list.filter((v) => name in v.attrs && (value === undefined || v.attrs[name] === value));
/** @param {VNode[]} list @param {string} name @param {string} value */
const only = (list, name, value) => {
  const matching = having(list, name, value);
  assert.equal(matching.length, 1, `${name}=${value}: ${matching.length}`);
  return matching[0];
};

for (const [name, make] of Object.entries(ALL))
  for (const stacked of [false, true])
    test(`${name}${stacked ? ", stacked" : ""}: the marks of every step say what the state says`, () => {
      const opened = openTrace(make());
      for (let i = 0; i < opened.count; i++) {
        const { entities, freed: ghosts } = opened.at(i);
        const list = marks(make(), i, stacked);
        let cells = 0;
        for (const [uid, e] of entities) {
          if (e.kind === "storage")
            for (const [dtype, row] of Object.entries(e.cells ?? {}))
              row.forEach((/** @type {any} */ value, /** @type {number} */ k) => {
                const mark = having(list, "data-cell", `${uid}:${k}`).filter((v) => v.attrs["data-dtype"] === dtype);
                assert.equal(mark.length, 1);
                assert.equal(mark[0].attrs["data-value"], wireText(value));
                assert.equal(mark[0].children.filter((c) => /\bval\b/.test(c.attrs.class ?? "") && c.text).length, 1);
                cells += 1;
              });
          if (e.kind === "tensor") {
            assert.equal(only(list, "data-handle", uid).attrs["data-counter"], e.counter);
            for (const read of reads(e)) {
              const bead = only(list, "data-bead", `${uid}:${read.k}`);
              assert.equal(bead.attrs["data-reads"], `${e.storage}:${read.cell}`);
              assert.equal(bead.attrs["data-index"], read.index.join(","));
            }
          }
          if (e.kind === "array") only(list, "data-handle", uid);
          if (e.kind === "counter" && [...entities.values()].some((t) => t.counter === uid))
            assert.equal(only(list, "data-counter-badge", uid).attrs["data-version"], String(e.value));
          if (e.kind === "frame") {
            only(list, "data-frame-card", uid);
            for (const [variable, value] of e.vars) {
              if (value?.py === "module") continue;
              const tag = having(list, "data-name", variable).filter((v) => v.attrs["data-frame"] === uid);
              assert.equal(tag.length, 1, `${variable} in ${uid}`);
              if (value?.ref) assert.equal(tag[0].attrs["data-ref"], value.ref);
              else assert.equal(tag[0].attrs["data-chip"], wireText(value));
            }
          }
          if (e.kind === "object") only(list, "data-object", uid);
          if (e.kind === "node") {
            only(list, "data-node", uid);
            (e.next ?? []).forEach((/** @type {any} */ edge, /** @type {number} */ k) => {
              if (!edge || !entities.has(edge[0])) return;
              const mark = only(list, "data-edge", `${uid}:${k}`);
              assert.deepEqual([mark.attrs["data-from"], mark.attrs["data-to"]], [uid, edge[0]]);
            });
            for (const [slot, saved] of Object.entries(/** @type {Record<string, any>} */ (e.saved))) {
              only(list, "data-slot", `${uid}:${slot}`);
              const pins = having(list, "data-pin", `${uid}:${slot}`);
              assert.equal(pins.length, saved.state === "freed" || !entities.has(saved.storage) ? 0 : 1);
              for (const pin of pins) {
                assert.equal(pin.attrs["data-state"], saved.state);
                assert.equal(pin.attrs["data-expected"], String(saved.expected));
                assert.equal(pin.attrs["data-storage"], saved.storage);
              }
            }
          }
        }
        assert.equal(having(list, "data-cell").length, cells);
        assert.deepEqual(
          having(list, "data-ghost")
            .map((v) => v.attrs["data-ghost"])
            .sort(),
          [...ghosts.keys()].sort(),
        );
      }
    });

test("detach wears the same badge, .data its own", () => {
  assert.equal(only(marks(saved("stale"), 3), "data-counter-badge", "c2").attrs["data-version"], "1");
  const silent = marks(saved("changed"), 3);
  assert.equal(only(silent, "data-counter-badge", "c2").attrs["data-version"], "0");
  assert.equal(only(silent, "data-counter-badge", "c3").attrs["data-version"], "1");
});

test("only an alarming pin has a leader to its slot", () => {
  assert.equal(having(marks(saved(), 1), "data-leader").length, 0);
  assert.equal(having(marks(saved(), 3), "data-leader", "n2:result").length, 1);
});

test("a backward's visit shows the gradients that it passes on", () => {
  const list = marks(ALL.backward(), 4);
  assert.equal(having(list, "data-grad", "n4:0").length, 1);
  assert.equal(having(list, "data-grad", "n4:1").length, 1);
  assert.match(only(list, "data-node", "n4").attrs.class, /running/);
  assert.match(only(list, "data-node", "n5").attrs.class, /done/);
  assert.match(only(list, "data-node", "n3").attrs.class, /waiting/);
  assert.equal(having(marks(ALL.backward(), 8), "data-grad").length, 0);
});

test("big storages are told in numbers with their windows", () => {
  const list = marks(
    trace("", [
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
    ]),
    0,
  );
  assert.deepEqual(
    having(list, "data-cell").map((v) => [v.attrs["data-cell"], v.attrs["data-value"]]),
    [
      ["s1:0", "1"],
      ["s1:1", "2"],
      ["s1:1998", "3"],
      ["s1:1999", '{"$f":"inf"}'],
    ],
  );
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
    means.map(wireText),
  );
  assert.deepEqual(
    stretches.slice(0, 2).map((v) => [v.attrs["data-open"], v.attrs["data-span"]]),
    [
      ["s1:0", "100"],
      ["s1:100", "100"],
    ],
  );
  assert.equal(having(list, "data-wrote")[0].attrs["data-wrote"], "3000:3000");
  const box = stretches[30].children[0].attrs;
  const wrote = having(list, "data-wrote")[0].attrs;
  assert.ok(Number(wrote.x) >= Number(box.x) - 0.1 && Number(wrote.x) <= Number(box.x) + Number(box.width));
});

test("a window shows the known cells from where it was opened, neighbours side by side", () => {
  const cells = knownCells([
    [0, [1, 2]],
    [50, [3]],
    [100, Array(40).fill(4)],
  ]);
  assert.deepEqual(
    visibleWindow(cells, 50)
      .slice(0, 3)
      .map(({ cell, first }) => [cell.i, first]),
    [
      [50, true],
      [100, true],
      [101, false],
    ],
  );
  assert.equal(visibleWindow(cells, 139).at(-1)?.cell.i, 139);
  assert.deepEqual(visibleWindow([], 0), []);
});

test("long and wide storages keep every cell and every bead", () => {
  for (const n of [13, 24, 25, 100, 128, 600]) {
    const list = marks(
      trace("", [
        { set: { s1: storage([...Array(n).keys()]), t1: tensor({ shape: [n] }), c1: { kind: "counter", value: 0 } } },
      ]),
      0,
    );
    assert.equal(having(list, "data-cell").length, n);
    assert.equal(having(list, "data-bead").length, n <= 128 ? n : 0);
  }
});

test("a program's text cannot become markup", () => {
  const text = render(h("g", { "data-name": '"><script>' }, h("text", {}, "<b>&")));
  assert.equal(text, '<g data-name="&quot;&gt;&lt;script&gt;"><text>&lt;b&gt;&amp;</text></g>');
});

test("siblings have keys of their own, so that no element is taken for another", () => {
  for (const make of Object.values(ALL)) {
    const opened = openTrace(make());
    const p = plan(opened);
    for (let i = 0; i < opened.count; i++) {
      const s = scene(p, opened, i);
      const check = (/** @type {VNode[]} */ list) => {
        const keys = list.filter((v) => v.key !== null).map((v) => `${v.tag}#${v.key}`);
        assert.equal(new Set(keys).size, keys.length, keys.filter((k, n) => keys.indexOf(k) !== n).join());
        list.forEach((v) => check(v.children));
      };
      check(s.memory);
      check(s.between);
      check(s.graph);
    }
  }
});

test("a version fits its window, however often it moved", () => {
  for (const room of [26, 30])
    for (const [before, value] of [
      [0, 1],
      [9, 10],
      [535, 2000],
      [841352, 841353],
      [2 ** 31, 2 ** 31 + 1],
    ]) {
      for (const bumped of [true, false]) {
        const { text, size } = versionText(before, value, bumped, room);
        assert.ok(textWidth(text, size) <= room + 0.1 && size >= 6.5, `${text} at ${size} in ${room}`);
        assert.ok(text.endsWith(String(value).slice(-4)), text);
      }
    }
  assert.equal(versionText(0, 1, true, 30).text, "0→1");
});
