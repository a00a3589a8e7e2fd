/** From step to step everything that a step leaves alone stays where it was; cards lie apart; lines run to the right. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { plan, handleRow } from "../layout/plan.js";
import { scene } from "../marks/scene.js";
import { openTrace } from "../state.js";
import { ALL, crowd } from "./traces.js";

/** @typedef {import("../svg.js").VNode} VNode */
/** @typedef {import("../layout/plan.js").Plan} Plan */
/** @typedef {import("../state.js").Snapshot} Snapshot */

const GOLDEN = new URL("../../../tests/golden/", import.meta.url);
/** @type {Record<string, () => any>} */
const TRACES = { ...ALL, long: () => crowd(90) };
for (const file of readdirSync(GOLDEN).filter((name) => name.endsWith(".json")))
  TRACES[file.replace(".json", "")] = () => JSON.parse(readFileSync(new URL(file, GOLDEN), "utf8"));

const PLACED = ["x", "y", "width", "height", "d", "cx", "cy", "r", "points", "transform"];
/** Parts that come and go, or say by their form what the step did. */
const PASSING = /halo|window|written|hatch|tag|order|seed|bracket|stem|stump|grad |sum |meet |plus |alarm/;

/** Every place in the picture of a step, by the way to it. @param {Plan} p @param {any} opened @param {number} i */
function positionsAt(p, opened, i) {
  const { memory, between, graph } = scene(p, opened, i);
  /** @type {Map<string, string>} */
  const positions = new Map();
  const walk = (/** @type {VNode} */ v, /** @type {string} */ way, /** @type {number} */ k) => {
    const path = `${way}/${v.tag}#${v.key ?? k}`;
    const at = PLACED.flatMap((name) => (name in v.attrs ? [`${name}=${v.attrs[name]}`] : []));
    if (v.tag !== "text" && at.length) positions.set(path, at.join(" "));
    v.children.forEach((child, n) => walk(child, path, n));
  };
  for (const [name, layer] of Object.entries({ memory, between, graph }))
    for (const v of layer) if (v.key !== null) walk(v, name, 0);
  return positions;
}

/** The entities that something is drawn from: those that its key names. @param {string} path */
function owners(path) {
  return path.split("/")[1].match(/\b[stacnofm]\d+\b/g) ?? [];
}

/** What a step did, with what hangs on it: a storage's readers, a counter's wearers.
 * @param {Snapshot} snap @param {import("../state.js").Entities} before */
function touched(snap, before) {
  const { step, entities } = snap;
  const out = new Set([...Object.keys(step.set), ...step.gone]);
  for (const [uid, e] of [...before, ...entities]) {
    if (e.kind !== "tensor" && e.kind !== "array") continue;
    if (out.has(e.storage) || out.has(uid)) for (const other of [uid, e.storage, e.counter]) out.add(other);
  }
  return out;
}

for (const [name, make] of Object.entries(TRACES)) {
  for (const stacked of [false, true]) {
    const title = `${name}${stacked ? ", stacked" : ""}`;
    test(`${title}: what a step leaves alone stays to the pixel`, () => {
      const opened = openTrace(make());
      const p = plan(opened, { stacked });
      let past = positionsAt(p, opened, 0);
      for (let i = 1; i < opened.count; i++) {
        const now = positionsAt(p, opened, i);
        const moved = touched(opened.at(i), opened.state(i - 1));
        const renames =
          Object.keys(opened.trace.steps[i].set).some((uid) => /^[fo]/.test(uid)) || opened.trace.steps[i].gone.length;
        for (const [path, at] of now) {
          if (!past.has(path) || past.get(path) === at || PASSING.test(path)) continue;
          if (/#tags /.test(path) && renames) continue;
          assert.ok(
            owners(path).some((uid) => moved.has(uid)),
            `step ${i}: ${path} from ${past.get(path)} to ${at}`,
          );
        }
        past = now;
      }
    });

    test(`${title}: boxes stand still as long as they live, and apart`, () => {
      const opened = openTrace(make());
      const p = plan(opened, { stacked });
      /** @type {Map<string, string>} */
      const first = new Map();
      for (let i = 0; i < opened.count; i++) {
        const boxes = cards(p, opened.at(i));
        for (const { key, side, ...box } of boxes) {
          const at = JSON.stringify(box);
          assert.equal(first.get(key) ?? at, at, `step ${i}: ${key}`);
          first.set(key, at);
        }
        for (const a of boxes)
          for (const b of boxes)
            if (a.key < b.key && a.side === b.side)
              assert.ok(
                a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y,
                `step ${i}: ${a.key} on ${b.key}`,
              );
      }
    });

    test(`${title}: from names to handles to storages, and through the graph, no line runs to the left`, () => {
      const opened = openTrace(make());
      const p = plan(opened, { stacked });
      for (let i = 0; i < opened.count; i++)
        for (const [path, at] of positionsAt(p, opened, i)) {
          if (!/beads .*#wire|tags .*#stem|edge .*#line|#leader/.test(path)) continue;
          for (const piece of at.replace(/^d=/, "").split("M").slice(1))
            assert.ok(runsRight(piece), `step ${i}: ${path} ${at}`);
        }
    });
  }
}

/** The cards of a step with their places; a handle that the program moved is another card.
 * @param {Plan} p @param {Snapshot} snap */
function cards(p, { entities }) {
  const { lanes } = p.memory;
  /** @type {{key: string, side: string, x: number, y: number, w: number, h: number}[]} */
  const out = [];
  for (const [uid, e] of entities) {
    const shelf = e.kind === "storage" ? p.memory.storages.get(uid) : undefined;
    if (shelf)
      out.push({ key: uid, side: "memory", x: shelf.stripX, y: shelf.stripY, w: shelf.strip.w, h: shelf.strip.h });
    const card = p.memory.cards.get(uid);
    if (card) out.push({ key: uid, side: "memory", x: card.x, y: card.y, w: card.w, h: card.h });
    const row = e.kind === "tensor" || e.kind === "array" ? handleRow(p, uid, e) : undefined;
    if (row)
      out.push({ key: row.key, side: "memory", x: lanes.handles.x, y: row.y, w: lanes.handles.w, h: p.metrics.cardH });
    const box = p.graph.boxes.get(uid);
    if (box) out.push({ key: uid, side: "graph", x: box.x, y: box.y, w: box.w, h: box.h });
    for (const [slot, saved] of Object.entries(
      /** @type {Record<string, any>} */ (e.kind === "node" ? (e.saved ?? {}) : {}),
    )) {
      const pin = saved.state === "freed" ? undefined : p.memory.pins.get(`${uid}:${slot}|${saved.storage}`);
      if (pin)
        out.push({ key: `${uid}:${slot}|${saved.storage}`, side: "memory", x: pin.x, y: pin.y - 9, w: 38, h: 18 });
    }
  }
  return out;
}

/** Whether a way of M, H, V, L and Q (the M taken off) never goes to the left. @param {string} piece */
function runsRight(piece) {
  let x = -Infinity;
  for (const [, letter, numbers] of piece.matchAll(/([A-Za-z]?)([-\d.\s]+)/g)) {
    const values = numbers.trim().split(/\s+/).map(Number);
    if (letter === "V" || letter === "v") continue;
    const xs = letter === "h" ? [x + values[0]] : letter === "H" ? values : values.filter((_, k) => k % 2 === 0);
    for (const next of xs) {
      if (next < x - 0.01) return false;
      x = next;
    }
  }
  return true;
}
