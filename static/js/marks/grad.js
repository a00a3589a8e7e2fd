/** Gradients of a backward as chips: what each visit passed on, sums where they meet, and the seed. */

import { chip } from "../layout/chip.js";
import { fullNumber, tuple } from "../layout/format.js";
import { closedFold } from "../layout/plan.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */
/** @typedef {import("../layout/graph.js").Box} Box */

/** Gradients as chips: what this visit passed on each edge, and fainter what earlier visits passed.
 * @param {Scene} scene */
export function gradMarks(scene) {
  /** @type {import("../svg.js").VNode[]} */
  const out = [];
  if (!scene.visits.length) return out;
  const { boxes, edges, carries } = scene.plan.graph;
  const reached = new Set();
  for (const uid of scene.visited.keys())
    for (const edge of scene.plan.lives.nodes.get(uid)?.next ?? []) if (edge) reached.add(edge[0]);
  /** @type {Map<string, import("../svg.js").VNode>} */
  const through = new Map();
  for (const visit of scene.visits) {
    if (visit.step > scene.snap.index) continue;
    const fold = closedFold(scene.plan.graph, visit.node, visit.step);
    const box = boxes.get(fold?.uid ?? visit.node);
    const facts = scene.steps[visit.step]?.visit;
    if (!box || !facts || !scene.snap.entities.has(visit.node)) continue;
    const now = visit.step === scene.snap.index;
    (facts.grad_inputs ?? []).forEach((grad, i) => {
      const key = `${visit.node}:${i}`;
      const edge = edges.get(carries.get(key) ?? key);
      if (!grad || !edge || facts.accumulates) return;
      const port = Number(edge.key.slice(edge.key.indexOf(":") + 1));
      // Of what a fold passes on through one edge, the latest.
      through.set(
        edge.key,
        gradChipMark(
          fold ? { ...grad, cells: null } : grad,
          `in ${edge.key}`,
          box.x - 12,
          box.ports[port],
          now,
          true,
          key,
        ),
      );
    });
    const fed = reached.has(visit.node);
    const seed = facts.grad_outputs?.[0];
    if (seed && (fold ? visit === scene.visits[0] && !isInput(scene, visit.node) : !fed || now)) {
      const many = scene.sums.get(visit.node) ?? 0;
      if (!fed)
        out.push(
          h("path", {
            key: `seed ${visit.node}`,
            class: cls("seed", now && "now"),
            d: `M${box.x + box.w + 1} ${box.cy}l8 -4.5v9zm8 4.5h12`,
          }),
        );
      if (many > 1 && !fold) out.push(...sumMarks(box));
      const under = facts.accumulates || many > 1 || fed;
      if (!fed) out.push(gradChipMark(seed, `out ${visit.node}`, box.x + box.w + 20, box.cy, now, false, visit.node));
      else if (under && (many > 1 || facts.accumulates))
        out.push(gradChipMark(seed, `sum ${visit.node}`, box.x + 6, box.y + box.h + 16, now, false, visit.node));
    }
  }
  out.push(...through.values());
  return out;
}

/** Whether a node is another's input. @param {Scene} scene @param {string} uid */
function isInput({ plan, snap }, uid) {
  for (const [reader, life] of plan.lives.nodes)
    if (snap.entities.has(reader) && life.next.some((edge) => edge?.[0] === uid)) return true;
  return false;
}

/** Where gradients meet and add. @param {Box} box */
function sumMarks(box) {
  const x = box.x + box.w + 10;
  return [
    h("circle", { key: `meet ${box.uid}`, class: "meet", cx: x, cy: box.cy, r: 8 }),
    h("path", { key: `plus ${box.uid}`, class: "plus", d: `M${x - 4} ${box.cy}h8m-4 -4v8` }),
  ];
}

/** @param {import("../trace.js").Grad} grad @param {string} key @param {number} x its right end, or left with `fromRight` false @param {number} y
 * @param {boolean} now @param {boolean} fromRight @param {string} on */
function gradChipMark(grad, key, x, y, now, fromRight, on) {
  const cells = grad.cells ?? null;
  const { texts, shown, widths, width: w } = chip(grad);
  const most = shown.reduce((/** @type {number} */ m, v) => Math.max(m, typeof v === "number" ? Math.abs(v) : 0), 0);
  let at = fromRight ? x - w : x;
  const left = at;
  const parts = [h("rect", { key: "back", class: "chip-back", x: left, y: y - 10, width: w, height: 20, rx: 3 })];
  texts.forEach((/** @type {string} */ text, /** @type {number} */ i) => {
    const v = shown[i];
    if (typeof v === "number" && v !== 0)
      parts.push(
        h("rect", {
          key: `wash ${i}`,
          class: `wash ${v < 0 ? "neg" : "pos"}`,
          x: at,
          y: y - 10,
          width: widths[i],
          height: 20,
          "fill-opacity": 0.1 + 0.28 * (Math.abs(v) / most),
        }),
      );
    if (i) parts.push(h("path", { key: `rule ${i}`, class: "chip-rule", d: `M${at} ${y - 10}v20` }));
    parts.push(h("text", { key: `text ${i}`, x: at + widths[i] / 2, y: y + 3.8 }, text));
    at += widths[i];
  });
  parts.push(h("rect", { key: "frame", class: "chip-frame", x: left, y: y - 10, width: w, height: 20, rx: 3 }));
  const all = cells ? cells.slice(0, 32).map(fullNumber).join(", ") : "";
  parts.push(
    h(
      "title",
      { key: "title" },
      `${tuple(grad.shape ?? [])} ${grad.dtype}${all ? `\n[${all}${(cells?.length ?? 0) > 32 ? ", …" : ""}]` : ""}`,
    ),
  );
  return h("g", { key: `grad ${key}`, class: cls("grad-chip", now ? "now" : "past"), "data-grad": on }, parts);
}
