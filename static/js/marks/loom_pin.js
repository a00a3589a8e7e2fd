/** A saved value in the loom: a pin held on its counter's rail until backward lets go or a write breaks it. */

import { inBand } from "../layout/view.js";
import { cls, h } from "../svg.js";
import { clip } from "./loom_scene.js";

/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */

/** A saved value: a pin from the node's row to the rail, held until backward lets go. @param {LoomScene} scene @param {import("../layout/loom.js").PinLine} hold */
export function pinMark({ plan, now, band }, { pin, x, rail, y, slotX, to, at }) {
  if (!inBand(band, y - 10, to + 10)) return null;
  const state =
    pin.broken !== null && pin.broken <= now
      ? "broken"
      : pin.silent !== null && pin.silent <= now
        ? "silent"
        : pin.released && pin.death <= now
          ? "released"
          : "held";
  const broken = pin.broken !== null && at !== null;
  const snap = broken ? at : to;
  const parts = [h("path", { key: "line", class: "loom-pin-line", d: `M${x + 8} ${y}H${slotX - 3}` })];
  parts.push(
    h("path", {
      key: "hold",
      class: "loom-hold",
      d: `M${x} ${clip(band, y)}V${clip(band, Math.max(y, Math.min(snap, to)) - (broken ? 12 : 0))}`,
    }),
  );
  if (broken)
    parts.push(
      h("path", {
        key: "after",
        class: "loom-after",
        d: `M${x} ${clip(band, snap + 12)}V${clip(band, Math.max(to, snap + 12))}`,
      }),
      h("path", { key: "snap", class: "loom-snap", d: `M${x - 6} ${snap - 23}l12 12m0 -12l-12 12` }),
    );
  else if (pin.silent !== null && at !== null)
    parts.push(
      h("path", { key: "warn", class: "loom-warn", d: `M${x} ${at - 13}l11 20h-22z` }),
      h("path", { key: "mark", class: "loom-warn-mark", d: `M${x} ${at - 6}v6m0 2.500v1.500` }),
    );
  if (pin.released && !broken) parts.push(h("path", { key: "cap", class: "loom-hold-cap", d: `M${x - 6} ${to}h12` }));
  parts.push(
    h("circle", { key: "head", class: "loom-pin-head", cx: x, cy: y, r: 7.5 }),
    h(
      "text",
      { key: "expected", class: "loom-pin-text mid", x, y: y + 3.5 },
      pin.expected === null ? "?" : String(pin.expected),
    ),
  );
  if (x !== rail) parts.unshift(h("path", { key: "to", class: "loom-stub", d: `M${rail} ${y}H${x}` }));
  return h(
    "g",
    {
      key: `pin ${pin.key}`,
      class: cls("loom-pin", state),
      "data-loom-pin": pin.key,
      "data-state": state,
      "data-expected": pin.expected,
      "data-loom-on": pin.storage,
    },
    parts,
    h(
      "title",
      { key: "title" },
      `${plan.dots.get(pin.node)?.name ?? pin.node}.${pin.slot}: ${pin.storage} v${pin.expected ?? "?"} · ${state}`,
    ),
  );
}
