/** The loom's graph: nodes on lanes, edges that climb, saved slots, and the gradient that reached each node. */

import { chip } from "../layout/chip.js";
import { wireText } from "../layout/format.js";
import { BOLD } from "../layout/loom_sizes.js";
import { textWidth, truncate } from "../layout/metrics.js";
import { pinState } from "../layout/run_story.js";
import { inBand } from "../layout/view.js";
import { cls, h } from "../svg.js";
import { clip } from "./loom_scene.js";
import { roundedPath } from "./path.js";

/** @typedef {import("./loom_labels.js").LoomLabels} LoomLabels */
/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */

export const NODE_R = 5;

/** Every edge: up the lane of the node that it leads to. @param {LoomScene} scene */
export function edgeMarks({ plan, opened, band, now, i }) {
  const out = [];
  for (const [k, trunk] of plan.trunks.entries())
    if (inBand(band, trunk.y0, trunk.y1))
      out.push(
        h("path", {
          key: `trunk ${k}`,
          class: "loom-edge",
          d: `M${trunk.x} ${clip(band, trunk.y0 + NODE_R)}V${clip(band, trunk.y1 - 14)}`,
        }),
      );
  for (const edge of plan.edges) {
    const { x0, y0, x1, y1 } = edge;
    if (!inBand(band, y0, y1)) continue;
    const ran = (plan.story.visits.get(edge.from) ?? []).findLast((k) => k <= i);
    const passed = ran !== undefined && opened.trace.steps[ran].visit?.grad_inputs?.[Number(edge.key.split(":")[1])];
    const flows = passed && plan.story.rowOfStep[ran] === now;
    const low = flows ? y1 + NODE_R + 4 : Math.max(y0 - 14, y1 + NODE_R + 1);
    if (!inBand(band, low, y0)) continue;
    const d =
      x0 === x1
        ? `M${x0} ${clip(band, y0 - NODE_R)}V${clip(band, low)}`
        : roundedPath(
            [
              [x0, y0],
              [x1, y0],
              [x1, clip(band, Math.min(low, y0 - 2))],
            ],
            9,
          );
    out.push(
      h(
        "g",
        {
          key: `edge ${edge.key}`,
          class: cls("loom-strand", flows && "flows", passed && !flows && "spent", ran === i && "running"),
          "data-loom-edge": edge.key,
          "data-loom-to": edge.to,
        },
        h("path", { key: "line", class: "loom-edge", d }),
        (flows || y0 - y1 < 4000) &&
          h("path", { key: "arrow", class: "loom-tip", d: `M${x1} ${y1 + NODE_R + 1}l4 7h-8z` }),
      ),
    );
  }
  return out;
}

/** The nodes made by a row, with what they saved and what gradient reached them. @param {LoomScene} scene @param {number} r */
export function nodeMarks(scene, r) {
  const { plan, i, now, labels } = scene;
  const out = [];
  /** @type {Map<string, import("../layout/loom.js").Dot[]>} */
  const groups = new Map();
  for (const dot of plan.rowDots[r]) groups.set(dot.group, [...(groups.get(dot.group) ?? []), dot]);
  /** @type {Map<number, import("../layout/loom.js").Dot[]>} */
  const lines = new Map();
  for (const [dot] of groups.values()) lines.set(dot.y, [...(lines.get(dot.y) ?? []), dot]);
  for (const group of groups.values()) {
    const dot = group[group.length - 1];
    const ran = group
      .flatMap((member) => plan.story.visits.get(member.uid) ?? [])
      .filter((k) => k <= i)
      .sort((a, b) => a - b)
      .at(-1);
    const parts = [
      h("circle", {
        key: "dot",
        class: cls("loom-node", dot.leaf && "leaf", ran === i && "running"),
        cx: dot.x,
        cy: dot.y,
        r: dot.leaf ? NODE_R + 0.5 : NODE_R,
      }),
    ];
    const inLine = lines.get(dot.y) ?? [dot];
    if (inLine[0] === group[0]) {
      const label =
        inLine.length === 1
          ? dot.label
          : inLine.length > 2
            ? `${inLine[0].label.split(" ")[0]} × ${inLine.length}`
            : inLine.map((dot, k) => (k ? dot.label.split(" ").slice(1).join(" ") : dot.label)).join(", ");
      const text = truncate(label, plan.stacked ? 15 : 30);
      parts.push(h("text", { key: "label", class: "loom-label", x: plan.graph.names + 2, y: dot.y + 4 }, text));
      if (ran !== undefined && inLine.length === 1 && !plan.stacked)
        parts.push(
          ...gradMark(
            scene,
            ran,
            plan.graph.names + textWidth(text, 11.5) * BOLD + 8,
            dot.y,
            plan.story.rowOfStep[ran] === now,
          ),
        );
    }
    for (const [slot, y] of dot.slots) parts.push(...slotMarks(scene, dot, slot, y, labels));
    out.push(
      h(
        "g",
        { key: `node ${dot.group}`, class: "loom-knot", "data-loom-node": dot.uid },
        parts,
        h("title", { key: "title" }, `${dot.name} ${dot.uid}`),
      ),
    );
  }
  return out;
}

/** @param {LoomScene} scene @param {import("../layout/loom.js").Dot} dot @param {string} slot @param {number} y @param {LoomLabels} labels */
function slotMarks({ plan, i }, dot, slot, y, labels) {
  const pin = plan.story.pins.get(`${dot.uid}:${slot}`);
  const x = plan.graph.names;
  const state = pin && pinState(pin, i);
  const name = pin
    ? plan.handleRows.get(pin.tensor ?? "")?.name || plan.story.storageNames.get(pin.storage) || pin.storage
    : "";
  const short = plan.stacked || !pin ? slot : `${slot} = ${truncate(name, 14)} @ v${pin.expected ?? "?"}`;
  const text = `${short}${state === "broken" ? ` ✕ ${labels.broken}` : state === "silent" ? ` ⚠ ${labels.bytes}` : state === "released" && !plan.stacked ? `, ${labels.released}` : ""}`;
  return [
    h("rect", {
      key: `square ${slot}`,
      class: cls("loom-slot", state),
      x: x - 1,
      y: y - 3,
      width: 6,
      height: 6,
    }),
    h("text", { key: `slot ${slot}`, class: cls("loom-saved", state), x: x + 9, y: y + 3.5 }, text),
  ];
}

/** The gradient that reached a node, as it was. @param {LoomScene} scene @param {number} k its step @param {number} x @param {number} y @param {boolean} fresh */
function gradMark({ opened }, k, x, y, fresh) {
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return [];
  const { texts, shown, widths, width } = chip(grad);
  const most = shown.reduce((/** @type {number} */ m, v) => (typeof v === "number" ? Math.max(m, Math.abs(v)) : m), 0);
  const parts = [h("rect", { key: "ground", class: "loom-chip-ground", x, y: y - 9, width, height: 18, rx: 3 })];
  let at = x;
  texts.forEach((/** @type {string} */ text, /** @type {number} */ n) => {
    const v = shown[n];
    if (typeof v === "number" && v !== 0)
      parts.push(
        h("rect", {
          key: `wash ${n}`,
          class: cls("wash", v < 0 ? "neg" : "pos"),
          x: at,
          y: y - 9,
          width: widths[n],
          height: 18,
          "fill-opacity": 0.1 + 0.3 * (Math.abs(v) / most),
        }),
      );
    parts.push(h("text", { key: `text ${n}`, class: "loom-chip-text mid", x: at + widths[n] / 2, y: y + 3.6 }, text));
    at += widths[n];
  });
  parts.push(h("rect", { key: "frame", class: "loom-chip-frame", x, y: y - 9, width, height: 18, rx: 3 }));
  return [
    h(
      "g",
      {
        key: "grad",
        class: cls("loom-chip", !fresh && "past"),
        "data-loom-grad": opened.trace.steps[k].visit?.node,
        "data-value": wireText(grad.cells ?? null),
      },
      parts,
    ),
  ];
}
