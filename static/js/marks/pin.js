/** A pin: a node's saved tensor stuck into its storage, with the version it expects and what became of it. */

import { ALARMS, pinKey } from "../trace_index.js";
import { extent, plainDtype } from "../layout/reads.js";
import { cellBox } from "../layout/strip.js";
import { find } from "../entities.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** @param {Scene} scene @param {string} node @param {string} slot @param {import("../entities.js").Slot} saved */
export function pinMark(scene, node, slot, saved) {
  const key = `${node}:${slot}`;
  const at = scene.plan.memory.pins.get(pinKey(node, slot, saved));
  const shelf = scene.plan.memory.storages.get(saved.storage ?? "");
  const storage = find(scene.snap.entities, saved.storage, "storage");
  if (!at || !shelf || !storage) return null;
  const { metrics: M } = scene.plan;
  const { state } = saved;
  const expected = saved.expected ?? null;
  const text = expected === null ? "v?" : `v${expected}${state === "changed" ? " ≠" : ""}`;
  const w = state === "changed" ? 38 : 32;
  const { x, y } = at;
  const touched = scene.events.has(key);
  const span = savedSpan(shelf, storage, saved);
  const cy = y;
  const middle = x + w / 2;
  const out = [];
  if (!M.dense && span) {
    const foot = shelf.stripY - 3;
    const [x0, x1] = span;
    out.push(h("path", { key: "bracket", class: "pin-line", d: `M${x0} ${foot + 2}V${foot - 4}H${x1}V${foot + 2}` }));
    const top = Math.min(Math.max(middle, x0), x1);
    if (state === "stale")
      out.push(
        h("path", { key: "stem", class: "pin-line snapped", d: `M${top} ${foot - 4}l4 -4l-6 -1` }),
        h("path", { key: "stump", class: "pin-line snapped", d: `M${middle + 1} ${cy + 9}l-3 3l5 1` }),
      );
    else
      out.push(
        h("path", {
          key: "stem",
          class: "pin-line",
          d: `M${middle} ${cy + 9}V${foot - 4}${Math.abs(top - middle) > 1 ? `H${top}` : ""}`,
        }),
      );
  } else if (M.dense) {
    out.push(
      h("path", { key: "stem", class: cls("pin-line", state === "stale" && "snapped"), d: `M${x - 8} ${cy}h8` }),
    );
  }
  if (state === "changed" && span)
    out.unshift(
      h("rect", {
        key: "hatch",
        class: "hatch",
        x: span[0],
        y: shelf.stripY,
        width: span[1] - span[0],
        height: Math.min(shelf.strip.h, span[2]),
      }),
    );
  const head = h(
    "g",
    { key: "head", class: "pin-head", transform: state === "stale" ? `rotate(-14 ${middle} ${cy})` : null },
    h("rect", { x, y: cy - 9, width: w, height: 18, rx: state === "changed" ? 2 : 9 }),
    h("text", { x: middle, y: cy + 4 }, text),
  );
  return h(
    "g",
    {
      key: `pin ${key}`,
      class: cls("pin", state, touched && "news"),
      "data-pin": key,
      "data-state": state,
      "data-expected": expected,
      "data-storage": saved.storage,
      tabindex: "0",
      role: "img",
      "aria-label": `${key} ${saved.storage} v${expected} ${state}`,
    },
    out,
    head,
    h("title", {}, `${scene.nodeName(node)}.${slot}: ${saved.storage} ${text} · ${state}`),
  );
}

/** From and to which x the saved cells lie, and how low. @param {import("../layout/memory.js").StorageBox} shelf
 * @param {import("../entities.js").Storage} storage @param {import("../entities.js").Slot} saved @returns {[number, number, number] | null} */
function savedSpan(shelf, storage, saved) {
  const line = shelf.strip.rows.find((r) => plainDtype(r.dtype) === plainDtype(saved.dtype)) ?? shelf.strip.rows[0];
  const span = extent({ kind: "tensor", ...saved });
  if (!line || !span || !storage.cells) return null;
  if (shelf.strip.mode !== "cells") return [shelf.stripX, shelf.stripX + shelf.strip.w, shelf.strip.h];
  const a = cellBox(line, span[0]);
  const b = cellBox(line, span[1]);
  return [shelf.stripX + a.x + 2, shelf.stripX + b.x + b.w - 2, shelf.strip.h];
}

/** What the most alarming pin of a shelf has to say, once a shelf. @param {Scene} scene @param {string} storage
 * @param {import("../entities.js").Slot[]} pins the slots pinned there */
export function alarmText(scene, storage, pins) {
  const shelf = scene.plan.memory.storages.get(storage);
  const worst = pins.find((p) => p.state === "changed") ?? pins.find((p) => ALARMS.has(p.state));
  if (!shelf || !worst || scene.plan.metrics.dense) return null;
  const now = find(scene.snap.entities, worst.counter, "counter")?.value;
  const { labels } = scene;
  const text =
    worst.state === "changed"
      ? `${labels.still} v${worst.expected} · ${labels.otherBytes}`
      : `${labels.expects} v${worst.expected}${now === undefined ? "" : ` · ${labels.now} v${now}`}`;
  return h("text", { key: `alarm ${storage}`, class: "alarm end", x: shelf.stripX - 14, y: shelf.pinY + 4 }, text);
}
